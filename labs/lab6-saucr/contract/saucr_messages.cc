// The code that encodes and decodes these messages.
#include "saucr_messages.h"

#include "depfast/host/codec.h"
#include "saucr_given_messages.h"

DEPFAST_REPLY(depfast::saucr::AppendEntriesReply)
DEPFAST_REPLY(depfast::saucr::LleReply)
DEPFAST_REPLY(depfast::saucr::FetchLogReply)
DEPFAST_REPLY(depfast::saucr::RequestVoteReply)
DEPFAST_REQUEST(depfast::saucr::AppendEntries)
DEPFAST_REQUEST(depfast::saucr::LleQuery)
DEPFAST_REQUEST(depfast::saucr::FetchLog)
DEPFAST_REQUEST(depfast::saucr::RequestVote)
