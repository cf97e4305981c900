// The failures of assertions as texts, in place of failures of the test.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace depfast::testkit {

// The messages of the assertions that fail in `body`, on its thread.
inline std::vector<std::string> FailuresOf(const std::function<void()>& body) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    body();
  }
  std::vector<std::string> texts;
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (result.failed()) texts.emplace_back(result.message());
  }
  return texts;
}

}  // namespace depfast::testkit
