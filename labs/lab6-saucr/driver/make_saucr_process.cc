// The replicated log of a process is the student's Saucr. The environment may name another interval
// of beats.
#include <charconv>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "replicated_log.h"
#include "saucr.h"

namespace depfast {
namespace {

// SAUCR_BEAT_US: in microseconds, 1 to 1'000'000; kBeat without it. Throws std::runtime_error, in
// one line, for anything else.
Duration AskedBeat() {
  const char* const text = std::getenv("SAUCR_BEAT_US");
  if (text == nullptr) return saucr::kBeat;
  const std::string word = text;
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  if (!is_number || number < 1 || number > 1'000'000) {
    throw std::runtime_error("SAUCR_BEAT_US is '" + word + "', and no number from 1 to 1000000");
  }
  return number * 1us;
}

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<saucr::Saucr>(runtime, machine, saucr::SaucrOptions{AskedBeat()});
}

}  // namespace depfast
