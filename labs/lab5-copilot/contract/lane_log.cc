#include "lane_log.h"

#include <algorithm>
#include <utility>

namespace depfast::copilot {

std::size_t SizeOf(const Command& command) {
  // Not sizeof(Command): a string's is another one in each C++ library, and batches depend on it.
  constexpr std::size_t kAroundText = 40;
  return kAroundText + command.text.size();
}

std::size_t SizeOf(const Commands& commands) {
  std::size_t size = 0;
  for (const Command& command : commands) size += SizeOf(command);
  return size;
}

LaneLog::Body& LaneLog::BodyOf(EntryIndex index) {
  assert(index > base_);
  while (last() < index) {
    records_.emplace_back();
    bodies_.emplace_back();
  }
  return bodies_[Place(index)];
}

std::shared_ptr<IntEvent> LaneLog::Decided(EntryIndex index) {
  std::shared_ptr<IntEvent>& event = BodyOf(index).decided;
  if (event == nullptr) {
    event = std::make_shared<IntEvent>("entry", 1);
    if (IsDecided(index)) event->Set(1);
  }
  return event;
}

void LaneLog::Set(EntryIndex index, const Record& record) {
  assert(!IsDecided(index));
  const Body& body = BodyOf(index);
  records_[Place(index)] = record;
  if (record.is_known()) latest_known_ = std::max(latest_known_, index);
  if (record.kind != Record::Kind::kCommitted) return;
  CountDecided();
  if (body.decided != nullptr) body.decided->Set(1);
}

void LaneLog::CountDecided() {
  while (decided_ < last() && IsDecided(decided_ + 1)) ++decided_;
}

void LaneLog::SetCommands(EntryIndex index, View origin, Commands commands) {
  Body& body = BodyOf(index);
  bytes_ -= SizeOf(body.commands);
  bytes_ += SizeOf(commands);
  body.are_written = body.are_written && body.origin == origin && body.commands == commands;
  body.origin = origin;
  body.commands = std::move(commands);
}

EntryIndex LaneLog::LatestUpTo(EntryIndex index) const {
  while (index > base_ && RecordOf(index).no_op) --index;
  return index > base_ ? index : latest_gone_;
}

void LaneLog::Reset(EntryIndex index, EntryIndex latest_gone) {
  if (index <= base_) return;
  const auto gone = static_cast<std::ptrdiff_t>(std::min(index, last()) - base_);
  for (std::ptrdiff_t i = 0; i < gone; ++i) {
    const auto& decided = bodies_.front().decided;
    if (decided != nullptr && !decided->IsReady()) decided->Set(1);
    bytes_ -= SizeOf(bodies_.front().commands);
    bodies_.pop_front();
  }
  records_.erase(records_.begin(), records_.begin() + gone);
  base_ = index;
  latest_gone_ = latest_gone;
  latest_known_ = std::max(latest_known_, index);
  decided_ = std::max(decided_, index);
  CountDecided();
}

}  // namespace depfast::copilot
