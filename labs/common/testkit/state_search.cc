#include "state_search.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace depfast {
namespace {

// The place of a print in the table, or the free place that it would have.
std::size_t PlaceOf(const StatePrint& print, const std::vector<StatePrint>& table) {
  const std::size_t mask = table.size() - 1;
  std::size_t place = print.low & mask;
  while (table[place] != StatePrint() && table[place] != print) place = (place + 1) & mask;
  return place;
}

}  // namespace

StatePrint PrintOf(const void* state, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(state, size);
  return {hash.low64, hash.high64};
}

bool StatePrints::Insert(const StatePrint& print) {
  StatePrint& place = table_[PlaceOf(print, table_)];
  if (place == print) return false;
  place = print;
  if (++count_ * 2 <= table_.size()) return true;
  std::vector<StatePrint> larger(table_.size() * 2);
  for (const StatePrint& each : table_) {
    if (each != StatePrint()) larger[PlaceOf(each, larger)] = each;
  }
  table_ = std::move(larger);
  return true;
}

}  // namespace depfast
