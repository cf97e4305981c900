// OWN_TEST: a test of your own, in labs/LAB/tests/NAME_test.cc. `kit test`, `kit replay` and
// `kit debug` know it. It has no points, and is not handed in.
//
//   OWN_TEST(Mine, LeadersAreReplaced, "A leader that dies is replaced.") {
//     World world({.replicas = 3, .seed = 1});
//     ...
//   }
//
// The directory tests/example of a lab may have a whole one.
#pragma once

#include <gtest/gtest.h>

#include "testkit/environment.h"

#define OWN_TEST(suite, name, property) GRADED_TEST(suite, name, "own", 0, property)
