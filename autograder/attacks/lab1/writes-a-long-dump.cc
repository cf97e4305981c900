// Answers before main runs: no step, and 60 MB to the question where its coroutines wait.
// Stopped-by: the replica did not answer
#include <unistd.h>

#include <cstdint>
#include <string>

namespace {

void Number(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

void Give(const std::string& body) {
  std::string whole;
  for (int shift = 0; shift < 32; shift += 8) {
    whole += static_cast<char>(body.size() >> shift & 0xff);
  }
  whole += body;
  for (std::size_t at = 0; at < whole.size();) {
    const ssize_t put = write(4, whole.data() + at, whole.size() - at);
    if (put <= 0) _exit(0);
    at += static_cast<std::size_t>(put);
  }
}

void Take(char* to, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = read(3, to + at, size - at);
    if (got <= 0) _exit(0);
    at += static_cast<std::size_t>(got);
  }
}

std::string Asked() {
  unsigned char head[4];
  Take(reinterpret_cast<char*>(head), sizeof head);
  std::string body(head[0] | head[1] << 8 | head[2] << 16 | std::size_t{head[3]} << 24, '\0');
  Take(body.data(), body.size());
  return body;
}

[[noreturn]] void Answer() {
  std::string dump = "\x91\xdb";
  Number(dump, 60U << 20);
  dump.append(60U << 20, 'z');
  for (;;) {
    const std::string asked = Asked();
    switch (asked.size() > 1 ? asked[1] : 9) {
      case 0:
        Give(std::string("\x91\x00", 2));
        break;
      case 1:
        Give(std::string("\x94\x00\x00\xa0\x90", 5));
        break;
      default:
        Give(dump);
    }
  }
}

[[maybe_unused]] const int attack = (Answer(), 0);
}  // namespace
