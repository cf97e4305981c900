// The code that encodes and decodes these messages.
#include "raft_messages.h"

#include "depfast/host/codec.h"

DEPFAST_REPLY(depfast::raft::RequestVoteReply)
DEPFAST_REPLY(depfast::raft::AppendEntriesReply)
DEPFAST_REPLY(depfast::raft::InstallSnapshotReply)
DEPFAST_REQUEST(depfast::raft::RequestVote)
DEPFAST_REQUEST(depfast::raft::AppendEntries)
DEPFAST_REQUEST(depfast::raft::InstallSnapshot)
