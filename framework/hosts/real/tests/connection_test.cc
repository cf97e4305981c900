#include "real/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "support.h"

namespace depfast::real {
namespace {

// Two connections to each other, after their greetings.
struct ConnectedPair {
  ConnectedPair() : ConnectedPair(SocketPair()) {}
  explicit ConnectedPair(std::pair<Descriptor, Descriptor> sockets)
      : a(std::move(sockets.first), counters), b(std::move(sockets.second), counters) {
    b.reader().set_frame_bytes_max(kMaxFrameBytes);
    a.set_writable();
  }

  std::vector<std::string> ReceiveAtB() {
    std::vector<std::string> frames;
    b.set_readable();
    b.Read(10'000'000);
    while (const auto frame = b.reader().Next()) frames.emplace_back(*frame);
    return frames;
  }

  NetworkCounters counters;
  WriteScratch scratch;
  SendQueue queue;
  Connection a;
  Connection b;
};

TEST(Connection, AFullSocketKeepsTheRestUntilItIsWritableAgain) {
  ConnectedPair pair;
  const std::string large(300'000, 'L');
  for (FrameId id = 1; id <= 20; ++id) pair.queue.Push(id, MakeBytes(large));
  pair.a.Write(pair.queue, pair.scratch);
  EXPECT_FALSE(pair.a.writable());
  EXPECT_GT(pair.queue.bytes(), 0u);
  const auto writes = pair.counters.writes.value();
  pair.a.Write(pair.queue, pair.scratch);
  EXPECT_EQ(pair.counters.writes.value(), writes) << "a system call that must fail was made";

  std::vector<std::string> received;
  for (int turn = 0; turn < 1000 && received.size() < 20; ++turn) {
    for (auto& frame : pair.ReceiveAtB()) received.push_back(frame);
    pair.a.set_writable();
    pair.a.Write(pair.queue, pair.scratch);
  }
  EXPECT_EQ(received, std::vector<std::string>(20, large));
  EXPECT_EQ(pair.queue.bytes(), 0u);
}

TEST(Connection, ReadTakesNoMoreThanItIsAllowed) {
  ConnectedPair pair;
  for (FrameId id = 1; id <= 100; ++id) pair.queue.Push(id, MakeBytes(std::string(996, 'x')));
  pair.a.Write(pair.queue, pair.scratch);
  pair.b.set_readable();
  pair.b.Read(10'000);
  EXPECT_EQ(pair.counters.bytes_in.value(), 10'000u);
  EXPECT_TRUE(pair.b.readable()) << "there is more";
}

TEST(Connection, WritingToAConnectionThatIsGoneEndsItAndKillsNobody) {
  ConnectedPair pair;
  pair.b = Connection(Descriptor(), pair.counters);
  pair.queue.Push(1, MakeBytes("into the void"));
  pair.a.Write(pair.queue, pair.scratch);  // SIGPIPE, if it were not prevented
  EXPECT_TRUE(pair.a.ended());
  EXPECT_EQ(pair.a.error(), EPIPE);
}

TEST(Connection, FramesSentBeforeACloseAreReceived) {
  ConnectedPair pair;
  pair.queue.Push(1, MakeBytes("last words"));
  pair.a.Write(pair.queue, pair.scratch);
  pair.a = Connection(Descriptor(), pair.counters);
  EXPECT_EQ(pair.ReceiveAtB(), std::vector<std::string>{"last words"});
  pair.b.set_readable();
  pair.b.Read(100);
  EXPECT_TRUE(pair.b.ended());
  EXPECT_EQ(pair.b.error(), 0);
}

}  // namespace
}  // namespace depfast::real
