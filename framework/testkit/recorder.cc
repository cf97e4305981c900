#include "testkit/recorder.h"

#include <algorithm>
#include <cassert>
#include <concepts>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "depfast/host/frame.h"
#include "depfast/runtime.h"
#include "depfast/verify/verification_json.h"
#include "sim/trace_text.h"
#include "testkit/environment.h"
#include "testkit/json.h"
#include "testkit/judged.h"
#include "testkit/verification.h"

namespace depfast::testkit {
namespace {

// ,"key":value
std::string Field(const char* key, const std::string& json) {
  return std::string(",\"") + key + "\":" + json;
}
std::string Field(const char* key, std::integral auto value) {
  return Field(key, std::to_string(value));
}
std::string Text(const char* key, std::string_view text) { return Field(key, JsonString(text)); }
std::string Flag(const char* key, bool value) { return Field(key, value ? "true" : "false"); }

template <typename Number>
std::string List(const Number& numbers) {
  std::string out;
  for (const auto number : numbers) out += (out.empty() ? "" : ",") + std::to_string(number);
  return "[" + out + "]";
}

std::string HeaderInWords(const FrameHeader& header) {
  return Text("kind", sim::NameOf(header.kind)) + Field("method", header.method) +
         Text("call", std::to_string(header.call));
}

std::string FrameInWords(const Bytes& bytes) {
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (!frame) return Text("kind", "malformed") + Text("body", error);
  return HeaderInWords(frame->header) + Text("dep", sim::NameOf(frame->header.dependency)) +
         Text("body", sim::DescribeBody(frame->body));
}

// ,"frame":{...},"earlier":[...]: what a violation is about
std::string EvidenceInWords(const Evidence& evidence) {
  std::string error;
  const auto frame = evidence.frame ? DecodeFrame(*evidence.frame, error) : std::nullopt;
  std::string earlier;
  for (const EarlierStep& step : evidence.earlier) {
    earlier += (earlier.empty() ? "{" : ",{") + Field("replica", step.replica).substr(1) +
               Field("at", step.at.count()) + Flag("read", step.was_read) + Text("why", step.why) +
               "}";
  }
  return (frame ? Field("frame", "{" + HeaderInWords(frame->header).substr(1) + "}") : "") +
         (earlier.empty() ? "" : Field("earlier", "[" + earlier + "]"));
}

// Hears before every checker of which replica they hear, and of which instant.
class Heard : public sim::Observer {
 public:
  // ,"replica":1 if a checker that speaks at this time has just heard of that replica
  std::string FieldAt(Time when) const { return when == when_ ? Field("replica", replica_) : ""; }

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput&) override {
    Set(replica, input.now);
  }
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>&) override {
    Set(replica, now);
  }
  void OnDisk(PeerId replica, Time now, const sim::SimDisk&) override { Set(replica, now); }
  void OnRewrite(PeerId replica, Time now, const sim::SimDisk&) override { Set(replica, now); }
  void OnRestart(PeerId replica, Time now) override { Set(replica, now); }

  void Set(PeerId replica, Time now) {
    replica_ = replica;
    when_ = now;
  }

  PeerId replica_ = kNobody;
  Time when_{-1};
};

// The judges of the recorders that live.
std::map<const Recorder*, std::function<void(const Judged&)>>& Judges() {
  static std::map<const Recorder*, std::function<void(const Judged&)>> judges;
  return judges;
}

}  // namespace

void RecordJudged(const Judged& judged) {
  for (const auto& [recorder, write] : Judges()) write(judged);
}

std::unique_ptr<Recorder> Recorder::IfWanted(const std::string& file) {
  if (file.empty()) return nullptr;
  std::ofstream stream(file, std::ios::app);
  if (!stream) throw std::invalid_argument("--record=" + file + " cannot be written");
  return std::unique_ptr<Recorder>(new Recorder(std::move(stream)));
}

Recorder::~Recorder() {
  if (simulator_ == nullptr) return;
  WriteHeld();
  Judges().erase(this);
  testing::UnitTest::GetInstance()->listeners().Release(this);
}

