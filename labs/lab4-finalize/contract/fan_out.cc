// The code that encodes and decodes these messages.
#include "fan_out.h"

#include "depfast/host/codec.h"
#include "finalize_count.h"
#include "planted_windows.h"

DEPFAST_REPLY(depfast::lab4::FanOutReports)
DEPFAST_REPLY(depfast::lab4::Answer)
DEPFAST_REPLY(depfast::lab4::FinalizeCount)
DEPFAST_REPLY(depfast::lab4::WatchReport)
DEPFAST_REQUEST(depfast::lab4::RunFanOuts)
DEPFAST_REQUEST(depfast::lab4::Ask)
DEPFAST_REQUEST(depfast::lab4::CountFinalize)
DEPFAST_REQUEST(depfast::lab4::WatchWindows)
