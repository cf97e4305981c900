// INCRBY, DECR and DECRBY as the commands of the store that they are made of.
#include "increment.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "kv_errors.h"

namespace depfast::kv {
namespace {

Reply Refused(const Command& command) { return std::get<Reply>(Increment::Parse(command)); }

// The commands that the port sends after the GET, and its reply, for these replies of the store.
struct Played {
  std::vector<Command> commands;
  Reply reply;
};

Played Play(const Command& command, const std::vector<Reply>& replies) {
  auto increment = std::get<Increment>(Increment::Parse(command));
  EXPECT_EQ(increment.First(), (Command{"GET", command[1]}));
  EXPECT_FALSE(replies.empty());
  Played run;
  for (const Reply& reply : replies) {
    auto next = increment.Next(reply);
    if (const auto* const last = std::get_if<Reply>(&next)) {
      EXPECT_EQ(&reply, &replies.back()) << "the increment has ended early";
      run.reply = *last;
      return run;
    }
    run.commands.push_back(std::get<Command>(next));
  }
  ADD_FAILURE() << "the increment has not ended";
  return run;
}

TEST(Increment, IsThreeCommandsInAnyCase) {
  for (const char* const name : {"INCRBY", "DecrBy", "decr"}) EXPECT_TRUE(Increment::Is(name));
  for (const char* const name : {"INCR", "INCRBYFLOAT", ""}) EXPECT_FALSE(Increment::Is(name));
}

TEST(Increment, SetsTheSumIfTheValueIsStillTheSame) {
  const Played run = Play({"INCRBY", "x", "-5"}, {Reply::String("12"), Reply::Integer(1)});
  EXPECT_EQ(run.commands, (std::vector<Command>{{"CAS", "x", "12", "7"}}));
  EXPECT_EQ(run.reply, Reply::Integer(7));
}

TEST(Increment, AnAbsentKeyCountsAsZeroIfItIsStillAbsent) {
  const Played run = Play({"DECRBY", "x", "3"}, {Reply::Nil(), Reply::Integer(1)});
  EXPECT_EQ(run.commands, (std::vector<Command>{{"SETNX", "x", "-3"}}));
  EXPECT_EQ(run.reply, Reply::Integer(-3));
}

TEST(Increment, BeginsAgainIfAnotherClientWasFaster) {
  const Played run =
      Play({"DECR", "x"}, {Reply::Nil(), Reply::Integer(0), Reply::String("8"), Reply::Integer(0),
                           Reply::String("9"), Reply::Integer(1)});
  EXPECT_EQ(run.commands, (std::vector<Command>{{"SETNX", "x", "-1"},
                                                {"GET", "x"},
                                                {"CAS", "x", "8", "7"},
                                                {"GET", "x"},
                                                {"CAS", "x", "9", "8"}}));
  EXPECT_EQ(run.reply, Reply::Integer(8));
}

TEST(Increment, GivesUpWithNothingChanged) {
  std::vector<Reply> replies;
  for (int i = 0; i < Increment::kTriesMax; ++i) {
    replies.insert(replies.end(), {Reply::String("1"), Reply::Integer(0)});
  }
  EXPECT_TRUE(HasCode(Play({"DECR", "x"}, replies).reply, "TRYAGAIN"));
}

TEST(Increment, AnErrorOfTheStoreIsTheReply) {
  EXPECT_EQ(Play({"DECR", "x"}, {TryAgain()}).reply, TryAgain());
  EXPECT_EQ(Play({"DECR", "x"}, {Reply::Nil(), UnknownOutcome()}).reply, UnknownOutcome());
  EXPECT_EQ(Play({"DECR", "x"}, {Reply::Nil(), TryAgain()}).reply, TryAgain());
  // A reply against the contract leaves the outcome unknown.
  EXPECT_EQ(Play({"DECR", "x"}, {Reply::Integer(1)}).reply, UnknownOutcome());
  EXPECT_EQ(Play({"DECR", "x"}, {Reply::Nil(), Reply::Ok()}).reply, UnknownOutcome());
}

TEST(Increment, AValueThatIsNoIntegerIsRefused) {
  for (const char* const value : {"", "x", "+1", "01", "-0", " 1", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(Play({"DECR", "x"}, {Reply::String(value)}).reply, NotAnInteger()) << value;
    EXPECT_EQ(Refused({"INCRBY", "x", value}), NotAnInteger()) << value;
  }
}

TEST(Increment, ASumThatIsNoIntegerIsRefused) {
  const std::string least = "-9223372036854775808";
  const std::string most = "9223372036854775807";
  EXPECT_EQ(Play({"DECR", "x"}, {Reply::String(least)}).reply, WouldOverflow());
  EXPECT_EQ(Play({"INCRBY", "x", most}, {Reply::String("1")}).reply, WouldOverflow());
  EXPECT_EQ(Play({"INCRBY", "x", least}, {Reply::String("-1")}).reply, WouldOverflow());
  EXPECT_EQ(Refused({"DECRBY", "x", least}), Reply::Error("ERR decrement would overflow"));
  const Played run = Play({"DECRBY", "x", most}, {Reply::String("-1"), Reply::Integer(1)});
  EXPECT_EQ(run.commands, (std::vector<Command>{{"CAS", "x", "-1", least}}));
}

TEST(Increment, WrongNumbersOfArgumentsAreRefused) {
  const std::vector<Command> wrong = {
      {"INCRBY"}, {"INCRBY", "x"}, {"INCRBY", "x", "1", "2"}, {"DECR"}, {"DECR", "x", "1"}};
  for (const Command& command : wrong) {
    EXPECT_EQ(Refused(command), WrongNumberOfArguments(command[0]));
  }
}

}  // namespace
}  // namespace depfast::kv
