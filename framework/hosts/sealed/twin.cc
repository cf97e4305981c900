#include "sealed/twin.h"

#include <array>
#include <cstdint>
#include <stdexcept>

#include "sealed/protocol.h"
#include "sim/trace.h"

namespace depfast::sealed {
namespace {

// The size of a batch, in both directions together.
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

// Takes the first message from `bytes`, its length included. Empty if it is not there whole.
std::string_view TakeMessage(std::string_view& bytes) {
  if (bytes.size() < kLengthBytes) return {};
  const std::size_t size = kLengthBytes + DecodeAnswerLength(bytes.data());
  if (bytes.size() < size) return {};
  const std::string_view message = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return message;
}

// The hash of the crossings in an answer to a step.
std::uint64_t HashOf(std::string_view answer) {
  sim::Trace trace;
  trace.Add(0, Time::zero(), DecodeOutput(answer.substr(kLengthBytes)));
  return trace.hash();
}

}  // namespace

Twin::Twin(const SealedOptions& options, const Sandbox& sandbox)
    : options_(options), sandbox_(sandbox) {}

Twin::~Twin() {
  Guard([this] { Compare(); });
}

void Twin::Follow(std::string_view message, std::string_view answer, bool is_step) {
  if (is_over_) return;
  messages_ += message;
  answers_ += answer;
  is_step_.push_back(is_step);
  if (messages_.size() + answers_.size() >= kBatchBytes) Guard([this] { Compare(); });
}

void Twin::FollowToTheEnd(std::string_view message) {
  Guard([this] { Compare(); });  // first: a process that ends loses the answers it has not sent
  messages_ = message;
  is_step_ = {true};
  Guard([this] { ExpectEnd(); });
}

// Once the twin differs, its answers mean nothing.
void Twin::Guard(const std::function<void()>& action) {
  if (is_over_) return;
  try {
    action();
  } catch (const ProtocolError&) {
    Differ();
  } catch (const Death&) {
    process_->was_killed() ? End("the machine killed a twin: no memory is left") : Differ();
  } catch (const std::runtime_error& error) {
    End(error.what());
  }
}

void Twin::Differ() {
  options_.findings->twins_differ = true;
  End("");
}

void Twin::End(const std::string& unable) {
  if (options_.findings->twins_unable.empty()) options_.findings->twins_unable = unable;
  is_over_ = true;
  process_.reset();
}

void Twin::Compare() {
  if (is_step_.empty()) return;
  if (options_.findings->one_ran_away) return End("");  // the twin would run away, too
  Exchange();
  if (!SameAnswers()) Differ();
  messages_.clear();
  answers_.clear();
  is_step_.clear();
  received_.clear();
}

// Both directions at once: a twin that cannot write does not read.
void Twin::Exchange() {
  if (!process_) process_.emplace(options_, sandbox_, options_.twin_perturb);
  process_->BeginStep();
  std::string_view unsent = messages_;
  std::size_t taken = 0;  // bytes of received_, in whole answers
  for (std::size_t answers = 0; answers < is_step_.size();) {
    unsent.remove_prefix(unsent.empty() ? 0 : process_->Write(unsent));
    if (!ReceiveSome()) {
      unsent.empty() ? process_->WaitForAnswer() : process_->WaitForEither();
      continue;
    }
    const std::size_t before = answers;
    std::string_view rest = std::string_view(received_).substr(taken);
    while (!TakeMessage(rest).empty()) ++answers;
    taken = received_.size() - rest.size();
    answers > before ? process_->BeginStep() : process_->CheckCpuSeconds();
  }
}

// Returns whether there was any.
bool Twin::ReceiveSome() {
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  static thread_local std::array<char, kBytes> buffer;
  const std::size_t got = process_->Read(buffer.data(), buffer.size());
  received_.append(buffer.data(), got);
  return got > 0;
}

bool Twin::SameAnswers() const {
  if (received_ == answers_) return true;
  // The encoding does not matter, nor what is for people: the crossings do.
  std::string_view mine = received_;
  std::string_view wanted = answers_;
  for (const bool is_step : is_step_) {
    const std::string_view answer = TakeMessage(mine);
    const std::string_view other = TakeMessage(wanted);
    if (is_step && answer != other && HashOf(answer) != HashOf(other)) return false;
  }
  return mine.empty();
}

void Twin::ExpectEnd() {
  try {
    Exchange();
    Differ();
  } catch (const Ended&) {
    End("");
  }
}

}  // namespace depfast::sealed
