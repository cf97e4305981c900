// ReplicaProcess: a student's program in its sandbox, and two pipes to it.
//
// A process that exits, crashes, spins, sleeps or hoards memory becomes a Death, which says so. No
// call blocks for ever, and none harms the grader's process.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sealed/sandbox/sandbox.h"
#include "sealed/sealed_backend.h"

namespace depfast::sealed {

// A replica that must not go on; what() completes the sentence "replica 2 died: ...".
class Death : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The death of a process that has ended, or hung up, by itself.
class Ended : public Death {
 public:
  using Death::Death;
};

// Its calls throw Death, and std::runtime_error if the machine did not execute the program.
class ReplicaProcess {
 public:
  // `perturb`: see SealedOptions. Throws std::runtime_error if the machine cannot start it.
  ReplicaProcess(const SealedOptions& options, const Sandbox& sandbox, int perturb);
  ~ReplicaProcess();
  ReplicaProcess(const ReplicaProcess&) = delete;
  ReplicaProcess& operator=(const ReplicaProcess&) = delete;

  // One message there, one message back, in lock-step. Returns the whole answer, its length
  // included; it is valid until the next call. Throws ProtocolError, too.
  std::string_view Ask(std::string_view message);

  // For a caller that does not work in lock-step. They move the bytes that the pipes take or have
  // at once, which may be none.
  std::size_t Write(std::string_view bytes);
  std::size_t Read(char* to, std::size_t most);
  // Waits until a Read has a use, or either of both. The limits of a step count from BeginStep.
  void WaitForAnswer() { WaitFor(from_replica_, POLLIN); }
  void WaitForEither();
  void BeginStep();
  // For an answer that is late, or comes in pieces.
  void CheckCpuSeconds();

  // Checks the whole run so far: see SealedOptions.
  void CheckRunCpuSeconds();

  // Memory of the process that is resident; zero if it has ended.
  std::size_t ResidentBytes() const;
  void CheckResidentBytes() const;

  // Ends the process and its children, if the machine's layers let it have any. Returns the exit
  // status of a process that had already ended.
  int Kill();
  // Whether it has ended by a signal that it cannot send to itself: the machine had no memory.
  bool was_killed() const { return was_killed_; }

 private:
  void Spawn(const Sandbox& sandbox, int perturb);
  void SendAll(std::string_view message);
  std::string_view Receive();
  void WaitFor(int fd, short events);
  void LookAfter();
  int SliceMs() const;
  double Patience(int seconds) const;
  [[noreturn]] void DieOf(const std::string& what);
  double CpuSeconds() const;
  static double OwnCpuSeconds();
  bool IsAsleep() const;
  bool HasEnded() const;
  bool EndsSoon() const;
  // Asks the process, which ends: see crash_message.h. "" if it does not answer.
  std::string PlaceOfLoop() const;
  std::string Obituary();
  void FailIfNeverExecuted() const;
  std::string CrashMessage() const;

  const SealedOptions& options_;
  pid_t pid_ = -1;
  int to_replica_ = -1;
  int from_replica_ = -1;
  int log_ = -1;
  int machine_ = -1;        // says why the program was not executed; at its end if it was
  bool is_late_ = false;    // the answer under way
  double started_cpu_ = 0;  // when that was seen
  int asleep_ms_ = 0;       // the last ones that were waited for it
  bool was_killed_ = false;
  const double born_cpu_ = OwnCpuSeconds();  // of this process, at the replica's start
  std::string buffer_;                       // for Receive
};

}  // namespace depfast::sealed
