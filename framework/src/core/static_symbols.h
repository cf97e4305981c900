// The names of functions in a program that is linked statically, where dladdr knows none.
#pragma once

namespace depfast {

// The exported function of this program that the address is in, mangled; null if there is none, or
// if the program is linked dynamically.
const char* StaticSymbolAt(const void* address);

}  // namespace depfast
