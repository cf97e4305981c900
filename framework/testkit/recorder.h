// Recorder: writes down the events of a cluster, for `kit replay` to draw.
//
// One event is one line of JSON, in the order of the run. So the record of a run that crashes or
// hangs is complete up to that point. Times are in nanoseconds; `w` numbers the test's clusters,
// which may live at the same time. The values of `do`:
//
// - world: a cluster begins: seed, replicas
// - method: the name of a method id
// - send: a message (id) is given to a connection: from, to, kind, method, call, dep (its
//   dependency), bytes, body
// - wire, arrive, lose, release, read: the later stages of the message
// - held: the bytes that `from` holds for `to`, whenever the number has changed for longer than an
//   instant
// - wait, woke: a coroutine is suspended on an event; goes on. `peers`: the event's peers, and the
//   vote of each
// - saw: a replica's observation
// - fault, heal: a fault begins, ends
// - death, restart: of a replica; `own` if it is the first that died by itself
// - note: a line of the history; `violation` if an invariant is violated, and the replica whose
//   step is judged; `frame` if a message of that step breaks it, `earlier` steps that led to it
// - judged: the step that the next failure is about: rule, replica, at
// - failure: an assertion of the test fails
// - operation: of a client, in a window that is not linearizable: client, begin, end (null without
//   an answer), command, reply, marked (the reply to look at)
// - mark: a step of a script that a replica has performed: at, replica, text, vote (yes, no, lost;
//   empty if the step is none), wrong (its result is not the expected one)
// - verification: the warnings and the graph of runtime verification, at the end of the world;
// their
//   format is that of depfast/verify/verification_json.h
//
// Recording changes nothing: a run's trace hash is the same with it. Only waits of replicas in this
// process are recorded; a sealed replica does not report its waits.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/simulator.h"
#include "testkit/history.h"

namespace depfast::testkit {

class Verification;

class Recorder : public RuntimeProbe,
                 private sim::Observer,
                 private testing::EmptyTestEventListener {
 public:
  // A test's notes on its run, for the picture.
  struct Operation {
    int client = 0;
    Time begin{0};
    std::optional<Time> end = {};  // nothing: no answer
    std::string command = {};
    std::string reply = {};
    bool is_marked = false;
  };
  struct Mark {
    Time at{0};
    PeerId replica = 0;
    std::string text = {};
    std::string vote = {};
    bool is_wrong = false;
  };

  // Appends to `file`; null if that is empty. Throws std::invalid_argument if it cannot be written.
  static std::unique_ptr<Recorder> IfWanted(const std::string& file);

  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Records from now on. Requires: called once, before the simulator starts; both outlive the
  // recorder's last event, and the recorder outlives the simulator's replicas.
  void Watch(sim::Simulator& simulator, History& history);

  // Require: Watch was called.
  void Add(const Operation& operation);
  void Add(const Mark& mark);

  // The world ends. Requires: Watch was called.
  void Conclude(const Verification& verification);

 private:
  // A message that has not reached its last stage.
  struct Message {
    std::uint64_t id = 0;
    Bytes bytes;  // kept, so that no other frame has its address
    sim::FrameStage stage = sim::FrameStage::kQueued;
  };
  using Way = std::pair<PeerId, PeerId>;  // from, to

  // The bytes that one connection holds; `written` is the latest number in the record.
  struct Held {
    std::size_t bytes = 0;
    std::size_t written = 0;
  };

  inline static int last_world_ = 0;

  explicit Recorder(std::ofstream file) : file_(std::move(file)) {}

  void OnStart(const Runtime& runtime) override;
  void OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;
  void OnDeath(PeerId replica, Time now, const std::string& why) override;
  void OnRestart(PeerId replica, Time now) override;
  void OnFaultBegins(Time now, const faults::Fault& fault) override;
  void OnFaultEnds(Time now, const faults::Fault& fault) override;

  void OnTestPartResult(const testing::TestPartResult& result) override;

  // The first message on this way that consists of these bytes and has reached the stage; end() if
  // there is none.
  std::deque<Message>::iterator Find(std::deque<Message>& open, sim::FrameStage stage,
                                     const Bytes& bytes) const;
  void NameMethods(const Runtime& runtime);
  std::uint64_t Send(const Way& way, Time now, const Bytes& frame, bool again);
  void Hold(const Way& way, Time now, std::size_t more, std::size_t less);
  void WriteHeld();
  void WriteFault(const char* what, Time now, const faults::Fault& fault);
  void Write(const char* what, Time now, const std::string& rest);
  // {"do":"`what`","w":`world_`,"t":`when``rest`}
  void WriteLine(const char* what, Time when, const std::string& rest);

  std::ofstream file_;
  const int world_ = ++last_world_;
  sim::Simulator* simulator_ = nullptr;  // null before Watch
  std::uint64_t last_message_ = 0;
  std::map<Way, std::deque<Message>> open_;
  std::map<Way, Held> held_;
  std::set<Way> held_changed_;  // since held_time_
  Time held_time_{0};
  std::set<MethodId> named_;
};

}  // namespace depfast::testkit
