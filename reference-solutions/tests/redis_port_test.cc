// The reference key-value store as three processes, driven through its Redis ports with raw
// sockets. The input comes in pieces, in one packet, malformed or too fast.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "injection.h"
#include "replica_cluster.h"
#include "store_load.h"
#include "support.h"

namespace depfast::real {
namespace {

// A connection that speaks bytes.
class Socket {
 public:
  explicit Socket(const Endpoint& endpoint)
      : fd_(Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")) {
    const sockaddr_in address = Resolve(endpoint);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (connect(fd_.get(), generic, sizeof address) != 0) ThrowErrno("connect");
    const timeval patience = {kPatience.count(), 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  void Write(const std::string& bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t now = send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now < 0) ThrowErrno("send");
      sent += static_cast<std::size_t>(now);
    }
  }

  // The next line without its end; shorter if the other side closes before.
  std::string ReadLine() const {
    std::string line;
    for (std::string more = Read(1); !more.empty() && more != "\n"; more = Read(1)) line += more;
    return line.substr(0, line.find('\r'));
  }

  // The next `count` bytes, or fewer if the other side closes before.
  std::string Read(std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t got = 0;
    while (got < count) {
      const ssize_t now = recv(fd_.get(), bytes.data() + got, count - got, 0);
      if (now < 0) ThrowErrno("recv");
      if (now == 0) break;
      got += static_cast<std::size_t>(now);
    }
    bytes.resize(got);
    return bytes;
  }

  // Everything until the other side closes, which is less than 2 MiB.
  std::string ReadAll() const { return Read(std::size_t{2} << 20); }

  void Finish() const { shutdown(fd_.get(), SHUT_WR); }

