// Lab 3's subject of measurements: the key-value store on Raft, and a load of SET and GET.
#pragma once

#include <string>

#include "subject.h"

namespace depfast::kv {

// `mix`: one of MixNames(), see kv_load.h.
MakeSubject KvSubject(const std::string& mix);

}  // namespace depfast::kv
