// Follows a pointer to nowhere.
#include <cstdint>

#include "trouble.h"

namespace {
volatile std::uintptr_t nowhere = 64;
}

TROUBLE_REPLICA(*reinterpret_cast<volatile int*>(nowhere) = 1;)