 private:
  Descriptor fd_;
};

std::string Bulk(const std::string& value) {
  return "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

std::string SetOf(const std::string& key, const std::string& value) {
  return "*3\r\n" + Bulk("SET") + Bulk(key) + Bulk(value);
}

class RedisPort : public testing::Test {
 protected:
  explicit RedisPort(std::string program = LAB3_REAL)
      : cluster_(std::move(program), {.redis = true, .faults = true}) {}

  std::string AskOnce(int id, const std::string& line) {
    const Socket socket(cluster_.redis_endpoint(id));
    socket.Write(line + "\r\n");
    socket.Finish();
    return socket.ReadAll();
  }

  // Replica `id`'s answer to a line, once it is no TRYAGAIN.
  std::string Ask(int id, const std::string& line) {
    std::string answer;
    EXPECT_TRUE(Eventually([&] {
      answer = AskOnce(id, line);
      return !answer.starts_with("-TRYAGAIN");
    }));
    return answer;
  }

  // Clients of all replicas add to one key at once. Every addition counts once.
  void ExpectAmountsAddUp() {
    constexpr int kClients = 9;
    constexpr int kTimes = 20;
    ASSERT_EQ(Ask(0, "SET n 1000"), "+OK\r\n");
    std::deque<Socket> sockets;
    for (int i = 0; i < kClients; ++i) {
      const Socket& socket = sockets.emplace_back(cluster_.redis_endpoint(i % cluster_.size()));
      for (int time = 0; time < kTimes; ++time) socket.Write("INCRBY n 7\r\nDECRBY n 5\r\n");
      socket.Finish();
    }
    ASSERT_EQ(sockets.size(), std::size_t{kClients});
    for (const Socket& socket : sockets) {
      const std::string answers = socket.ReadAll();
      EXPECT_EQ(std::count(answers.begin(), answers.end(), ':'), 2 * kTimes) << answers;
    }
    const int sum = 1000 + 2 * kClients * kTimes;
    EXPECT_EQ(Ask(0, "DECR n"), ":" + std::to_string(sum - 1) + "\r\n");
  }

  ReplicaCluster cluster_;
};

TEST_F(RedisPort, ASlowNetworkDelaysAllAnswers) {
  using std::chrono::steady_clock;
  ASSERT_EQ(Ask(0, "SET x 1"), "+OK\r\n");
  Inject(cluster_.FaultsPath(0), faults::FaultKind::kNetSlow, Duration(50ms).count());
  // The replica looks for faults once a millisecond, so the first answers may be fast.
  EXPECT_TRUE(Eventually([&] {
    const auto began = steady_clock::now();
    const Socket socket(cluster_.redis_endpoint(0));
    socket.Write("PING\r\nECHO 2\r\nQUIT\r\n");
    EXPECT_EQ(socket.ReadAll(), "+PONG\r\n$1\r\n2\r\n+OK\r\n");
    return steady_clock::now() - began >= 50ms;
  }));
  Heal(cluster_.FaultsPath(0), faults::FaultKind::kNetSlow);
  EXPECT_EQ(Ask(0, "GET x"), "$1\r\n1\r\n");
}

// The disk of one replica after the other fails under load. The first of them that leads is the
// leader that the cluster has begun with.
class RedisPortOfFailingDisks : public RedisPort {
 protected:
  using Fault = faults::FaultKind;

  // Sets new keys through the ports of the others until `done`.
  void SetKeysUntil(int victim, const std::function<bool()>& done) {
    EXPECT_TRUE(Eventually([&] {
      const int other = (victim + 1 + keys_ % 2) % cluster_.size();
      const std::string key = "key" + std::to_string(++keys_);
      if (Ask(other, "SET " + key + " " + key) == "+OK\r\n") acknowledged_.push_back(key);
      return done();
    })) << cluster_.LogOf(victim);
  }
  void SetMoreKeys(int victim) {
    const std::size_t enough = acknowledged_.size() + 20;
    SetKeysUntil(victim, [&] { return acknowledged_.size() >= enough; });
  }

  // A replica resets its connections as its disk fails, and then says nothing in this one.
  bool SaysOfItsDisk(int id, const std::string& word) {
    try {
      return AskOnce(id, "INFO").find("aof_last_write_status:" + word) != std::string::npos;
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::connection_reset) return false;
      throw;
    }
  }

  // The outcome of a command is unknown if it meets an election, or a reply takes over a second.
  bool ServesAgain(int id) {
    return Eventually([&] { return AskOnce(id, "SET x 1") == "+OK\r\n"; });
  }

  void ExpectNothingLost() {
    ASSERT_FALSE(acknowledged_.empty());
    for (const std::string& key : acknowledged_) {
      EXPECT_EQ(Ask(0, "GET " + key), Bulk(key));
    }
  }

  // The victim stops, the others go on, and the victim says why.
  void Fail(int victim, Fault fault, std::int64_t amount) {
    SetMoreKeys(victim);
    Inject(cluster_.FaultsPath(victim), fault, amount);
    SetKeysUntil(victim, [&] { return SaysOfItsDisk(victim, "err"); });
    const Socket socket(cluster_.redis_endpoint(victim));
    socket.Write("SET x 1\r\n");
    EXPECT_TRUE(socket.ReadLine().starts_with("-TRYAGAIN the disk of this replica has failed"));
    SetMoreKeys(victim);
    EXPECT_NE(cluster_.LogOf(victim).find("out of service, because a disk operation failed"),
              std::string::npos)
        << cluster_.LogOf(victim);
  }

  int keys_ = 0;
  std::vector<std::string> acknowledged_;
};

class RedisPortOfCopilot : public RedisPort {
 protected:
  RedisPortOfCopilot() : RedisPort(LAB5_REAL) {}

  // A pilot that is still reading its disk, or that is being replaced, refuses commands.
  bool BothPilotsServe() {
    return Eventually([&] {
      int serving = 0;
      for (int id = 0; id < cluster_.size(); ++id) {
        if (kv::AnswersReads(cluster_, id, ++forwards_)) ++serving;
      }
      return serving == 2;
    });
  }

