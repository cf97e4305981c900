#pragma once

#include <string>

namespace depfast {

// The calling stack, one indented line per frame with short names, innermost first. Frames of
// the switching machinery are left out.
std::string CurrentStackTrace();

}  // namespace depfast
