// A loop of assertions over nothing proves nothing: Some() makes it a failure.
#pragma once

#include <gtest/gtest.h>

#include <ranges>
#include <source_location>
#include <utility>

namespace depfast::testkit {

// The range as it is: a reference to an lvalue, the value of a temporary. Fails the test, at the
// caller's place, if the range is empty.
template <std::ranges::forward_range Range>
Range Some(Range&& range, std::source_location where = std::source_location::current()) {
  if (std::ranges::empty(range)) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "no item to look at";
  }
  return std::forward<Range>(range);
}

}  // namespace depfast::testkit
