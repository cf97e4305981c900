// Freed memory stays with a sealed replica, whose allocator is the C library's.
#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace depfast::sealed {

// Messages and disks are long strings that come and go. Pages that are given back to the kernel
// each time are zeroed again each time. And memory that comes from the kernel is not filled by
// MALLOC_PERTURB_. Only the GNU C library can be told so. The simulator's own process has jemalloc.
inline void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kBytes = 32 << 20;  // the largest threshold
  mallopt(M_MMAP_THRESHOLD, kBytes);
  mallopt(M_TRIM_THRESHOLD, kBytes);
#endif
}

}  // namespace depfast::sealed
