// Shows planted windows to the detector it is compiled with.
#pragma once

#include "planted_windows.h"

namespace depfast::lab4 {

WatchReport Watch(const WatchWindows& request);

}  // namespace depfast::lab4
