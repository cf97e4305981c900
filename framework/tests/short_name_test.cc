#include "core/short_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace depfast {
namespace {

std::string Short(std::string_view function) { return ShortName(QualifiedNameOf(function)); }

TEST(ShortName, IsTheFunctionWithItsClass) {
  EXPECT_EQ(Short("depfast::store::Store::ElectionLoop()"), "Store::ElectionLoop");
  EXPECT_EQ(Short("depfast::kv::Store::Read(long) const"), "Store::Read");
  EXPECT_EQ(Short("Store::Start()"), "Store::Start");
  EXPECT_EQ(Short("main"), "main");
}

TEST(ShortName, HasNoNamespace) {
  EXPECT_EQ(Short("depfast::WaitDeepInside(int)"), "WaitDeepInside");
  EXPECT_EQ(Short("depfast::(anonymous namespace)::Round(int)"), "Round");
}

TEST(ShortName, HasNeitherReturnTypeNorArguments) {
  EXPECT_EQ(Short("depfast::Event::Wait(std::chrono::duration<long, std::ratio<1l, 1000l> >)"),
            "Event::Wait");
  EXPECT_EQ(Short("std::vector<int> store::Log<std::pair<int, int> >::Tail<long>(std::size_t)"),
            "Log::Tail");
  EXPECT_EQ(Short("store::Name[abi:cxx11](store::Role (*)(int))"), "Name");
}

TEST(ShortName, NamesTheFunctionAroundALambda) {
  EXPECT_EQ(Short("store::Store::Start()::{lambda()#1}::operator()() const"),
            "a lambda in Store::Start");
  EXPECT_EQ(
      Short("store::Store::Peers() const::{lambda(int)#1}::operator()(int) const::{lambda()#2}::"
            "operator()() const"),
      "a lambda in Store::Peers");
}

TEST(ShortName, KeepsAnObjectThatIsCalled) {
  EXPECT_EQ(Short("store::Round::operator()(int)"), "Round::operator()");
  EXPECT_EQ(Short("store::Entry::operator<(store::Entry const&)"), "Entry::operator");
}

TEST(QualifiedName, HasTheNamespacesWithoutAReturnType) {
  EXPECT_EQ(
      QualifiedNameOf("void std::__invoke_impl<void, Store::Start()::{lambda()#1}&>(int)").text,
      "std::__invoke_impl");
}

}  // namespace
}  // namespace depfast
