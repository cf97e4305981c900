#include "sim/trace.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <sstream>
#include <string_view>

#include "depfast/host/frame.h"
#include "depfast/host/random.h"
#include "sim/trace_text.h"

namespace depfast::sim {
namespace {

// The kind of crossing that a hashed value begins.
enum class Tag : std::uint64_t {
  kStep = 1,
  kFrame,
  kCompletion,
  kHeld,
  kSend,
  kRelease,
  kSubmit,
  kWake,
  kObserve,
  kDraws,
  kDeath,
  kWorld,
};

std::uint64_t HashOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// "120 bytes, digest 8a0f...": different contents have different digests.
std::string Digest(const Bytes& bytes) {
  if (bytes == nullptr) return "no data";
  std::ostringstream text;
  text << bytes->size() << " bytes";
  if (!bytes->empty()) text << ", digest " << std::hex << HashOf(*bytes);
  return text.str();
}

std::uint64_t Unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::uint64_t Unsigned(Time time) { return Unsigned(time.count()); }

std::string Describe(const SendFrame& send) {
  return "send " + std::to_string(send.id) + " to " + std::to_string(send.to) + ": " +
         DescribeFrame(send.bytes);
}

std::string Describe(const ReleaseFrame& release) {
  return "release " + std::to_string(release.id) + " to " + std::to_string(release.to);
}

std::string Describe(const IoRequest& io) {
  std::string text = "io " + std::to_string(io.id) + " " + NameOf(io.kind) + " " + io.file;
  if (!io.to.empty()) text += " to " + io.to;
  if (io.offset != 0) text += ", offset " + std::to_string(io.offset);
  if (io.length != 0 && io.length != IoRequest::kToTheEnd)
    text += ", length " + std::to_string(io.length);
  return text + ", " + Digest(io.data) + (io.sync ? ", sync" : "");
}

std::string Describe(const SetWake& wake) { return "wake at " + std::to_string(wake.when.count()); }

std::string Describe(const Observation& seen) {
  std::string text = "observe " + std::to_string(seen.kind);
  for (const std::uint64_t value : seen.values) text += " " + std::to_string(value);
  return text;
}

}  // namespace

void Trace::Mix(std::uint64_t value) {
  hash_ = RandomStream::Mix(hash_ + 0x9e3779b97f4a7c15ULL + value);
}

void Trace::MixBytes(const Bytes& bytes) {
  Mix(bytes == nullptr ? 0 : HashOf(*bytes) ^ bytes->size());
}

void Trace::Add(PeerId replica, const StepInput& input) {
  Mix(static_cast<std::uint64_t>(Tag::kStep));
  Mix(Unsigned(replica));
  Mix(Unsigned(input.now));
  ++crossings_;
  if (writer_) {
    std::string text = "step";
    for (std::size_t to = 0; to < input.held_bytes.size(); ++to) {
      if (input.held_bytes[to] == 0) continue;
      text +=
          ", holds " + std::to_string(input.held_bytes[to]) + " bytes for " + std::to_string(to);
    }
    Write(replica, input.now, text);
  }
  for (const IoCompletion& done : input.completions) {
    Mix(static_cast<std::uint64_t>(Tag::kCompletion));
    Mix(done.id);
    Mix(Unsigned(done.error));
    MixBytes(done.data);
    ++crossings_;
    if (writer_) {
      Write(replica, input.now,
            "io " + std::to_string(done.id) + " done, error " + std::to_string(done.error) + ", " +
                Digest(done.data));
    }
  }
  for (const FrameArrival& frame : input.frames) {
    Mix(static_cast<std::uint64_t>(Tag::kFrame));
    Mix(Unsigned(frame.from));
    MixBytes(frame.bytes);
    ++crossings_;
    if (writer_) {
      Write(replica, input.now,
            "from " + std::to_string(frame.from) + ": " + DescribeFrame(frame.bytes));
    }
  }
  Mix(static_cast<std::uint64_t>(Tag::kHeld));
  for (const std::size_t held : input.held_bytes) Mix(held);
}

void Trace::Add(PeerId replica, Time now, const StepOutput& output) {
  for (const Output& one : output.outputs) AddOutput(replica, now, one);
  if (output.random_draws > 0) {
    Mix(static_cast<std::uint64_t>(Tag::kDraws));
    Mix(output.random_draws);
    crossings_ += output.random_draws;
    if (writer_) Write(replica, now, "drew " + std::to_string(output.random_draws) + " randoms");
  }
  if (!output.death.empty()) {
    // The words may hold an address or a process id: only that it died is part of the trace.
    Mix(static_cast<std::uint64_t>(Tag::kDeath));
    if (writer_) Write(replica, now, "died");
  }
}

void Trace::AddOutput(PeerId replica, Time now, const Output& output) {
  ++crossings_;
  std::visit([this](const auto& one) { MixOutput(one); }, output);
  if (writer_) {
    Write(replica, now, std::visit([](const auto& one) { return Describe(one); }, output));
  }
}

void Trace::MixOutput(const SendFrame& send) {
  Mix(static_cast<std::uint64_t>(Tag::kSend));
  Mix(send.id);
  Mix(Unsigned(send.to));
  MixBytes(send.bytes);
}

void Trace::MixOutput(const ReleaseFrame& release) {
  Mix(static_cast<std::uint64_t>(Tag::kRelease));
  Mix(release.id);
  Mix(Unsigned(release.to));
}

void Trace::MixOutput(const IoRequest& io) {
  Mix(static_cast<std::uint64_t>(Tag::kSubmit));
  Mix(io.id);
  Mix(static_cast<std::uint64_t>(io.kind) << 1 | (io.sync ? 1 : 0));
  Mix(HashOf(io.file));
  Mix(HashOf(io.to));
  Mix(io.offset);
  Mix(io.length);
  MixBytes(io.data);
}

void Trace::MixOutput(const SetWake& wake) {
  Mix(static_cast<std::uint64_t>(Tag::kWake));
  Mix(Unsigned(wake.when));
}

void Trace::MixOutput(const Observation& seen) {
  Mix(static_cast<std::uint64_t>(Tag::kObserve));
  Mix(seen.kind);
  for (const std::uint64_t value : seen.values) Mix(value);
}

void Trace::AddWorld(Time now, const std::string& what) {
  Mix(static_cast<std::uint64_t>(Tag::kWorld));
  Mix(Unsigned(now));
  Mix(HashOf(what));
  if (writer_) Write(-1, now, what);
}

void Trace::Write(PeerId replica, Time now, const std::string& text) {
  const std::string who = replica < 0 ? "world" : "replica " + std::to_string(replica);
  writer_(std::to_string(now.count()) + " ns " + who + " " + text);
}

std::string DescribeFrame(const Bytes& bytes) {
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (!frame) return "malformed frame (" + error + "), " + Digest(bytes);
  const FrameHeader& header = frame->header;
  return std::string(NameOf(header.kind)) + " method " + std::to_string(header.method) + " call " +
         std::to_string(header.call) + " for " + NameOf(header.dependency) + ": " +
         DescribeBody(frame->body) + ", " + Digest(bytes);
}

}  // namespace depfast::sim
