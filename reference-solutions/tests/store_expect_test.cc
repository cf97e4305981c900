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

constexpr std::uint64_t kKeys = 3000;

std::string Key(std::uint64_t number) { return "key " + std::to_string(number); }

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
}

TEST(FirstKeyIn, ReadsNoFurtherThanTheBytes) {
  for (const std::size_t size : {3U, 40U}) {
    const std::string whole = EncodeCommand({"SET", std::string(size, 'k'), "value"});
    for (std::size_t end = 0; end < whole.size(); ++end) {
      const std::string bytes = whole.substr(0, end);  // of its own: reads beyond it are found
      const std::string_view key = FirstKeyIn(bytes);
      EXPECT_TRUE(key.empty() || key.size() == size) << end;
    }
  }
  RandomStream random(1, 0);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes;
    for (std::uint64_t left = random.Below(20); left > 0; --left) {
      bytes += static_cast<char>(random.Below(256));
    }
    EXPECT_LE(FirstKeyIn(bytes).size(), bytes.size());
  }
}

TEST(StoreExpect, ChangesNothing) {
  KvStore store;
  std::uint64_t index = 0;
  for (; index < kKeys; ++index) {
    store.Apply(index + 1, EncodeCommand({"SET", Key(index), std::string(index % 700, 'v')}));
  }
  const std::string before = store.Snapshot();
  std::vector<std::string> commands = {"", "no command", std::string(300, '\xff')};
  for (std::uint64_t number = 0; number < 2 * kKeys; number += 7) {  // half of the keys are absent
    commands.push_back(EncodeCommand({"SET", Key(number), "new"}));
    commands.push_back(EncodeCommand({"DEL", Key(number), Key(number + 1)}));
    commands.push_back(EncodeCommand({"SESSION", "1", "2", "INCR", Key(number)}));
  }
  store.Expect({});
  store.Expect(std::vector<std::string_view>(commands.begin(), commands.end()));
  EXPECT_EQ(store.Snapshot(), before);
}

}  // namespace
}  // namespace depfast::kv
