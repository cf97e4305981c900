// The store looks up the keys of the commands that come next. That changes nothing, whatever they
// are.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/random.h"
#include "kv_messages.h"
#include "kv_store.h"

namespace depfast::kv {
namespace {

constexpr std::uint64_t kManyKeys = 3000;

std::string Key(std::uint64_t number) { return "key " + std::to_string(number); }

// These bytes and no other: a sanitizer finds what reads further. A std::string has a zero behind
// its bytes, and room.
class Exact {
 public:
  explicit Exact(const std::string& bytes) : bytes_(bytes.begin(), bytes.end()) {}
  operator std::string_view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

TEST(FirstKeyIn, IsTheSecondWord) {
  for (const std::size_t size : {1U, 15U, 31U, 32U, 33U, 255U}) {
    const std::string key(size, 'k');
    EXPECT_EQ(FirstKeyIn(EncodeCommand({"SET", key, "value"})), key);
    EXPECT_EQ(FirstKeyIn(EncodeCommand({"GET", key})), key);
    EXPECT_EQ(FirstKeyIn(EncodeCommand({std::string(40, 'c'), key})), key);
  }
}

TEST(FirstKeyIn, IsEmptyIfThereIsNone) {
  EXPECT_EQ(FirstKeyIn(""), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand({})), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand({"GET"})), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand({"GET", ""})), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand({"", "key"})), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand({"GET", std::string(256, 'k')})), "");
  EXPECT_EQ(FirstKeyIn(EncodeCommand(Command(15, "word"))), "word");
  EXPECT_EQ(FirstKeyIn(EncodeCommand(Command(16, "word"))), "");
}

TEST(FirstKeyIn, ReadsNoFurtherThanTheBytes) {
  for (const std::size_t size : {3U, 40U}) {
    const std::string whole = EncodeCommand({"SET", std::string(size, 'k'), "value"});
    for (std::size_t end = 0; end < whole.size(); ++end) {
      const Exact exact(whole.substr(0, end));
      const std::string_view key = FirstKeyIn(exact);
      EXPECT_TRUE(key.empty() || key.size() == size) << end;
    }
  }
  RandomStream random(1, 0);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes;
    for (std::uint64_t left = random.Below(20); left > 0; --left) {
      bytes += static_cast<char>(random.Below(256));
    }
    const Exact exact(bytes);
    const std::string_view key = FirstKeyIn(exact);
    EXPECT_TRUE(key.empty() || std::string_view(exact).find(key) != std::string_view::npos);
  }
}

// A snapshot that is being written does not change, either.
TEST(StoreExpect, ChangesNothing) {
  KvStore store;
  std::uint64_t index = 0;
  for (; index < kManyKeys; ++index) {
    store.Apply(index + 1, EncodeCommand({"SET", Key(index), std::string(index % 700, 'v')}));
  }
  const std::string before = store.Snapshot();
  std::vector<std::string> commands = {"", "no command", std::string(300, '\xff')};
  for (std::uint64_t number = 0; number < 2 * kManyKeys;
       number += 7) {  // half of the keys are absent
    commands.push_back(EncodeCommand({"SET", Key(number), "new"}));
    commands.push_back(EncodeCommand({"DEL", Key(number), Key(number + 1)}));
    commands.push_back(EncodeCommand({"SESSION", "1", "2", "INCR", Key(number)}));
  }
  const auto pieces = store.StartSnapshot();
  store.Expect({});
  store.Expect(std::vector<std::string_view>(commands.begin(), commands.end()));
  EXPECT_EQ(store.Snapshot(), before);
  EXPECT_EQ(pieces->Next(2 * before.size()), before);
}

}  // namespace
}  // namespace depfast::kv
