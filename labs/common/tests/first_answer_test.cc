#include "first_answer.h"

#include <gtest/gtest.h>

namespace depfast {
namespace {

TEST(FirstAnswer, TheFirstKnownAnswerDecidesAtOnce) {
  FirstAnswer answers(3);
  EXPECT_EQ(answers.Add(Fate::kRefused), std::nullopt);
  EXPECT_EQ(answers.Add(Fate::kKnown), Fate::kKnown);
  EXPECT_EQ(answers.Add(Fate::kKnown), std::nullopt) << "a fate is told once";
}

TEST(FirstAnswer, AKnownAnswerIsFinalWhateverComesLater) {
  FirstAnswer answers(2);
  EXPECT_EQ(answers.Add(Fate::kKnown), Fate::kKnown);
  EXPECT_EQ(answers.Add(Fate::kUnknown), std::nullopt);
}

TEST(FirstAnswer, IsRefusedOnlyIfEveryReplicaRefused) {
  FirstAnswer answers(2);
  EXPECT_EQ(answers.Add(Fate::kRefused), std::nullopt);
  EXPECT_EQ(answers.Add(Fate::kRefused), Fate::kRefused);
}

TEST(FirstAnswer, IsUnknownIfAReplicaMayHaveAcceptedTheCommand) {
  FirstAnswer answers(2);
  EXPECT_EQ(answers.Add(Fate::kUnknown), std::nullopt);
  EXPECT_EQ(answers.Add(Fate::kRefused), Fate::kUnknown);
}

}  // namespace
}  // namespace depfast
