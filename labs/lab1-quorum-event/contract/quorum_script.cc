// The code that encodes and decodes these messages.
#include "quorum_script.h"

#include "depfast/host/codec.h"

DEPFAST_REPLY(depfast::lab1::ScriptLog)
DEPFAST_REQUEST(depfast::lab1::RunScript)
