// A client may send anything, in packets that end anywhere. Deterministic; for longer runs there is
// fuzz_redis.cc.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "depfast/host/random.h"
#include "heard.h"

namespace depfast::kv {
namespace {

constexpr int kInputs = 20'000;

class Fuzzer {
 public:
  // A few parts of requests, some of them damaged.
  std::string Next() {
    static constexpr auto kParts = std::to_array<std::string_view>({
        "*2\r\n$3\r\nGET\r\n$1\r\nx\r\n",
        "*3\r\n$6\r\nINCRBY\r\n$1\r\nx\r\n$1\r\n5\r\n",
        "DECR x\r\n",
        "INCR x\r\nGET x\r\n",
        "MGET x y\r\n",
        "HELLO 3 SETNAME me\r\n",
        "HELLO 2\r\n",
        "HELLO 3 AUTH me secret\r\n",
        "CLIENT GETNAME\r\n",
        "CLIENT SETINFO LIB-NAME \"a b\"\r\n",
        "COMMAND INFO get frob\r\n",
        "CONFIG GET save * x\r\n",
        "SELECT 0\r\n",
        "SET x 'a b' NX\r\n",
        "*1\r\n$1048577\r\n",
        "\r\n*0\r\n",
        "QUIT\r\n",
        "MULTI\r\nDECR x\r\nEXEC\r\n",
        "POST / HTTP/1.1\r\n",
    });
    std::string bytes;
    for (std::uint64_t left = 1 + random_.Below(6); left > 0; --left) {
      bytes += kParts[random_.Below(kParts.size())];
    }
    for (std::uint64_t left = random_.Below(4); left > 0; --left) Damage(bytes);
    return bytes;
  }

  // In packets of up to `packet_max` bytes.
  Heard Hear(std::string_view bytes, std::size_t packet_max) {
    return Listen(bytes, [&] { return 1 + random_.Below(packet_max); });
  }

 private:
  void Damage(std::string& bytes) {
    static constexpr std::string_view kBytes = "*$\r\n\"'\\0129-x \xff";
    const std::size_t at = random_.Below(bytes.size());
    if (random_.Below(3) == 0) {
      bytes.erase(at, 1);
      if (bytes.empty()) bytes = "x";
    } else {
      bytes[at] = kBytes[random_.Below(kBytes.size())];
    }
  }

  RandomStream random_{2026};
};

TEST(RedisFuzz, PacketsDoNotMatterAndNothingHarms) {
  Fuzzer fuzzer;
  int over = 0;
  std::size_t requests = 0;
  for (int i = 0; i < kInputs; ++i) {
    const std::string bytes = fuzzer.Next();
    const Heard whole = fuzzer.Hear(bytes, /*packet_max=*/1 << 20);
    ASSERT_EQ(fuzzer.Hear(bytes, /*packet_max=*/9), whole) << testing::PrintToString(bytes);
    EXPECT_TRUE(whole.is_idle);
    over += whole.is_over ? 1 : 0;
    requests += whole.requests.size();
  }
  EXPECT_GT(over, kInputs / 10) << "most inputs end nothing: they test little";
  EXPECT_LT(over, kInputs * 9 / 10) << "most inputs end at once: they test little";
  EXPECT_GT(requests, std::size_t{kInputs} / 2);
}

}  // namespace
}  // namespace depfast::kv
