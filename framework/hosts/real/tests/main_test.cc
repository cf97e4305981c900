// The replica program as a process: flags, signals, and being killed.
#include "real/main.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "echo_service.h"
#include "injection.h"
#include "process.h"
#include "support.h"

namespace depfast::real {
namespace {

using faults::FaultKind;

class ReplicaProgram : public testing::Test {
 protected:
  ReplicaProgram() {
    auto [socket, where] = ListenAnywhere();
    endpoint = where;
    // Without close-on-exec: every process of this test inherits the socket. So connections that
    // are made while no replica runs wait in the kernel.
    listener = Descriptor(dup(socket.get()));
  }

  std::vector<std::string> Flags() const {
    return {"--id",   "0",           "--peers",     ToString(endpoint),
            "--data", temp / "data", "--listen-fd", std::to_string(listener.get())};
  }

  std::vector<std::string> FlagsWithFaults() const {
    auto flags = Flags();
    flags.insert(flags.end(), {"--faults", faults});
    return flags;
  }

  // The exit status and the log of a program that ends by itself.
  std::pair<int, std::string> RunToEnd(const std::vector<std::string>& flags) {
    Process process(ECHO_REPLICA, flags, temp / "end");
    const int status = process.Wait();
    return {status, Contents(temp / "end")};
  }

  TempDir temp;
  const std::string faults = temp / "faults";
  Endpoint endpoint;
  Descriptor listener;
};

TEST_F(ReplicaProgram, ServesUntilSigtermAndExitsWithZero) {
  Process process(ECHO_REPLICA, Flags(), temp / "log");
  Client client(endpoint);
  EXPECT_EQ(CallText(client, Echo{"hi"}), "hi");
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
  EXPECT_EQ(Contents(temp / "log"), "");
}

TEST_F(ReplicaProgram, DumpsItsCoroutinesOnSigusr1AndGoesOn) {
  Process process(ECHO_REPLICA, Flags(), temp / "log");
  Client client(endpoint);
  SendCall(client, Hang{}, 1);
  EXPECT_EQ(CallText(client, Echo{"the hanging one came first"}), "the hanging one came first");
  process.Signal(SIGUSR1);
  EXPECT_TRUE(Eventually([&] {
    return Contents(temp / "log").find("a day that never comes") != std::string::npos;
  })) << Contents(temp / "log");
  EXPECT_EQ(CallText(client, Echo{"alive"}), "alive");
}

TEST_F(ReplicaProgram, BadUsageIsOneLineAndStatusTwo) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"--id"},
      {"--id", "x", "--peers", "a:1", "--data", "d"},
      {"--id", "0", "--peers", "a", "--data", "d"},
      {"--id", "5", "--peers", "127.0.0.1:1", "--data", "d"},
      {"--id", "0", "--peers", "127.0.0.1:1"},
      {"--verbose", "yes"},
      {"--id", "0", "--peers", "no.such.host.invalid:1", "--data", temp / "d"},
      {"--id", "0", "--peers", "127.0.0.1:1", "--data", temp / "d", "--metrics", temp / "no/such"},
      {"--id", "0", "--peers", "127.0.0.1:1", "--data", temp / "d", "--format"},
      {"--lose-unsynced"},
      {"--lose-unsynced", "--data", temp / "none"},
      {"--lose-unsynced", "--data", temp / "", "--cluster", "abc", "--format"},
  };
  for (const auto& flags : bad) {
    const auto [status, text] = RunToEnd(flags);
    EXPECT_EQ(status, 2) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }
}

