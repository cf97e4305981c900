// The heap of a sealed replica, counted in bytes requested.
//
// heap.cc replaces operator new and operator delete of the whole program: they keep the sum of the
// sizes that were requested and are not yet returned. A request is the same on every machine. The
// space that an allocator takes for it is not, and neither are the pages that the system counts.
// malloc and mmap are not counted: what the C library requests with them differs by its version.
#pragma once

#include <cstdint>

namespace depfast::sealed {

// For a program with one thread; without meaning if there are more.
std::int64_t HeapBytes();

}  // namespace depfast::sealed
