// Makes a child that lives on when its replica is ended.
// Stopped-by: system call
#include <unistd.h>

namespace {
[[maybe_unused]] const auto attack = fork();
}  // namespace
