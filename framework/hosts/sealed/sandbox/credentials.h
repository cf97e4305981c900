// Credentials: the user and the privileges that a process gives up for good before it runs a
// stranger's program. Makes only system calls.
#pragma once

#include <sys/types.h>

namespace depfast::sealed {

// A random id, for a user and a group, within those that a container's engine maps and above those
// that people have. 0 if the kernel has no random numbers yet.
uid_t DrawOwnUser();

// Becomes that user and group, without other groups. From then on the user may have
// `processes_max` processes. False if it cannot: only root can.
bool BecomeOwnUser(uid_t user, unsigned processes_max);

// No program that this process executes gets any capability. False if it cannot: only root can.
bool DropCapabilities();

// A machine without memory ends this process and its children, and not the grader. Requires: /proc
// is still there.
void EndFirstWithoutMemory();

}  // namespace depfast::sealed
