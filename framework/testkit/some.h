// A loop of assertions over nothing proves nothing: Some() makes it a failure.
#pragma once

#include <gtest/gtest.h>

#include <ranges>
#include <utility>

namespace depfast::testkit {

// The range as it is: a reference to an lvalue, the value of a temporary. Fails the test, at the
// caller's place, if the range is empty: clang 14 has no std::source_location.
template <std::ranges::forward_range Range>
Range Some(Range&& range, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (std::ranges::empty(range)) ADD_FAILURE_AT(file, line) << "no item to look at";
  return std::forward<Range>(range);
}

}  // namespace depfast::testkit
