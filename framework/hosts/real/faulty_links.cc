#include "real/faulty_links.h"

#include <algorithm>
#include <array>
#include <utility>

#include "faults/retransmission.h"

namespace depfast::real {
namespace {

using faults::FaultKind;

constexpr std::array kOfTheNetwork = {
    FaultKind::kNetSlow,   FaultKind::kNetJitter, FaultKind::kPacketLoss, FaultKind::kLinkSlow,
    FaultKind::kPartition, FaultKind::kCut,       FaultKind::kDrop,       FaultKind::kDuplicate,
    FaultKind::kReorder,   FaultKind::kLate,
};

}  // namespace

FaultyLinks::FaultyLinks(PeerId replicas, std::size_t held_bytes_max, RandomStream random,
                         Arrive arrive)
    : replicas_(replicas),
      held_bytes_max_(held_bytes_max),
      random_(random),
      arrive_(std::move(arrive)) {}

void FaultyLinks::Set(const InjectedFaults& faults) {
  faults_ = faults;
  faulty_ = std::any_of(kOfTheNetwork.begin(), kOfTheNetwork.end(),
                        [&](FaultKind kind) { return faults.Has(kind); });
}

void FaultyLinks::Send(PeerId to, FrameId frame, Bytes bytes) {
  links_[to].held.Push(frame, std::move(bytes));
}

bool FaultyLinks::Release(PeerId to, FrameId frame) {
  const auto link = links_.find(to);
  return link != links_.end() && link->second.held.Release(frame);
}

std::size_t FaultyLinks::HeldBytes(PeerId to) const {
  const auto link = links_.find(to);
  return link == links_.end() ? 0 : link->second.held.bytes();
}

std::size_t FaultyLinks::Advance(Time now) {
  looked_ = now;
  std::size_t dropped = 0;
  for (auto next = links_.begin(); next != links_.end();) {
    auto& [to, link] = *next;
    do {
      while (!link.held.empty() && HasRoom(to, link)) {
        Transmit(to, link, link.held.TakeFirst(), now);
      }
      while (!link.wire.empty() && (link.wire.begin()->first <= now || !faulty_)) {
        const Bytes bytes = std::move(link.wire.extract(link.wire.begin()).mapped());
        link.wire_bytes -= bytes->size();
        arrive_(to, bytes);
      }
    } while (!link.held.empty() && HasRoom(to, link));
    dropped += link.held.DropOldest(held_bytes_max_);
    const bool is_empty = link.held.empty() && link.wire.empty();
    next = is_empty ? links_.erase(next) : std::next(next);
  }
  return dropped;
}

Time FaultyLinks::NextDeadline() const {
  if (links_.empty()) return kNever;
  Time next = looked_ + kPatience;
  for (const auto& [to, link] : links_) {
    if (!link.wire.empty()) next = std::min(next, link.wire.begin()->first);
  }
  return next;
}

// A client's link has no window: it is outside the model.
bool FaultyLinks::HasRoom(PeerId to, const Link& link) const {
  return !IsReplica(to) || link.wire_bytes == 0 ||
         link.wire_bytes + link.held.first_bytes() <= kWindowBytes;
}

void FaultyLinks::Transmit(PeerId to, Link& link, const Bytes& bytes, Time now) {
  Time arrival = std::max(now + DelayOf(to, bytes->size()), link.last_arrival);
  if (IsLost(to)) return;
  const bool twice = IsReplica(to) && Draws(FaultKind::kDuplicate);
  if (const Duration late = LateBy(to); late > Duration::zero()) {
    arrival += late;  // last_arrival stays
  } else {
    link.last_arrival = arrival;
  }
  for (int copy = 0; copy < (twice ? 2 : 1); ++copy) {
    link.wire_bytes += bytes->size();
    link.wire.emplace(arrival, bytes);
  }
}

Duration FaultyLinks::DelayOf(PeerId to, std::size_t bytes) {
  Duration delay(faults_.AmountOr(FaultKind::kNetSlow, 0));
  if (faults_.Names(FaultKind::kLinkSlow, to)) {
    delay += Duration(faults_.AmountOr(FaultKind::kLinkSlow, 0));
  }
  const Duration jitter(faults_.AmountOr(FaultKind::kNetJitter, 0));
  if (jitter > Duration::zero()) delay += random_.Below(jitter);
  if (faults_.Has(FaultKind::kPacketLoss)) {
    const auto permille = static_cast<int>(faults_.AmountOr(FaultKind::kPacketLoss, 0));
    delay += faults::RetransmissionDelay(bytes, permille, RandomStream(random_.Next()));
  }
  return delay;
}

bool FaultyLinks::IsLost(PeerId to) {
  if (!IsReplica(to)) return false;
  return faults_.Names(FaultKind::kPartition, to) || faults_.Names(FaultKind::kCut, to) ||
         Draws(FaultKind::kDrop);
}

Duration FaultyLinks::LateBy(PeerId to) {
  Duration late{0};
  if (faults_.Names(FaultKind::kLate, to)) late = Duration(faults_.AmountOr(FaultKind::kLate, 0));
  if (IsReplica(to) && Draws(FaultKind::kReorder)) {
    late = std::max(late, random_.Below(faults::kReorderDelayMax));
  }
  return late;
}

bool FaultyLinks::Draws(FaultKind kind) {
  const std::int64_t permille = faults_.AmountOr(kind, 0);
  return permille > 0 && random_.Below(1000) < static_cast<std::uint64_t>(permille);
}

}  // namespace depfast::real
