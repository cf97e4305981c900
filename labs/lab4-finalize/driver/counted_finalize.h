// Counts what a submission gives to its Finalize. The linker leads every call of Finalize here
// (--wrap in CMakeLists.txt).
#pragma once

#include "depfast/runtime.h"
#include "finalize_count.h"

namespace depfast::lab4 {

// Begins to count anew for this replica.
void StartCounting(const Runtime& runtime);
FinalizeCount CountOf(const Runtime& runtime);

}  // namespace depfast::lab4
