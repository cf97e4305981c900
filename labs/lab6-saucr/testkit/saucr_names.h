// The names of entries in the checker's sentences.
#pragma once

#include <string>

#include "log_names.h"
#include "saucr_types.h"

namespace depfast::saucr {

inline std::string At(EntryId id) { return depfast::At(id.index, id.term); }

}  // namespace depfast::saucr
