// A program under test as a process of its own. The destructor ends the process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace depfast::real {

class Process {
 public:
  // Runs `program` with its stderr in `log`.
  Process(const std::string& program, const std::vector<std::string>& flags,
          const std::string& log) {
    pid_ = fork();
    if (pid_ != 0) return;
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, STDERR_FILENO);
    std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
    for (const auto& flag : flags) arguments.push_back(const_cast<char*>(flag.c_str()));
    arguments.push_back(nullptr);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int number) const { kill(pid_, number); }
  // Requires: it runs.
  pid_t pid() const { return pid_; }

  // The exit status, or minus the signal that ended it.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

}  // namespace depfast::real
