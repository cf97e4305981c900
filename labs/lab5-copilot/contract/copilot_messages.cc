// The code that encodes and decodes these messages.
#include "copilot_messages.h"

#include "depfast/host/codec.h"

DEPFAST_REPLY(depfast::copilot::FastAcceptReply)
DEPFAST_REPLY(depfast::copilot::AcceptReply)
DEPFAST_REPLY(depfast::copilot::CommitReply)
DEPFAST_REPLY(depfast::copilot::PrepareReply)
DEPFAST_REPLY(depfast::copilot::TakeLaneReply)
DEPFAST_REPLY(depfast::copilot::HeartbeatReply)
DEPFAST_REPLY(depfast::copilot::LearnReply)
DEPFAST_REPLY(depfast::copilot::FetchSnapshotReply)
DEPFAST_REQUEST(depfast::copilot::FastAccept)
DEPFAST_REQUEST(depfast::copilot::Accept)
DEPFAST_REQUEST(depfast::copilot::Commit)
DEPFAST_REQUEST(depfast::copilot::Prepare)
DEPFAST_REQUEST(depfast::copilot::TakeLane)
DEPFAST_REQUEST(depfast::copilot::Heartbeat)
DEPFAST_REQUEST(depfast::copilot::Learn)
DEPFAST_REQUEST(depfast::copilot::FetchSnapshot)
