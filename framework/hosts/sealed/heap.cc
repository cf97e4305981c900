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

void* AllocateOrNull(std::size_t size, std::size_t alignment) noexcept {
  try {
    return Allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
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

// All forms: those that are left out would come from a library with another layout of its blocks,
// such as a sanitizer's. The standard library frees nothrow memory with the plain delete.
using depfast::sealed::Allocate;
using depfast::sealed::AllocateOrNull;
using depfast::sealed::Free;

void* operator new(std::size_t size) { return Allocate(size, 1); }
void* operator new[](std::size_t size) { return Allocate(size, 1); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { Free(pointer, 1); }
void operator delete[](void* pointer) noexcept { Free(pointer, 1); }
void operator delete(void* pointer, std::size_t) noexcept { Free(pointer, 1); }
void operator delete[](void* pointer, std::size_t) noexcept { Free(pointer, 1); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Free(pointer, 1); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Free(pointer, 1); }
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete[](void* pointer, std::align_val_t alignment) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer, std::size_t, std::align_val_t alignment) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete[](void* pointer, std::size_t, std::align_val_t alignment) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
void operator delete[](void* pointer, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  Free(pointer, static_cast<std::size_t>(alignment));
}
