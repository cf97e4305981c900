// The protocol of a sealed replica and the simulator, over a pair of pipes.
//
// A message is a length in bytes (4 bytes, little endian) and MessagePack. The simulator
// speaks first. Each of its messages has one answer, in order. It waits for an answer before it
// sends again: lock-step. Only to a twin it sends many messages at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/step.h"

namespace depfast::sealed {

enum class Request : std::uint8_t { kBoot = 0, kStep = 1, kDump = 2, kReport = 3 };

// The file descriptors a replica's process is started with.
inline constexpr int kFromSimulator = 3;
inline constexpr int kToSimulator = 4;

inline constexpr std::size_t kLengthBytes = 4;
// A replica's message with more is malformed. The reference comes to 13 MB and 2,042 outputs in a
// step, in all graded tests and measurements. A value of a decoded message needs 24 times the
// memory of its byte.
inline constexpr std::size_t kMessageBytesMax = std::size_t{32} << 20;
inline constexpr std::size_t kValuesMax = 1'000'000;
inline constexpr std::size_t kOutputsMax = 100'000;  // of a step
inline constexpr std::size_t kDeathBytesMax = 4096;  // of a replica's last words: the rest is cut
inline constexpr std::size_t kNameBytesMax = 255;    // of a file, as on Linux

// A message of the other side does not decode.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Encoders return whole messages, length included.
std::string EncodeBoot(const sim::ReplicaConfig& config);
std::string EncodeStep(const sim::StepInput& input);
std::string EncodePlain(Request request);
std::string EncodeOutput(const sim::StepOutput& output);
std::string EncodeReportRequest(const std::string& probe);
std::string EncodeText(const std::string& text);  // of a dump, of a report

// Decoders take a message without its length. All throw ProtocolError.
Request DecodeRequest(std::string_view message);
sim::ReplicaConfig DecodeBoot(std::string_view message);
sim::StepInput DecodeStep(std::string_view message);
sim::StepOutput DecodeOutput(std::string_view message);
std::string DecodeReportRequest(std::string_view message);  // the probe's name
std::string DecodeText(std::string_view message);

// Decodes the kLengthBytes before a message.
std::size_t DecodeLength(const char* bytes);
// Throws ProtocolError above kMessageBytesMax.
std::size_t DecodeAnswerLength(const char* bytes);

}  // namespace depfast::sealed
