// The two threads of a replica that need its core.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/agenda.h"

namespace depfast::sim {

enum class Thread : std::uint8_t {
  kStep,  // runs the replica's steps
  kDisk,  // carries out its disk batches
};
inline constexpr std::size_t kThreads = 2;

// The event that a thread has got its core.
constexpr Event::Kind BeginOf(Thread thread) {
  return thread == Thread::kStep ? Event::Kind::kStep : Event::Kind::kBatch;
}

// The event that the work of a thread has had its processor time.
constexpr Event::Kind EndOf(Thread thread) {
  return thread == Thread::kStep ? Event::Kind::kStepEnd : Event::Kind::kBatchPart;
}

// A replica between two crashes. Events of an older epoch are void.
struct Incarnation {
  std::size_t replica = 0;
  std::uint64_t epoch = 0;
};

}  // namespace depfast::sim
