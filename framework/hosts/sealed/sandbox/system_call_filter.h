// SystemCallFilter: the system calls of a sealed replica. Any other one ends its process by SIGSYS.
//
// The list is what a statically linked program needs that computes, allocates memory, reads and
// writes its pipes, and dies with last words. It opens nothing, starts nothing, waits for nothing
// but its pipes, and asks for no time. So each run of it is the same.
#pragma once

#include <sys/types.h>

namespace depfast::sealed {

// Installs the filter in this process, which may still become the program that is open as
// `program_fd` (execveat, with the path at that address, which is ""). False if the kernel or the
// processor has no such filter. Makes only system calls. Requires: PR_SET_NO_NEW_PRIVS is set.
bool FilterSystemCalls(pid_t self, int program_fd, const char* empty_path);

}  // namespace depfast::sealed
