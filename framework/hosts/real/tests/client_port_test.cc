// Clients of a client protocol in which a request is a line.
#include "real/client_port.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support.h"

namespace depfast::real {
namespace {

// Each line is a request, and so is each answer; "bye" ends the conversation.
class Lines final : public Conversation {
 public:
  using Serve = std::function<void(PeerId client, const std::string& line)>;

  // Adds the bytes of answers that have left to `left`.
  Lines(ClientContext context, std::size_t& left, Serve serve)
      : context_(std::move(context)), left_(left), serve_(std::move(serve)) {}

  void OnBytes(std::string_view bytes) override {
    text_ += bytes;
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      if (line == "bye") {
        over_ = true;
        return;
      }
      requests_.push_back(line);
      ++under_way_;
    }
  }
  void Answer(const std::string& line) {
    --under_way_;
    output_ += line + "\n";
    context_.on_answer();
  }
  std::size_t SendRequests(Rpc*) override {
    const auto requests = std::exchange(requests_, {});
    for (const std::string& line : requests) serve_(context_.client, line);
    return requests.size();
  }
  bool HasRequests() const override { return !requests_.empty(); }
  std::string TakeOutput() override { return std::exchange(output_, {}); }
  void OnRoom(std::size_t bytes) override { left_ += bytes; }
  bool WantsBytes() const override { return under_way_ < 100; }
  bool WaitsForOthers() const override { return false; }
  bool IsIdle() const override { return under_way_ == 0; }
  bool IsOver() const override { return over_; }

 private:
  const ClientContext context_;
  std::size_t& left_;
  const Serve serve_;
  std::string text_;
  std::string output_;
  std::vector<std::string> requests_;
  int under_way_ = 0;
  bool over_ = false;
};

class ClientPortTest : public testing::Test {
 protected:
  explicit ClientPortTest(const ClientPortLimits& limits = {}) {
    auto [listener, where] = ListenAnywhere();
    endpoint_ = where;
    port_ = std::make_unique<ClientPort>(
        ClientProtocol{"lines",
                       [this](const ClientContext& context) {
                         connections_.push_back(context.connection);
                         return Converse(context);
                       }},
        /*replica=*/0, std::move(listener), loop_, counters_, disk_failure_, limits);
  }

  // Requests are answered, or kept in unanswered_.
  std::shared_ptr<Lines> Converse(const ClientContext& context) {
    const auto lines =
        std::make_shared<Lines>(context, left_, [this](PeerId client, const std::string& line) {
          EXPECT_TRUE(ClientPort::Owns(client));
          if (answers_) {
            Send(client, "re: " + line);
          } else {
            unanswered_.emplace_back(client, line);
          }
        });
    conversations_[context.client] = lines;
    return lines;
  }

  // Answers a request, unless the client has gone. Returns whether it is there.
  bool Send(PeerId client, const std::string& line) {
    const auto lines = conversations_[client].lock();
    if (lines != nullptr) lines->Answer(line);
    return lines != nullptr;
  }

  Descriptor Connect() const { return ConnectTo(endpoint_); }

  // The bytes that the client can read now; "(end)" once the port has closed the connection.
  static std::string Heard(const Descriptor& socket) {
    std::string text(1 << 16, '\0');
    const ssize_t got = recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got == 0) return "(end)";
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  // Turns the loop until `done`.
  bool TurnUntil(const std::function<bool()>& done) {
    return Eventually([&] {
      for (const epoll_event& event : loop_.Wait(/*block=*/false)) {
        port_->OnEvent(event.data.u64, event.events);
      }
      port_->Receive(/*replica=*/nullptr);
      port_->Flush();
      return done();
    });
  }

  // Turns the loop until the client has heard this, and nothing else.
  void ExpectHeard(const Descriptor& client, const std::string& expected) {
    std::string heard;
    EXPECT_TRUE(TurnUntil([&] {
      heard += Heard(client);
      return heard == expected;
    })) << heard;
  }
  bool TurnUntilConnections(std::size_t count) {
    return TurnUntil([&] { return port_->connections() == count; });
  }