TEST_F(ReplicaProgram, ASecondProcessOnTheSameDataIsRefused) {
  Process first(ECHO_REPLICA, Flags(), temp / "log");
  Client client(endpoint);
  auto flags = Flags();
  flags.resize(6);  // its own socket
  flags[3] = "127.0.0.1:" + std::to_string(PortOf(Listen({"127.0.0.1", 0}).get()));
  const auto [status, text] = RunToEnd(flags);
  EXPECT_EQ(status, 2);
  EXPECT_NE(text.find("is in use by another replica"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_EQ(CallText(client, Echo{"undisturbed"}), "undisturbed");
}

TEST_F(ReplicaProgram, StartsOnlyInADirectoryThatWasMadeForIt) {
  auto flags = Flags();
  flags.insert(flags.end(), {"--cluster", "abc"});
  auto format = flags;
  format.emplace_back("--format");
  EXPECT_EQ(RunToEnd(flags).first, kLostPromise);
  EXPECT_EQ(RunToEnd(format).first, 0);
  {
    Process process(ECHO_REPLICA, flags, temp / "log");
    Client client(endpoint);
    EXPECT_EQ(CallText(client, Write{"kept"}), "ok");
    process.Signal(SIGKILL);
    EXPECT_EQ(process.Wait(), -SIGKILL);
  }
  const auto [status, text] = RunToEnd(format);
  EXPECT_EQ(status, 2);
  EXPECT_NE(text.find("is not empty"), std::string::npos) << text;
  flags.back() = "another";
  EXPECT_EQ(RunToEnd(flags).first, kLostPromise);
  flags.back() = "abc";
  std::ofstream(temp / "data/log") << "kep";
  const auto [lost, why] = RunToEnd(flags);
  EXPECT_EQ(lost, kLostPromise);
  EXPECT_NE(
      why.find(": the disk has lost what this replica had promised: log has only 3 of the 4 bytes"),
      std::string::npos)
      << why;
}

TEST_F(ReplicaProgram, LosesWhatWasNotSyncedOnceItDoesNotRun) {
  const std::vector<std::string> cut = {"--lose-unsynced", "--data", temp / "data"};
  {
    Process process(ECHO_REPLICA, Flags(), temp / "log");
    Client client(endpoint);
    EXPECT_EQ(CallText(client, Write{"kept"}), "ok");
    const auto [status, text] = RunToEnd(cut);
    EXPECT_EQ(status, 2);
    EXPECT_NE(text.find("is in use by another replica"), std::string::npos) << text;
  }
  const auto [status, text] = RunToEnd(cut);
  EXPECT_EQ(status, 2) << "its directory has no manifest";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  std::filesystem::remove_all(temp / "data");
  auto flags = Flags();
  flags.insert(flags.end(), {"--cluster", "abc", "--format"});
  ASSERT_EQ(RunToEnd(flags).first, 0);
  flags.pop_back();
  {
    Process process(ECHO_REPLICA, flags, temp / "log");
    Client client(endpoint);
    EXPECT_EQ(CallText(client, Write{"kept"}), "ok");
  }
  std::ofstream(temp / "data/log", std::ios::app) << " and lost";
  std::ofstream(temp / "data/other") << "lost";
  EXPECT_EQ(RunToEnd(cut), std::pair(0, std::string()));
  EXPECT_EQ(Contents(temp / "data/log"), "kept");
  EXPECT_FALSE(std::filesystem::exists(temp / "data/other"));
  std::ofstream(temp / "data/log") << "damaged";
  EXPECT_EQ(RunToEnd(cut).first, 2);
}

TEST_F(ReplicaProgram, AnEscapedExceptionIsStatusOne) {
  Process process(ECHO_REPLICA, Flags(), temp / "log");
  Client client(endpoint);
  SendCall(client, Explode{}, 1);
  EXPECT_EQ(process.Wait(), 1);
  EXPECT_NE(Contents(temp / "log").find("as told"), std::string::npos);
}

TEST_F(ReplicaProgram, AnotherProcessCanSlowItsDisk) {
  Process process(ECHO_REPLICA, FlagsWithFaults(), temp / "log");
  Client client(endpoint);
  ASSERT_EQ(CallText(client, Write{"fast"}), "ok");
  Inject(faults, FaultKind::kFsDelay, Duration(50ms).count());
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(CallText(client, Write{"slow"}), "ok");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);
}

TEST_F(ReplicaProgram, AnotherProcessCanSlowItsNetwork) {
  Process process(ECHO_REPLICA, FlagsWithFaults(), temp / "log");
  Client client(endpoint);
  const auto answers_slowly = [&] {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(CallText(client, Echo{"x"}), "x");
    return std::chrono::steady_clock::now() - began >= 50ms;
  };
  ASSERT_EQ(CallText(client, Echo{"fast"}), "fast");
  Inject(faults, FaultKind::kNetSlow, Duration(50ms).count());
  // The replica looks for faults once a millisecond, so the first answers may be fast.
  EXPECT_TRUE(Eventually(answers_slowly));
  Heal(faults, FaultKind::kNetSlow);
  EXPECT_TRUE(Eventually([&] { return !answers_slowly(); }));
}

}  // namespace
}  // namespace depfast::real
