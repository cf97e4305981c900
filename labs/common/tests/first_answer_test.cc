#include "first_answer.h"

#include <gtest/gtest.h>

namespace depfast {
namespace {

TEST(FirstAnswer, TheFirstKnownAnswerDecidesAtOnceAndForEver) {
  FirstAnswer answers(4);
  EXPECT_EQ(answers.Add(CommandOutcome::kRefused), std::nullopt);
  EXPECT_EQ(answers.Add(CommandOutcome::kKnown), CommandOutcome::kKnown);
  EXPECT_EQ(answers.Add(CommandOutcome::kKnown), std::nullopt) << "an outcome is told once";
  EXPECT_EQ(answers.Add(CommandOutcome::kUnknown), std::nullopt);
}

TEST(FirstAnswer, IsRefusedOnlyIfEveryReplicaRefused) {
  FirstAnswer answers(2);
  EXPECT_EQ(answers.Add(CommandOutcome::kRefused), std::nullopt);
  EXPECT_EQ(answers.Add(CommandOutcome::kRefused), CommandOutcome::kRefused);
}

TEST(FirstAnswer, IsUnknownIfAReplicaMayHaveAcceptedTheCommand) {
  FirstAnswer answers(2);
  EXPECT_EQ(answers.Add(CommandOutcome::kUnknown), std::nullopt);
  EXPECT_EQ(answers.Add(CommandOutcome::kRefused), CommandOutcome::kUnknown);
}

}  // namespace
}  // namespace depfast
