// Lab 3's subject of measurements: the key-value store on Raft, and a load of SET and GET.
#pragma once

#include "subject.h"

namespace depfast::kv {

// `reads_percent`: of the load, 0 to 100.
MakeSubject KvSubject(int reads_percent);

}  // namespace depfast::kv
