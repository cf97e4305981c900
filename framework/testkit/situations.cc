#include "testkit/situations.h"

#include <gtest/gtest.h>

#include "testkit/environment.h"
#include "testkit/json.h"

namespace depfast::testkit {

void SituationCounts::Add(const Situations& seen) {
  if (TheEnvironment().dry_run) return;
  for (const auto& [name, has_happened] : seen) worlds_[name] += has_happened ? 1 : 0;
  testing::Test::RecordProperty("situations", JsonObject(worlds_));
}

}  // namespace depfast::testkit
