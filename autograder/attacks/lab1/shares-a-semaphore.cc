// Signals the other replicas by a semaphore of System V.
// Stopped-by: system call
#include <sys/ipc.h>
#include <sys/sem.h>
namespace {
const int shared = semget(0x1ab, 1, IPC_CREAT | 0666);
}  // namespace
