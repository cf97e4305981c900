#include "sealed/heap.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/probe_scope.h"

namespace depfast::sealed {
namespace {

std::int64_t heap_bytes = 0;

// A block begins with room for its counted size, which lies right before the bytes of the user. The
// room is one alignment wide, so that the user's bytes are aligned.
std::size_t RoomFor(std::size_t alignment) {
  return std::max(alignment, std::size_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__});
}

void* Allocate(std::size_t size, std::size_t alignment) {
  const std::size_t room = RoomFor(alignment);
  if (size > PTRDIFF_MAX - 2 * room) throw std::bad_alloc();
  const std::size_t whole = (room + size + room - 1) / room * room;
  void* const block = std::aligned_alloc(room, whole);
  if (block == nullptr) throw std::bad_alloc();
  // The memory of probes is not the replica's: it must behave the same without them.
  const std::size_t counted = ProbeScope::active() ? 0 : size;
  heap_bytes += static_cast<std::int64_t>(counted);
  char* const user = static_cast<char*>(block) + room;
  std::memcpy(user - sizeof counted, &counted, sizeof counted);
  return user;
}

void Free(void* pointer, std::size_t alignment) {
  if (pointer == nullptr) return;
  char* const user = static_cast<char*>(pointer);
  std::size_t counted = 0;
  std::memcpy(&counted, user - sizeof counted, sizeof counted);
  heap_bytes -= static_cast<std::int64_t>(counted);
  std::free(user - RoomFor(alignment));
}

}  // namespace

std::int64_t HeapBytes() { return heap_bytes; }

}  // namespace depfast::sealed

// The standard library's other forms (arrays, nothrow, sized) call these.
void* operator new(std::size_t size) { return depfast::sealed::Allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return depfast::sealed::Allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { depfast::sealed::Free(pointer, 1); }
void operator delete(void* pointer, std::size_t) noexcept { depfast::sealed::Free(pointer, 1); }
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  depfast::sealed::Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer, std::size_t, std::align_val_t alignment) noexcept {
  depfast::sealed::Free(pointer, static_cast<std::size_t>(alignment));
}