void Recorder::Watch(sim::Simulator& simulator, History& history) {
  assert(simulator_ == nullptr);
  simulator_ = &simulator;
  simulator.AddObserver(this);
  const auto heard = std::make_shared<Heard>();
  simulator.AddObserver(heard.get());
  history.set_listener([this, heard](Time when, const std::string& what, const Evidence* found) {
    Write("note", when,
          Text("text", what) + (found == nullptr ? ""
                                                 : Flag("violation", true) + heard->FieldAt(when) +
                                                       EvidenceInWords(*found)));
  });
  Judges()[this] = [this](const Judged& judged) {
    Write("judged", simulator_->now(),
          Text("rule", judged.rule) + Field("at", judged.at.count()) +
              (judged.replica == kNobody ? "" : Field("replica", judged.replica)));
  };
  testing::UnitTest::GetInstance()->listeners().Append(this);
  Write("world", simulator.now(),
        Field("seed", TheEnvironment().seed) + Field("replicas", simulator.replicas()));
}

void Recorder::Write(const char* what, Time now, const std::string& rest) {
  if (now != held_time_) {
    WriteHeld();
    held_time_ = now;
  }
  WriteLine(what, now, rest);
  file_.flush();  // should the process die in the next step, this has happened all the same
}

void Recorder::WriteLine(const char* what, Time when, const std::string& rest) {
  file_ << "{" << Text("do", what).substr(1) << Field("w", world_) << Field("t", when.count())
        << rest << "}\n";
}

void Recorder::Add(const Operation& operation) {
  const auto& end = operation.end;
  Write("operation", simulator_->now(),
        Field("client", operation.client) + Field("begin", operation.begin.count()) +
            Field("end", end ? std::to_string(end->count()) : std::string("null")) +
            Text("command", operation.command) + Text("reply", operation.reply) +
            Flag("marked", operation.is_marked));
}

void Recorder::Add(const Mark& mark) {
  Write("mark", simulator_->now(),
        Field("at", mark.at.count()) + Field("replica", mark.replica) + Text("text", mark.text) +
            Text("vote", mark.vote) + Flag("wrong", mark.is_wrong));
}

// ---- waits ----

void Recorder::OnStart(const Runtime& runtime) { NameMethods(runtime); }

// A service may serve a method later, such as after it has read its log.
void Recorder::OnRequest(const Runtime& runtime, PeerId /*peer*/,
                         const Dependency& /*dependency*/) {
  NameMethods(runtime);
}

void Recorder::NameMethods(const Runtime& runtime) {
  for (const auto& [method, name] : runtime.rpc().MethodNames()) {
    if (!named_.insert(method).second) continue;
    Write("method", runtime.Now(), Field("id", method) + Text("name", name));
  }
}

void Recorder::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  const WaitDescription wait = event.DescribeWait();
  Write("wait", runtime.Now(),
        Field("replica", runtime.address()) + Field("id", task.id) + Text("name", task.name) +
            Text("label", event.Label()) + Text("event", event.Describe()) +
            Field("needed", wait.needed) + Field("total", wait.total) +
            Text("peers", DescribePeers(wait)));
}

void Recorder::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                         Outcome outcome) {
  Write("woke", runtime.Now(),
        Field("replica", runtime.address()) + Field("id", task.id) +
            Text("outcome", ToString(outcome)) + Text("event", event.Describe()) +
            Text("peers", DescribePeers(event.DescribeWait())));
}

// ---- messages ----

std::deque<Recorder::Message>::iterator Recorder::Find(std::deque<Message>& open,
                                                       sim::FrameStage stage,
                                                       const Bytes& bytes) const {
  return std::find_if(open.begin(), open.end(), [&](const Message& message) {
    return message.stage == stage && message.bytes == bytes;
  });
}

std::uint64_t Recorder::Send(const Way& way, Time now, const Bytes& frame, bool again) {
  open_[way].push_back({++last_message_, frame, sim::FrameStage::kQueued});
  Write("send", now,
        Field("id", last_message_) + Field("from", way.first) + Field("to", way.second) +
            Field("bytes", frame->size()) + (again ? Flag("again", true) : "") +
            FrameInWords(frame));
  return last_message_;
}

