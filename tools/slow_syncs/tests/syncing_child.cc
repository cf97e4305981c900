// Prints "ready" and waits for a byte from the pipe GO. Then it writes to a new file, which two
// threads sync three times each. At the end they say whether the file HEALED was there already. The
// exit status is 7.
//
//   syncing_child FILE GO HEALED fsync|fdatasync
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <thread>

int main(int, char** argv) {
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  const int go = open(argv[2], O_RDONLY);
  std::array<char, 4096> page{};
  std::fputs("ready\n", stderr);
  if (read(go, page.data(), 1) != 1) return 1;
  if (write(file, page.data(), page.size()) != ssize_t{page.size()}) return 1;
  const auto sync = std::string_view(argv[4]) == "fsync" ? fsync : fdatasync;
  const auto sync_thrice = [&] {
    for (int i = 0; i < 3; ++i) {
      if (sync(file) != 0) std::fputs("failed\n", stderr);
    }
    std::fputs(access(argv[3], F_OK) == 0 ? "late\n" : "early\n", stderr);
  };
  std::thread other(sync_thrice);
  sync_thrice();
  other.join();
  if (sync(go) == 0 || errno != EINVAL) std::fputs("a pipe was synced\n", stderr);
  if (sync(-1) == 0 || errno != EBADF) std::fputs("nothing was synced\n", stderr);
  return 7;
}
