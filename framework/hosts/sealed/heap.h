// The heap of a sealed replica, counted in bytes requested.
//
// heap.cc replaces operator new and operator delete of the whole program, and the linker sends the
// calls of malloc and its like there, too. They keep the sum of the sizes that were requested and
// are not yet returned. A request is the same on every machine. The space that an allocator takes
// for it is not, and neither are the pages that the system counts.
#pragma once

#include <cstdint>

namespace depfast::sealed {

// For a program with one thread; without meaning if there are more.
std::int64_t HeapBytes();

}  // namespace depfast::sealed