void Recorder::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
                       const Bytes& frame) {
  using sim::FrameStage;
  const Way way{from, to};
  if (stage == FrameStage::kQueued) {
    Send(way, now, frame, false);
    Hold(way, now, frame->size(), 0);
    return;
  }
  auto& open = open_[way];
  auto message = Find(open, FrameStage::kQueued, frame);
  if (stage == FrameStage::kArrived || (stage == FrameStage::kLost && message == open.end())) {
    message = Find(open, FrameStage::kOnWire, frame);
  } else if (message != open.end()) {
    Hold(way, now, 0, frame->size());
  } else {  // the network makes a second one of it
    Send(way, now, frame, true);
    message = std::prev(open.end());
  }
  if (message == open.end()) return;
  static constexpr const char* kWords[] = {"send", "release", "wire", "arrive", "lose"};
  Write(kWords[static_cast<int>(stage)], now, Field("id", message->id));
  message->stage = stage;
  const bool unread = stage == FrameStage::kArrived && to < simulator_->replicas();
  if (stage != FrameStage::kOnWire && !unread) open.erase(message);
}

void Recorder::OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) {
  for (const sim::FrameArrival& frame : input.frames) {
    auto& open = open_[{frame.from, replica}];
    const auto message = Find(open, sim::FrameStage::kArrived, frame.bytes);
    if (message == open.end()) continue;
    Write("read", input.now, Field("id", message->id));
    open.erase(message);
  }
  for (const sim::Output& one : output.outputs) {
    const auto* seen = std::get_if<Observation>(&one);
    if (seen == nullptr) continue;
    Write("saw", input.now,
          Field("replica", replica) + Field("kind", seen->kind) +
              Field("values", List(seen->values)));
  }
}

void Recorder::Hold(const Way& way, Time now, std::size_t more, std::size_t less) {
  if (now != held_time_) {
    WriteHeld();
    held_time_ = now;
  }
  Held& held = held_[way];
  held.bytes = held.bytes + more - less;
  held_changed_.insert(way);
}

void Recorder::WriteHeld() {
  for (const Way& way : std::exchange(held_changed_, {})) {
    Held& held = held_[way];
    if (held.bytes == held.written) continue;
    held.written = held.bytes;
    WriteLine("held", held_time_,
              Field("from", way.first) + Field("to", way.second) + Field("bytes", held.bytes));
  }
}

// ---- the world ----

void Recorder::OnDeath(PeerId replica, Time now, const std::string& why) {
  for (auto& [way, open] : open_) {
    if (way.second != replica) continue;
    std::erase_if(open, [](const Message& m) { return m.stage == sim::FrameStage::kArrived; });
  }
  const std::string& first = simulator_->first_death();
  const bool is_it = first.starts_with("replica " + std::to_string(replica) + " died: " + why);
  Write("death", now,
        Field("replica", replica) + Text("why", why) + (is_it ? Flag("own", true) : ""));
}

void Recorder::OnRestart(PeerId replica, Time now) {
  Write("restart", now, Field("replica", replica));
}

void Recorder::OnFaultBegins(Time now, const faults::Fault& fault) {
  WriteFault("fault", now, fault);
}
void Recorder::OnFaultEnds(Time now, const faults::Fault& fault) { WriteFault("heal", now, fault); }

void Recorder::WriteFault(const char* what, Time now, const faults::Fault& fault) {
  Write(what, now,
        Text("kind", faults::Fault::Name(fault.kind)) + Field("replicas", List(fault.replicas)) +
            Text("text", fault.Describe()));
}

void Recorder::Conclude(const Verification& verification) {
  Write("verification", simulator_->now(),
        Field("warnings", JsonOf(verification.Warnings())) +
            Field("graph", JsonOf(verification.Graph())));
}

void Recorder::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed()) return;
  Write("failure", simulator_->now(), Text("text", result.message()));
}

}  // namespace depfast::testkit