  NetworkCounters counters_;
  const std::string disk_failure_;
  EventLoop loop_;
  Endpoint endpoint_;
  std::unique_ptr<ClientPort> port_;
  bool answers_ = true;
  std::size_t left_ = 0;                   // bytes of answers
  std::vector<std::int64_t> connections_;  // the numbers of all so far
  std::map<PeerId, std::weak_ptr<Lines>> conversations_;
  std::vector<std::pair<PeerId, std::string>> unanswered_;
};

TEST_F(ClientPortTest, ClosesAllConnectionsAndAcceptsNewOnes) {
  answers_ = false;
  const Descriptor waiting = Connect();
  SendText(waiting, "a\n");
  ASSERT_TRUE(TurnUntil([&] { return unanswered_.size() == 1; }));
  port_->CloseAll();
  EXPECT_EQ(port_->connections(), 0u);
  ExpectHeard(waiting, "(end)");
  EXPECT_FALSE(Send(unanswered_[0].first, "too late"));
  answers_ = true;
  const Descriptor fresh = Connect();
  SendText(fresh, "b\n");
  ExpectHeard(fresh, "re: b\n");
}

TEST_F(ClientPortTest, ServesEachClientItsOwnAnswersAndForgetsThoseThatVanish) {
  Descriptor one = Connect();
  Descriptor two = Connect();
  SendText(one, "a\nb\n");
  SendText(two, "c\n");
  ExpectHeard(one, "re: a\nre: b\n");
  ExpectHeard(two, "re: c\n");
  EXPECT_EQ(port_->connections(), 2u);
  EXPECT_EQ(connections_, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(left_, std::string("re: a\nre: b\nre: c\n").size());
  one.Close();
  EXPECT_TRUE(TurnUntilConnections(1));
  two.Close();
  EXPECT_TRUE(TurnUntilConnections(0));
}

TEST_F(ClientPortTest, AClientThatHasSaidAllGetsItsAnswersBeforeTheEnd) {
  answers_ = false;
  const Descriptor client = Connect();
  SendText(client, "a\n");
  shutdown(client.get(), SHUT_WR);
  ASSERT_TRUE(TurnUntil([&] { return unanswered_.size() == 1; }));
  EXPECT_EQ(port_->connections(), 1u);
  Send(unanswered_[0].first, "late");
  ExpectHeard(client, "late\n(end)");
  EXPECT_EQ(port_->connections(), 0u);
  EXPECT_FALSE(Send(unanswered_[0].first, "too late"));
}

TEST_F(ClientPortTest, AConversationThatIsOverIsClosed) {
  Descriptor client = Connect();
  SendText(client, "a\nbye\nb\n");
  ExpectHeard(client, "re: a\n(end)");
  client.Close();
  EXPECT_TRUE(TurnUntilConnections(0));
}

// A reset would take away the answers that the client has not read.
TEST_F(ClientPortTest, AClientThatIsStillSendingAtTheEndGetsItsAnswers) {
  Descriptor client = Connect();
  SendText(client, "a\nbye\n");
  const std::string more(1 << 20, 'x');
  std::size_t sent = 0;
  ASSERT_TRUE(TurnUntil([&] {
    const ssize_t now = send(client.get(), more.data(), more.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (now > 0) sent += static_cast<std::size_t>(now);
    return sent > (std::size_t{16} << 20);
  }));
  EXPECT_EQ(Heard(client), "re: a\n");
  EXPECT_EQ(Heard(client), "(end)");
  EXPECT_EQ(port_->connections(), 1u);
  client.Close();
  EXPECT_TRUE(TurnUntilConnections(0));
}

TEST_F(ClientPortTest, NoMoreIsReadThanTheConversationWants) {
  answers_ = false;
  const Descriptor client = Connect();
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "x\n";
  SendText(client, lines);
  ASSERT_TRUE(TurnUntil([&] { return unanswered_.size() == 100; }));
  SendText(client, "one more\n");
  const std::uint64_t reads = counters_.reads.value();
  for (int turn = 0; turn < 100; ++turn) {
    TurnUntil([] { return true; });
  }
  EXPECT_EQ(unanswered_.size(), 100u);
  EXPECT_LE(counters_.reads.value(), reads + 1);
  answers_ = true;
  for (const auto& [to, line] : std::exchange(unanswered_, {})) Send(to, "re: " + line);
  std::string heard;
  EXPECT_TRUE(TurnUntil([&] {
    heard += Heard(client);
    return heard.ends_with("re: one more\n");
  }));
}

TEST_F(ClientPortTest, AClientThatDoesNotReadIsReadFromNoMore) {
  const Descriptor client = Connect();
  const std::string line(60'000, 'x');
  bool blocked = false;
  for (int i = 0; i < 2000 && !blocked; ++i) {
    const std::string text = line + "\n";
    const ssize_t sent = send(client.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    blocked = sent != static_cast<ssize_t>(text.size());
    TurnUntil([] { return true; });
  }
  EXPECT_TRUE(blocked) << "the port read 120 MB from a client that reads no answers";
  EXPECT_EQ(port_->connections(), 1u);
}

TEST_F(ClientPortTest, DelayedAnswersComeInTheirOrderBeforeTheEnd) {
  std::vector<std::pair<PeerId, std::string>> delayed;
  port_->set_delay([&](PeerId client, std::string& answers) {
    delayed.emplace_back(client, std::exchange(answers, {}));
    return true;
  });
  const Descriptor client = Connect();
  SendText(client, "a\n");
  ASSERT_TRUE(TurnUntil([&] { return delayed.size() == 1; }));
  SendText(client, "b\nbye\n");
  ASSERT_TRUE(TurnUntil([&] { return delayed.size() == 2; }));
  EXPECT_EQ(Heard(client), "");
  for (const auto& [to, answers] : delayed) port_->Arrive(to, answers);
  ExpectHeard(client, "re: a\nre: b\n(end)");
  port_->CloseAll();
  port_->Arrive(delayed[0].first, "too late");
}

class ClientPortWithLimits : public ClientPortTest {
 protected:
  static constexpr ClientPortLimits kLimits = {.unread_bytes_max = 10'000};

  ClientPortWithLimits() : ClientPortTest(kLimits) {}

  // A client with more answers than the kernel and unread_bytes_max hold.
  Descriptor NotReading() {
    Descriptor client = Connect();
    answers_ = false;
    SendText(client, "x\n");
    TurnUntil([&] { return unanswered_.size() == 1; });
    for (int i = 0; i < 100; ++i) Send(unanswered_[0].first, std::string(1 << 20, 'x'));
    TurnUntil([] { return true; });
    return client;
  }
};

TEST_F(ClientPortWithLimits, AClientThatTakesNothingForLongIsCutOff) {
  port_->OnTime(1h);
  const Descriptor client = NotReading();
  Time now = 1h;
  while (now < 1h + kLimits.unread_time_max) {
    ASSERT_LE(port_->NextDeadline(), now + 1s);
    port_->OnTime(now);
    port_->Flush();
    ASSERT_EQ(port_->connections(), 1u) << "after " << (now - 1h).count() << " ns";
    now += 1s;
  }
  port_->OnTime(now);
  port_->Flush();
  EXPECT_EQ(port_->connections(), 0u);
  port_->OnTime(now + 1s);
  EXPECT_EQ(port_->NextDeadline(), kNever);
}

TEST_F(ClientPortWithLimits, AClientThatReadsIsNotHoweverSlowly) {
  port_->OnTime(1h);
  const Descriptor client = NotReading();
  std::size_t heard = 0;
  std::size_t left = left_;
  for (Time now = 1h; heard < 100 * ((std::size_t{1} << 20) + 1); now += 25s) {
    port_->OnTime(now);
    ASSERT_TRUE(TurnUntil([&] {
      const std::string more = Heard(client);
      EXPECT_NE(more, "(end)");
      heard += more.size();
      return left_ > std::exchange(left, left_) || more.empty();
    }));
    ASSERT_EQ(port_->connections(), 1u);
  }
}

}  // namespace
}  // namespace depfast::real
