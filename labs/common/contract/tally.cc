#include "tally.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <stdexcept>

namespace depfast {
namespace {

constexpr std::size_t kSnapshotBytes = std::size_t{160} << 10;
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;  // odd: no information is lost

[[noreturn]] void Refuse() { throw std::runtime_error("the snapshot is no tally"); }

std::uint64_t TakeNumber(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto taken = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || taken == text.size() || *end != ' ') Refuse();
  text.remove_prefix(taken + 1);
  return number;
}

}  // namespace

std::uint64_t CommandHash(std::string_view command) {
  return XXH3_64bits(command.data(), command.size());
}

std::string Tally::Apply(std::uint64_t, std::string_view command) {
  ApplyHash(CommandHash(command));
  return std::to_string(count_);
}

void Tally::ApplyHash(std::uint64_t command_hash) {
  ++count_;
  hash_ = (hash_ ^ command_hash) * kFactor;
}

std::string Tally::Snapshot() const {
  const std::string once = std::to_string(count_) + " " + std::to_string(hash_) + " ";
  std::string text;
  text.reserve(kSnapshotBytes + once.size());
  while (text.size() < kSnapshotBytes) text += once;
  text.resize(kSnapshotBytes);
  return text;
}

void Tally::Restore(std::string_view snapshot) {
  Tally restored;
  std::string_view rest = snapshot;
  restored.count_ = TakeNumber(rest);
  restored.hash_ = TakeNumber(rest);
  if (restored.Snapshot() != snapshot) Refuse();
  *this = restored;
}

}  // namespace depfast