 private:
  std::uint64_t forwards_ = 0;
};

TEST_F(RedisPort, EveryReplicaServesTheSameStore) {
  EXPECT_EQ(Ask(0, "SET x \"a b\""), "+OK\r\n");
  for (int id = 0; id < cluster_.size(); ++id) EXPECT_EQ(Ask(id, "GET x"), "$3\r\na b\r\n");
}

TEST_F(RedisPort, APipelineIsAnsweredInOrder) {
  ASSERT_EQ(Ask(0, "SET n 0"), "+OK\r\n");
  std::string commands;
  std::string answers;
  for (int i = 1; i <= 3000; ++i) {
    commands += "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n";
    answers += ":" + std::to_string(i) + "\r\n";
    if (i % 100 != 0) continue;
    commands += "GET n\r\nPING\r\n";
    answers += Bulk(std::to_string(i)) + "+PONG\r\n";
  }
  for (int id = 0; id < cluster_.size(); ++id) {
    const Socket socket(cluster_.redis_endpoint(id));
    socket.Write("SET n 0\r\n" + commands);
    EXPECT_EQ(socket.Read(5 + answers.size()), "+OK\r\n" + answers) << "at replica " << id;
  }
}

// The packets are large or many: an error comes first, although the client is still sending.
TEST_F(RedisPort, EveryClientIsAnsweredUntilItQuitsOrIsCutOff) {
  const std::size_t too_long = std::size_t{8} << 20;
  const std::string large = std::string(1 << 20, 'v');
  const std::string quit = "PING\r\nQUIT\r\n";
  const std::string over = "+PONG\r\n+OK\r\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"FROB\r\nGET\r\nINCR x\r\n" + quit,
       "-ERR unknown command 'FROB'\r\n-ERR wrong number of arguments for 'get' command\r\n"
       "-ERR value is not an integer or out of range\r\n" +
           over},
      {SetOf("big", large) + "GET big\r\n" + quit, "+OK\r\n" + Bulk(large) + over},
      {SetOf("x", std::string(too_long, 'v')) + quit,
       "-ERR string exceeds maximum allowed size\r\n" + over},
      {"*1\r\nGET x\r\n", "-ERR Protocol error: expected '$', got 'G'\r\n"},
      {std::string(70'000, 'x'), "-ERR Protocol error: too big inline request\r\n"},
      {"*1\r\n$600000000\r\n" + std::string(too_long, 'v'),
       "-ERR Protocol error: invalid bulk length\r\n"},
      {"POST / HTTP/1.1\r\nHost: store\r\nContent-Length: 9\r\n\r\nSET x 2\r\n", ""}};
  ASSERT_EQ(Ask(0, "SET x text"), "+OK\r\n");
  for (int id = 0; id < cluster_.size(); ++id) {
    for (const auto& [sent, heard] : cases) {
      const Socket socket(cluster_.redis_endpoint(id));
      socket.Write(sent);
      EXPECT_EQ(socket.ReadAll(), heard) << "at replica " << id;
    }
    EXPECT_EQ(Ask(id, "GET x"), Bulk("text"));
  }
}

TEST_F(RedisPort, EachConnectionHasItsProtocol) {
  ASSERT_EQ(Ask(1, "DEL x"), ":0\r\n");
  const Socket socket(cluster_.redis_endpoint(1));
  socket.Write("MGET x\r\nHELLO 3\r\nMGET x\r\nQUIT\r\n");
  const std::string answers = socket.ReadAll();
  EXPECT_TRUE(answers.starts_with("*1\r\n$-1\r\n%7\r\n")) << answers;
  EXPECT_TRUE(answers.ends_with("*1\r\n_\r\n+OK\r\n")) << answers;
  EXPECT_EQ(Ask(1, "MGET x"), "*1\r\n$-1\r\n");
}

TEST_F(RedisPort, AmountsAddUp) { ExpectAmountsAddUp(); }
TEST_F(RedisPortOfCopilot, AmountsAddUp) { ExpectAmountsAddUp(); }

// Connections to running replicas serve command after command while a pilot is paused, and after it
// has woken.
TEST_F(RedisPortOfCopilot, ClientsOfOtherReplicasOutliveAPausedPilot) {
  constexpr int kTimes = 50;
  int sum = 0;
  for (const int paused : {0, 1}) {
    ASSERT_EQ(Ask(paused, "SET n " + std::to_string(sum)), "+OK\r\n");
    std::deque<Socket> sockets;
    for (const int other : {1 - paused, 2}) sockets.emplace_back(cluster_.redis_endpoint(other));
    ASSERT_TRUE(BothPilotsServe());
    for (const int signal : {SIGSTOP, SIGCONT}) {
      cluster_.Signal(paused, signal);
      for (int time = 0; time < kTimes; ++time) {
        for (const Socket& socket : sockets) {
          socket.Write("INCR n\r\n");
          ASSERT_EQ(socket.ReadLine(), ":" + std::to_string(++sum)) << cluster_.LogOf(2);
        }
      }
    }
    EXPECT_EQ(Ask(paused, "GET n"), Bulk(std::to_string(sum)));
  }
}

TEST_F(RedisPortOfFailingDisks, AFullDiskLosesNothingAndItsReplicaReturnsOnceThereIsRoom) {
  for (int victim = 0; victim < cluster_.size(); ++victim) {
    Fail(victim, Fault::kDiskFull, 1);
    Heal(cluster_.FaultsPath(victim), Fault::kDiskFull);
    SetKeysUntil(victim, [&] { return SaysOfItsDisk(victim, "ok"); });
    EXPECT_TRUE(ServesAgain(victim));
  }
  cluster_.Kill({0, 1, 2});
  for (int id = 0; id < cluster_.size(); ++id) cluster_.Start(id);
  ExpectNothingLost();
}

TEST_F(RedisPortOfFailingDisks, ABrokenDiskLosesNothingAndItsReplicaServesAfterARestart) {
  for (int victim = 0; victim < cluster_.size(); ++victim) {
    Fail(victim, Fault::kDiskError, 1000);
    cluster_.Kill({victim});
    Heal(cluster_.FaultsPath(victim), Fault::kDiskError);
    cluster_.Start(victim);
    EXPECT_TRUE(ServesAgain(victim));
  }
  ExpectNothingLost();
}

// The log is not cut behind a snapshot that is not there, on any replica.
TEST_F(RedisPortOfFailingDisks, ASnapshotThatCannotBeWrittenTakesNoLogWithIt) {
  SetMoreKeys(0);
  const auto blocker = [&](int id) { return cluster_.DataPath(id) + "/raft.snapshot.new"; };
  for (int id = 0; id < cluster_.size(); ++id) std::filesystem::create_directory(blocker(id));
  const std::string filler(100'000, 'x');
  const Socket socket(cluster_.redis_endpoint(0));
  const auto is_set = [&](const std::string& key, const std::string& value) {
    try {
      socket.Write(SetOf(key, value));
      return socket.ReadLine() == "+OK";
    } catch (const std::system_error&) {  // replica 0 is out of service
      return false;
    }
  };
  while (is_set("filler", filler)) {
    const std::string key = "key" + std::to_string(++keys_);
    if (is_set(key, key)) acknowledged_.push_back(key);
    ASSERT_LT(keys_, 1000) << "no replica takes a snapshot";
  }
  const auto stands_in = [&](int id) {
    return cluster_.LogOf(id).find("cannot open raft.snapshot.new: Is a directory") !=
           std::string::npos;
  };
  EXPECT_TRUE(stands_in(0) || stands_in(1) || stands_in(2));
  cluster_.Kill({0, 1, 2});
  for (int id = 0; id < cluster_.size(); ++id) {
    std::filesystem::remove(blocker(id));
    cluster_.Start(id);
  }
  ExpectNothingLost();
}

// Elections may come at any time on a busy machine. Then answers are errors that say so.
class RedisPortOfLargeValues : public RedisPort {
 protected:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
  static constexpr int kCommands = 100;
  // Each connection may make a replica hold 8 MiB, and one more answer. Copies on the way and the
  // replica itself need the rest.
  static constexpr std::size_t kPeakMax = std::size_t{192} << 20;

  static std::string Repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  }

  // The next answer: a line, or the value of a bulk string.
  static std::string ReadAnswer(const Socket& socket) {
    const std::string line = socket.ReadLine();
    if (!line.starts_with("$")) return line;
    const std::size_t bytes = std::stoul(line.substr(1));
    return socket.Read(bytes + 2).substr(0, bytes);
  }

  // Reads kCommands answers. Returns how many are `expected`; the others tell of an election.
  static int CountAnswers(const Socket& socket, const std::string& expected) {
    int count = 0;
    for (int i = 0; i < kCommands; ++i) {
      const std::string answer = ReadAnswer(socket);
      const bool is_error = answer.starts_with("-TRYAGAIN") || answer.starts_with("-UNKNOWN");
      EXPECT_TRUE(answer == expected || is_error)
          << "answer " << i << " of " << answer.size() << " bytes: " << answer.substr(0, 80);
      count += answer == expected ? 1 : 0;
    }
    return count;
  }

  void ExpectPeaksUpTo(std::size_t bytes, const std::vector<int>& ids = {0, 1, 2}) const {
    for (const int id : ids) EXPECT_LE(cluster_.PeakBytes(id), bytes) << "replica " << id;
  }

  bool IsSet(const std::string& line) { return Ask(0, line) == "+OK\r\n"; }

  const std::string value_ = std::string(kLarge, 'v');
};

TEST_F(RedisPortOfLargeValues, MemoryIsBoundedAndAClientThatReadsIsNotCutOff) {
  ASSERT_TRUE(Eventually([&] { return IsSet(SetOf("big", value_)); }));
  std::deque<Socket> never_read;
  for (int i = 0; i < 6; ++i) {
    never_read.emplace_back(cluster_.redis_endpoint(i % cluster_.size()))
        .Write(Repeated("GET big\r\n", 1000));
  }
  int values = 0;
  for (int id = 0; id < cluster_.size(); ++id) {
    const Socket reader(cluster_.redis_endpoint(id));
    reader.Write(Repeated("GET big\r\n", kCommands) + "PING\r\n");
    values += CountAnswers(reader, value_);
    EXPECT_EQ(reader.ReadLine(), "+PONG") << "at replica " << id;
  }
  EXPECT_GT(values, 0);
  ExpectPeaksUpTo(kPeakMax);
}

TEST_F(RedisPortOfLargeValues, MemoryIsBoundedWhileOneClientWritesManyAtOnce) {
  ASSERT_TRUE(Eventually([&] { return IsSet("SET x 1\r\n"); }));
  for (int id = 0; id < cluster_.size(); ++id) {
    const Socket socket(cluster_.redis_endpoint(id));
    std::thread writer([&] {
      for (int i = 0; i < kCommands; ++i) socket.Write(SetOf("big", value_));
    });
    EXPECT_GT(CountAnswers(socket, "+OK"), 0) << "at replica " << id;
    writer.join();
  }
  ExpectPeaksUpTo(kPeakMax);
}

class RedisPortOfAStoppedReplica : public RedisPortOfLargeValues {
 protected:
  static constexpr int kStopped = 2;
  static constexpr std::size_t kValue = 10'000;
  // A replica that keeps all of this for the stopped one holds more than kOtherMax.
  static constexpr std::size_t kWritten = std::size_t{64} << 20;
  static constexpr std::size_t kOtherMax = std::size_t{40} << 20;

