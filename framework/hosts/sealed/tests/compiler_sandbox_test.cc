// The program that a grade's compiler runs behind. Other programs stand for the compiler here.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sealed/sandbox/path_rules.h"

namespace depfast::sealed_tests {
namespace {

namespace fs = std::filesystem;

constexpr int kCannot = 125;

class CompilerSandboxTest : public testing::Test {
 protected:
  CompilerSandboxTest() {
    std::string path = testing::TempDir() + "sandbox-XXXXXX";
    home_ = mkdtemp(path.data());
    fs::permissions(home_, fs::perms{0755});  // the compiler may be another user
    for (const char* each : {"given", "mine", "secret"}) {
      fs::create_directory(home_ / each);
      std::ofstream(home_ / each / "file") << "the words of " << each << "\n";
    }
  }
  ~CompilerSandboxTest() override { fs::remove_all(home_); }

  struct Ended {
    int code = 0;
    std::string said;
  };

  // Runs a shell's command in the sandbox.
  Ended Run(const std::string& command) const {
    return Call("--read /usr /lib /lib64 /bin " + Path("given") + " " + Path("not-there") +
                " --write " + Path("mine") + " /dev/null -- sh -c '" + command + "'");
  }

  Ended Call(const std::string& words) const {
    const fs::path out = home_ / "said";
    const std::string line = COMPILER_SANDBOX " " + words + " > " + out.string() + " 2>&1";
    const int status = std::system(line.c_str());
    std::ifstream file(out);
    return {WEXITSTATUS(status), {std::istreambuf_iterator<char>(file), {}}};
  }

  std::string Path(const std::string& name) const { return (home_ / name).string(); }

  fs::path home_;
};

TEST_F(CompilerSandboxTest, WhatIsGivenIsRead) {
  const Ended ended = Run("cat " + Path("given/file"));
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.said, "the words of given\n");
}

TEST_F(CompilerSandboxTest, ItsOwnDirectoryIsWritten) {
  const Ended ended = Run("cp " + Path("given/file") + " " + Path("mine/copy") + " && mkdir " +
                          Path("mine/new") + " && rm " + Path("mine/file") + " && : > /dev/null");
  EXPECT_EQ(ended.said, "");
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(fs::exists(home_ / "mine/copy"));
  EXPECT_FALSE(fs::exists(home_ / "mine/file"));
}

TEST_F(CompilerSandboxTest, NothingElseIsReadOrWritten) {
  if (!sealed::PathRules().available()) {
    EXPECT_EQ(Run("cat " + Path("secret/file")).code, 0) << "it runs, and sandbox_layers tells";
    return;
  }
  const std::vector<std::string> commands = {
      "cat " + Path("secret/file"),
      "cat " + Path("mine/../secret/file"),
      "ls " + Path("secret"),
      ": > " + Path("given/file"),
      ": > " + Path("secret/new"),
      "rm " + Path("given/file"),
      "ln -s " + Path("secret") + " " + Path("mine/link"),
      "cat /etc/passwd",
  };
  for (const std::string& command : commands) {
    const Ended ended = Run(command);
    EXPECT_NE(ended.code, 0) << command;
    EXPECT_EQ(ended.said.find("the words"), std::string::npos) << command;
    EXPECT_NE(ended.said.find("ermission denied"), std::string::npos) << ended.said;
  }
  EXPECT_EQ(Run("cat " + Path("given/file")).said, "the words of given\n");
}

TEST_F(CompilerSandboxTest, ABombMeetsLimits) {
  EXPECT_EQ(Run("ulimit -t; ulimit -c; ulimit -v; ulimit -f").said, "280\n0\n2097152\n524288\n");
}

TEST_F(CompilerSandboxTest, RootGivesItAUserOfItsOwn) {
  if (geteuid() != 0) return;  // only root has other users to give
  const std::string first = Run("id -u; id -g; id -G; umask 077; echo mine > " + Path("mine/file") +
                                " || rm " + Path("mine/file"))
                                .said;
  const std::string second = Run("id -u").said;
  const std::string user = first.substr(0, first.find('\n') + 1);
  EXPECT_GE(std::stoi(user), 20'000);
  EXPECT_EQ(first.substr(0, 3 * user.size()), user + user + user) << "no other group";
  EXPECT_NE(user, second) << "equal in one run of 40,000";
  EXPECT_FALSE(fs::exists(home_ / "mine/file")) << "the directory is its own, root's file is not";
  EXPECT_EQ(Run("ulimit -p").said, "64\n");
}

TEST_F(CompilerSandboxTest, ItsUserReadsNoFileOfRootAlone) {
  if (geteuid() != 0) return;  // only root has other users to give
  std::ofstream(home_ / "given/key") << "the words of root";
  fs::permissions(home_ / "given/key", fs::perms{0600});
  const Ended ended = Run("cat " + Path("given/key"));
  EXPECT_NE(ended.code, 0);
  EXPECT_EQ(ended.said.find("the words"), std::string::npos) << "a sandbox without Landlock";
}

TEST_F(CompilerSandboxTest, ItsOwnFailuresHaveACode) {
  EXPECT_EQ(Call("").code, kCannot);
  EXPECT_EQ(Call("--read /usr --").code, kCannot);
  const Ended ended = Call("--read /usr -- " + Path("no-compiler"));
  EXPECT_EQ(ended.code, kCannot);
  EXPECT_NE(ended.said.find("no-compiler: No such file"), std::string::npos) << ended.said;
  EXPECT_EQ(Run("exit 3").code, 3) << "the compiler's own code";
}

}  // namespace
}  // namespace depfast::sealed_tests
