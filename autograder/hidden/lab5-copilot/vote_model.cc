#include "vote_model.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "rule_model.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// Rule 6: the `least` before.
EntryIndex LeastOf(const Record& before) {
  if (before.kind != Kind::kNone) return before.least;
  return IsTakeover(before.promised) ? 0 : std::numeric_limits<EntryIndex>::max();
}

}  // namespace

bool VoteModel::Know(Lane lane, View view) {
  Log& log = Of(lane);
  log.view = std::max(log.view, view);
  return log.view == view;
}

std::vector<Record> VoteModel::RecordsOf(Lane lane) const {
  std::vector<Record> records;
  for (const auto& [index, entry] : logs_[static_cast<std::size_t>(lane)].entries) {
    records.resize(index);
    records[index - 1] = entry.record;
  }
  return records;
}

FastAcceptReply VoteModel::On(const FastAccept& request) {
  const auto& [lane, view, index, dependency, witness, commands] = request;
  const bool is_of_now = Know(lane, view);
  FastAcceptReply reply{.view = Of(lane).view};
  Entry& entry = Of(lane).entries[index];
  Record& record = entry.record;
  const Ballot first = FirstBallot(view);
  if (!is_of_now || record.kind >= Kind::kAccepted || record.promised > first) return reply;
  reply.recorded = true;
  if (record.kind == Kind::kNone || record.ballot != first) {
    const auto others = RecordsOf(Other(lane));
    const auto suggested = model::Suggestion(index, dependency, {0, others, 0});
    record = {suggested ? Kind::kSuggested : Kind::kFastAccepted,
              false,
              first,
              first,
              dependency,
              suggested.value_or(dependency),
              witness,
              std::min(dependency, LeastOf(record))};
    entry.origin = view;
    entry.commands = commands;
  }
  reply.dependency = record.dependency;
  return reply;
}

AcceptReply VoteModel::On(const Accept& request) {
  const auto& [lane, ballot, index, no_op, initial, dependency, origin, commands] = request;
  const bool is_of_now = Know(lane, ViewOf(ballot));
  Entry& entry = Of(lane).entries[index];
  Record& record = entry.record;
  AcceptReply reply;
  if (is_of_now && record.kind != Kind::kCommitted && record.promised <= ballot) {
    reply.accepted = true;
    const EntryIndex known = record.kind == Kind::kNone ? initial : record.initial;
    record = {Kind::kAccepted, no_op,      ballot,         ballot,
              known,           dependency, record.witness, std::min(known, LeastOf(record))};
    if (!no_op) {
      entry.origin = origin;
      entry.commands = commands;
    }
  } else if (record.kind == Kind::kCommitted) {  // the base answers
    reply.accepted =
        no_op ? record.no_op
              : !record.no_op && dependency == record.dependency && origin == entry.origin;
  }
  reply.promised = std::max(FirstBallot(Of(lane).view), record.promised);
  return reply;
}

PrepareReply VoteModel::On(const Prepare& request) {
  const auto& [lane, ballot, index, knows_initial, initial] = request;
  const bool is_of_now = Know(lane, ViewOf(ballot));
  Entry& entry = Of(lane).entries[index];
  Record& record = entry.record;
  PrepareReply reply;
  reply.ballot = std::max(FirstBallot(Of(lane).view), record.promised);
  if (!is_of_now || reply.ballot >= ballot) return reply;
  reply.promised = true;
  reply.ballot = ballot;
  reply.record = record;
  reply.origin = entry.origin.value_or(0);
  reply.commands = entry.commands;
  const auto others = RecordsOf(Other(lane));
  const bool is_proposal = record.kind == Kind::kFastAccepted || record.kind == Kind::kSuggested;
  if (knows_initial || is_proposal) {
    const EntryIndex behind = knows_initial ? initial : record.initial;
    reply.rivals = model::RivalsOf(index, behind, {0, others, 0});
  }
  if (record.kind != Kind::kCommitted) {
    record.promised = ballot;
    record.least = 0;
  }
  return reply;
}

VoteModel::Entry VoteModel::Of(Lane lane, EntryIndex index) const {
  const auto& entries = logs_[static_cast<std::size_t>(lane)].entries;
  const auto found = entries.find(index);
  return found == entries.end() ? Entry() : found->second;
}

bool VoteModel::IsKnown(const Commit& request) const {
  const Entry entry = Of(request.lane, request.index);
  return entry.record.kind == Kind::kCommitted || request.no_op || entry.origin == request.origin;
}

CommitReply VoteModel::On(const Commit& request) {
  Record& record = Of(request.lane).entries[request.index].record;
  if (record.kind != Kind::kCommitted) {
    record.kind = Kind::kCommitted;
    record.no_op = request.no_op;
    record.dependency = request.no_op ? 0 : request.dependency;
  }
  return {true};
}

}  // namespace depfast::copilot
