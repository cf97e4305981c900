#include "testkit/child_process.h"

#include <fcntl.h>

namespace depfast::testkit {

int RunInChild(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    body();
    _exit(0);  // neither destructors nor buffers of the parent
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace depfast::testkit
