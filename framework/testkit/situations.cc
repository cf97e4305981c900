#include "testkit/situations.h"

#include <gtest/gtest.h>

#include "testkit/environment.h"
#include "testkit/json.h"

namespace depfast::testkit {

void SituationCounts::Add(const Situations& seen) {
  for (const auto& [name, has_happened] : seen) worlds_[name] += has_happened ? 1 : 0;
  if (TheEnvironment().dry_run) return;
  testing::Test::RecordProperty("situations", JsonObject(worlds_));
}

std::int64_t SituationCounts::of(const std::string& situation) const {
  const auto found = worlds_.find(situation);
  return found == worlds_.end() ? 0 : found->second;
}

}  // namespace depfast::testkit
