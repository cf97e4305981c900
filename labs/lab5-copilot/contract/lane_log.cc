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
  return bodies_[At(index)];
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
  records_[At(index)] = record;
  if (record.is_known()) latest_known_ = std::max(latest_known_, index);
  if (record.kind != Record::Kind::kCommitted) return;
  while (decided_ < last() && IsDecided(decided_ + 1)) ++decided_;
  if (body.decided != nullptr) body.decided->Set(1);
}

void LaneLog::SetCommands(EntryIndex index, View origin, Commands commands) {
  Body& body = BodyOf(index);
  bytes_ -= SizeOf(body.commands);
  bytes_ += SizeOf(commands);
  body.are_written = body.are_written && body.origin == origin && body.commands == commands;
  body.origin = origin;
  body.commands = std::move(commands);
}

void LaneLog::TruncateUpTo(EntryIndex index) {
  assert(index <= decided_);
  const EntryIndex old_base = base_;
  while (base_ < index) {
    bytes_ -= SizeOf(bodies_.front().commands);
    bodies_.pop_front();
    ++base_;
    if (!records_[static_cast<std::size_t>(base_ - old_base - 1)].no_op) latest_gone_ = base_;
  }
  records_.erase(records_.begin(),
                 records_.begin() + static_cast<std::ptrdiff_t>(records_.size() - bodies_.size()));
}

void LaneLog::Reset(EntryIndex index, EntryIndex latest_gone) {
  if (index <= base_) return;
  latest_gone_ = latest_gone;
  while (!bodies_.empty() && base_ < index) {
    if (bodies_.front().decided != nullptr) bodies_.front().decided->Set(1);
    bytes_ -= SizeOf(bodies_.front().commands);
    bodies_.pop_front();
    ++base_;
  }
  records_.erase(records_.begin(),
                 records_.begin() + static_cast<std::ptrdiff_t>(records_.size() - bodies_.size()));
  base_ = index;
  latest_known_ = std::max(latest_known_, index);
  decided_ = std::max(decided_, index);
  while (decided_ < last() && IsDecided(decided_ + 1)) ++decided_;
}

}  // namespace depfast::copilot
