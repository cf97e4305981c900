// Prints "ready" and waits for a byte from the pipe GO. Then two threads sync a new file six times
// each, and say at the end whether the file HEALED was there already. The exit status is 7.
//
//   syncing_child FILE GO HEALED
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <thread>

int main(int, char** argv) {
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  const int go = open(argv[2], O_RDONLY);
  std::array<char, 4096> page{};
  std::fputs("ready\n", stderr);
  if (read(go, page.data(), 1) != 1) return 1;
  if (write(file, page.data(), page.size()) != ssize_t{page.size()}) return 1;
  const auto sync = [&] {
    for (int i = 0; i < 3; ++i) {
      if (fdatasync(file) != 0 || fsync(file) != 0) std::fputs("failed\n", stderr);
    }
    std::fputs(access(argv[3], F_OK) == 0 ? "late\n" : "early\n", stderr);
  };
  std::thread other(sync);
  sync();
  other.join();
  if (fdatasync(go) == 0) std::fputs("a pipe was synced\n", stderr);
  return 7;
}
