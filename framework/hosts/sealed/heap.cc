#include "sealed/heap.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/probe_scope.h"

#ifdef DEPFAST_SANITIZED  // it has an allocator of its own
#define REAL(function) std::function
#else
// The linker gives every caller of malloc ours (CMakeLists.txt), and us the C library's.
#define REAL(function) __real_##function
extern "C" void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
extern "C" void __real_free(void* pointer);
#endif

namespace depfast::sealed {
namespace {

std::int64_t heap_bytes = 0;

// Lies right before the bytes of the user. The room for it is one alignment wide, so that these
// bytes are aligned.
struct Header {
  std::size_t size;
  std::uint32_t room;
  bool is_counted;
};

void* Allocate(std::size_t size, std::size_t alignment) {
  const std::size_t room = std::max({alignment, sizeof(Header), alignof(std::max_align_t)});
  if (size > PTRDIFF_MAX - 2 * room) throw std::bad_alloc();
  const std::size_t whole = (room + size + room - 1) / room * room;
  void* const block = REAL(aligned_alloc)(room, whole);
  if (block == nullptr) throw std::bad_alloc();
  // The memory of probes is not the replica's: it must behave the same without them.
  const Header header{size, static_cast<std::uint32_t>(room), !ProbeScope::active()};
  if (header.is_counted) heap_bytes += static_cast<std::int64_t>(size);
  char* const user = static_cast<char*>(block) + room;
  std::memcpy(user - sizeof header, &header, sizeof header);
  return user;
}

void* AllocateOrNull(std::size_t size, std::size_t alignment) noexcept {
  try {
    return Allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Header HeaderOf(const void* pointer) {
  Header header{};
  std::memcpy(&header, static_cast<const char*>(pointer) - sizeof header, sizeof header);
  return header;
}

void Free(void* pointer) {
  if (pointer == nullptr) return;
  const Header header = HeaderOf(pointer);
  if (header.is_counted) heap_bytes -= static_cast<std::int64_t>(header.size);
  REAL(free)(static_cast<char*>(pointer) - header.room);
}

}  // namespace

std::int64_t HeapBytes() { return heap_bytes; }

}  // namespace depfast::sealed

// All forms: those that are left out would come from a library with another layout of its blocks,
// such as a sanitizer's. The standard library frees nothrow memory with the plain delete.
using depfast::sealed::Allocate;
using depfast::sealed::AllocateOrNull;
using depfast::sealed::Free;
using depfast::sealed::HeaderOf;

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
void operator delete(void* pointer) noexcept { Free(pointer); }
void operator delete[](void* pointer) noexcept { Free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { Free(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(pointer);
}
void operator delete[](void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(pointer);
}

#ifndef DEPFAST_SANITIZED

// The C library's functions, for everybody but this file. An exception's object has its memory from
// them, too. A submission must not name others (autograder/failslow/build/uncounted.py).
extern "C" {

void* __wrap_malloc(std::size_t size) { return AllocateOrNull(size, 1); }
void __wrap_free(void* pointer) { Free(pointer); }

void* __wrap_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* const user = AllocateOrNull(bytes, 1);
  return user == nullptr ? nullptr : std::memset(user, 0, bytes);
}

void* __wrap_realloc(void* pointer, std::size_t size) {
  void* const user = AllocateOrNull(size, 1);
  if (user == nullptr || pointer == nullptr) return user;
  std::memcpy(user, pointer, std::min<std::size_t>(size, HeaderOf(pointer).size));
  Free(pointer);
  return user;
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return std::has_single_bit(alignment) ? AllocateOrNull(size, alignment) : nullptr;
}

void* __wrap_memalign(std::size_t alignment, std::size_t size) {
  return __wrap_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  if (!std::has_single_bit(alignment)) return EINVAL;
  void* const user = AllocateOrNull(size, alignment);
  if (user == nullptr) return ENOMEM;
  *to = user;
  return 0;
}

}  // extern "C"

#endif
