// Words of a failing test for the student, who sees only the description of a hidden one.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace depfast::testkit {

// Shows `what` to a student beside the description, such as the answer that differs. It must
// reveal no more of the test than a student needs.
inline void TellStudent(const std::string& what) { testing::Test::RecordProperty("told", what); }

// Fails the test, which could not build its situation. `why`: the behaviour of the submission that
// prevented it. The student is told that, and not that the test's property does not hold.
inline void CouldNotBuild(const std::string& why) {
  testing::Test::RecordProperty("unbuilt", why);
  ADD_FAILURE() << "The test could not build its situation: " << why;
}

}  // namespace depfast::testkit