  // Sets few keys, so that the state stays small, to new values that a file can be searched for.
  void SetMany() {
    std::string sets;
    for (int i = 0; i < kCommands; ++i) {
      std::string value = "value " + std::to_string(++values_) + ".";
      value.resize(kValue, 'v');
      sets += SetOf("key" + std::to_string(i % 8), value);
    }
    socket_.Write(sets);
    written_ += kValue * static_cast<std::size_t>(CountAnswers(socket_, "+OK"));
  }

  // The entries of the replica's log on disk go up to one of the latest values.
  bool KeepsUp(int id) const {
    const std::string log = Contents(cluster_.DataPath(id) + "/raft.wal");
    for (int number = values_ - kCommands + 1; number <= values_; ++number) {
      if (log.find("value " + std::to_string(number) + ".") != std::string::npos) return true;
    }
    return false;
  }

  int values_ = 0;
  std::size_t written_ = 0;
  const Socket socket_{cluster_.redis_endpoint(0)};
};

TEST_F(RedisPortOfAStoppedReplica, OthersHoldLittleForItAndItCatchesUpUnderLoad) {
  ASSERT_TRUE(Eventually([&] { return IsSet("SET x 1\r\n"); }));
  SetMany();
  cluster_.Signal(kStopped, SIGSTOP);
  while (written_ < kWritten) SetMany();
  EXPECT_FALSE(KeepsUp(kStopped));
  ExpectPeaksUpTo(kOtherMax, {0, 1});
  cluster_.Signal(kStopped, SIGCONT);
  EXPECT_TRUE(Eventually([&] {
    SetMany();
    return KeepsUp(kStopped);
  })) << "the load goes on, and the replica stays behind";
  ExpectPeaksUpTo(kOtherMax, {0, 1});
}

}  // namespace
}  // namespace depfast::real
