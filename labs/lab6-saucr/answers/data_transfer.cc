#include "data_transfer.h"

#include <algorithm>
#include <utility>

#include "reply_listener.h"

namespace depfast::saucr {

// ---- the leader's side ----

Broadcast<FetchLog> DataTransfer::AskForLogs() {
  Runtime& runtime = state_.runtime;
  const Duration patience = state_.election_timeout_max;
  Broadcast<FetchLog> calls(runtime.rpc(), runtime.peers(),
                            {elections_.term(), runtime.self(), 0, 0}, patience);
  const auto terms = ReplyListener<FetchLog>::To(
      calls, [this](PeerId, const FetchLogReply& reply) { elections_.Know(reply.term); });
  runtime.Spawn("answers", [&runtime, calls, terms, patience] { runtime.Sleep(patience); });
  return calls;
}

bool DataTransfer::AdoptLog(PeerId from) {
  const std::uint64_t term = elections_.term();
  Runtime& runtime = state_.runtime;
  std::optional<FetchLog> next = FetchLog{term, runtime.self(), state_.last_index() + 1, 0};
  while (next) {
    const auto call = runtime.rpc().Call(from, *next, state_.election_timeout_max);
    const Outcome outcome = call->Wait();
    if (!elections_.Leads(term) || outcome != Outcome::kReady) return false;
    const FetchLogReply& reply = call->reply();
    elections_.Know(reply.term);
    if (!elections_.Leads(term)) return false;
    next = TakeData(*next, reply);
    if (state_.last() >= reply.last) return true;
  }
  return false;
}

std::optional<FetchLog> DataTransfer::TakeData(const FetchLog& request,
                                               const FetchLogReply& reply) {
  FetchLog next{request.term, request.leader, request.first, 0};
  if (reply.state_bytes > 0) {
    next.offset = snapshots_.TakePart(reply.base, reply.state_bytes, request.offset, reply.state);
    if (next.offset == reply.state_bytes) {
      next = {request.term, request.leader, state_.commit_index + 1, 0};
    }
    return next;
  }
  if (state_.Has(reply.base)) {
    state_.AppendFrom(reply.base.index + 1, reply.entries);
    next.first = reply.base.index + reply.entries.size() + 1;
    return next;
  }
  // The logs differ before that entry. They share all that is committed.
  next.first = state_.commit_index + 1;
  return request.first > next.first ? std::optional(next) : std::nullopt;
}

// ---- the other side ----

FetchLogReply DataTransfer::OnFetchLog(const FetchLog& request) {
  FetchLogReply reply;
  if (request.term >= elections_.term()) {
    elections_.HearLeader(request.term, request.leader);
    reply.last = state_.last();
    reply.is_whole = state_.is_whole();
    if (request.first > 0) AddData(request, reply);
  }
  elections_.AwaitTerm();  // so this replica takes part in no older term (R29)
  reply.term = elections_.term();
  return reply;
}

void DataTransfer::AddData(const FetchLog& request, FetchLogReply& reply) const {
  const EntryIndex first = std::min(request.first, state_.last_index() + 1);
  if (first > state_.log.base_index()) {
    reply.base = state_.IdAt(first - 1);
    reply.entries = state_.log.Slice(first, state_.EndOfChunk(first, kChunkBytes));
    return;
  }
  const std::string& state = snapshots_.latest().state;
  reply.base = snapshots_.last();
  reply.state_bytes = state.size();
  if (request.offset <= state.size()) reply.state = state.substr(request.offset, kChunkBytes);
}

}  // namespace depfast::saucr
