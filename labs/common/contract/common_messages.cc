// The code that encodes and decodes these messages.
#include "depfast/host/codec.h"
#include "read_count.h"
#include "submit.h"

DEPFAST_REPLY(depfast::ReadCountReply)
DEPFAST_REPLY(depfast::SubmitReply)
DEPFAST_REQUEST(depfast::ReadCount)
DEPFAST_REQUEST(depfast::Submit)
