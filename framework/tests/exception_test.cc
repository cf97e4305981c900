// Exceptions in coroutines: they escape with their type, and survive waits in catch blocks.
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;

TEST(Exceptions, EscapeRunWithTheirType) {
  struct Special : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  Replica replica;
  replica.Spawn("thrower", [&] {
    replica.runtime.Sleep(1ms);
    throw Special("from a coroutine");
  });
  replica.Run();
  try {
    replica.Advance(1ms);
    FAIL() << "nothing escaped";
  } catch (const Special& error) {
    EXPECT_STREQ(error.what(), "from a coroutine");
  }
}

TEST(Exceptions, EndTheStepButNotTheOtherCoroutines) {
  Replica replica;
  replica.Spawn("thrower", [] { throw 17; });
  replica.Spawn("other", [&] { replica.log.push_back("other"); });
  EXPECT_THROW(replica.Run(), int);
  EXPECT_TRUE(replica.log.empty());
  EXPECT_NO_THROW(replica.Run()) << "an exception escapes once";
  EXPECT_EQ(replica.log, Log{"other"});
}

TEST(Exceptions, WaitingInsideCatchBlocksKeepsThemApart) {
  // Boost before 1.88 shares the "caught exceptions" stack among coroutines: these two would then
  // rethrow each other's.
  Replica replica;
  std::vector<int> rethrown(2, -1);
  for (int self = 0; self < 2; ++self) {
    replica.Spawn("catcher", [&, self] {
      try {
        try {
          throw self;
        } catch (int) {
          for (int i = 0; i < 3; ++i) replica.runtime.Sleep(1ms);
          EXPECT_EQ(std::uncaught_exceptions(), 0);
          throw;
        }
      } catch (int number) {
        replica.runtime.Sleep(self == 0 ? 5ms : 1ms);  // they leave in the other order
        rethrown[static_cast<std::size_t>(self)] = number;
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  }
  replica.Spawn("onlooker", [&] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(std::current_exception(), nullptr) << "another coroutine's exception is visible";
      replica.runtime.Sleep(500us);
    }
  });
  replica.Run();
  replica.Advance(20ms);
  EXPECT_EQ(rethrown, (std::vector<int>{0, 1}));
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(Exceptions, NestedCatchBlocksSurviveInterleavedWaits) {
  Replica replica;
  std::array<std::string, 2> seen;
  for (std::size_t self = 0; self < 2; ++self) {
    replica.Spawn("nested", [&, self] {
      const std::string mine = std::to_string(self);
      try {
        throw std::runtime_error("outer " + mine);
      } catch (const std::exception&) {
        replica.runtime.Sleep(1ms);
        try {
          throw std::logic_error("inner " + mine);
        } catch (const std::exception&) {
          replica.runtime.Sleep(1ms);
          try {
            throw;
          } catch (const std::exception& error) {
            seen[self] += error.what();
          }
        }
        replica.runtime.Sleep(1ms);
        try {
          throw;
        } catch (const std::exception& error) {
          seen[self] += std::string(", ") + error.what();
        }
      }
    });
  }
  replica.Run();
  replica.Advance(10ms);
  EXPECT_EQ(seen[0], "inner 0, outer 0");
  EXPECT_EQ(seen[1], "inner 1, outer 1");
}

TEST(Exceptions, WaitingInADestructorThatRunsDuringUnwindingCountsRightly) {
  // Not to be imitated. But scope guards do it, and they ask std::uncaught_exceptions.
  struct Waits {
    Replica& replica;
    ~Waits() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      replica.runtime.Sleep(1ms);
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  Replica replica;
  replica.Spawn("unwinding", [&] {
    try {
      const Waits waits{replica};
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      replica.log.push_back("caught");
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
  replica.Spawn("onlooker", [&] { EXPECT_EQ(std::uncaught_exceptions(), 0); });
  replica.Run();
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  replica.Advance(1ms);
  EXPECT_EQ(replica.log, Log{"caught"});
}

TEST(Exceptions, TheHostMayStepAReplicaInsideItsOwnCatchBlock) {
  Replica replica;
  try {
    throw std::runtime_error("the host's");
  } catch (const std::exception&) {
    replica.Go([&] {
      EXPECT_EQ(std::current_exception(), nullptr);
      try {
        throw 1;
      } catch (int) {
        replica.runtime.Sleep(1ms);
      }
    });
    replica.Advance(1ms);
    try {
      throw;
    } catch (const std::exception& error) {
      EXPECT_STREQ(error.what(), "the host's");
    }
  }
}

}  // namespace
}  // namespace depfast
