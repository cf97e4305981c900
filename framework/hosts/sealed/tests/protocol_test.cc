// The messages between simulator and replica: decoding restores the encoded message, and malformed
// messages are refused.
#include "sealed/protocol.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "sim/trace.h"

namespace depfast::sealed {
namespace {

// A message without its length, which must be right.
std::string Strip(const std::string& message) {
  EXPECT_GE(message.size(), kLengthBytes);
  EXPECT_EQ(DecodeLength(message.data()), message.size() - kLengthBytes);
  return message.substr(kLengthBytes);
}

constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();

sim::StepInput SomeInput() {
  sim::StepInput input;
  input.now = 123456789ns;
  input.last_cost = 17us;
  input.last_took = 340us;
  input.frames.push_back({1, MakeBytes(std::string("nul \0 and \xff", 11))});
  input.frames.push_back({kFirstClient + 2, MakeBytes("")});
  input.completions.push_back({7, 2, nullptr});
  input.completions.push_back({kMax64, 0, MakeBytes("read")});
  input.held_bytes = {0, std::size_t{1} << 40, 3};
  return input;
}

sim::StepOutput SomeOutput() {
  sim::StepOutput output;
  IoRequest io;
  io.id = 3;
  io.kind = IoRequest::Kind::kRename;
  io.sync = true;
  io.file = "log";
  io.to = "old log";
  io.offset = kMax64;
  io.length = 9;
  output.outputs = {sim::SendFrame{1, 2, MakeBytes("frame")}, sim::ReleaseFrame{kMax64, 2}, io,
                    sim::SetWake{9us}, Observation{4, {1, 2, 3, kMax64}}};
  output.random_draws = 2;
  output.heap_bytes = 1'234'567;
  output.death = "of thirst";
  return output;
}

// All else that a step has, in words: see the tests of the trace.
std::string TraceOf(const sim::StepInput& input, const sim::StepOutput& output) {
  sim::Trace trace;
  std::string lines;
  trace.set_writer([&](const std::string& line) { lines += line + "\n"; });
  trace.Add(0, input);
  trace.Add(0, input.now, output);
  EXPECT_GT(trace.crossings(), 0U);
  return lines;
}

TEST(Protocol, BootKeepsEveryField) {
  sim::ReplicaConfig config;
  config.self = 3;
  config.replicas = 5;
  config.groups = {3, 2};
  config.random_seed = kMax64;
  config.probes = {"waits", "graph"};
  const std::string message = Strip(EncodeBoot(config));
  EXPECT_EQ(DecodeRequest(message), Request::kBoot);
  const sim::ReplicaConfig decoded = DecodeBoot(message);
  EXPECT_EQ(decoded.self, 3);
  EXPECT_EQ(decoded.replicas, 5);
  EXPECT_EQ(decoded.groups, config.groups);
  EXPECT_EQ(decoded.random_seed, kMax64);
  EXPECT_EQ(decoded.probes, config.probes);
}

TEST(Protocol, StepKeepsEveryField) {
  const std::string message = Strip(EncodeStep(SomeInput()));
  EXPECT_EQ(DecodeRequest(message), Request::kStep);
  const sim::StepInput decoded = DecodeStep(message);
  EXPECT_EQ(decoded.last_cost, 17us);
  EXPECT_EQ(decoded.last_took, 340us);
  EXPECT_EQ(TraceOf(decoded, {}), TraceOf(SomeInput(), {}));
}

TEST(Protocol, AHeapThatNoMachineHasIsRefused) {
  sim::StepOutput output;
  output.heap_bytes = sim::kHeapBytesMax;
  EXPECT_EQ(DecodeOutput(Strip(EncodeOutput(output))).heap_bytes, sim::kHeapBytesMax);
  ++output.heap_bytes;
  EXPECT_THROW(DecodeOutput(Strip(EncodeOutput(output))), ProtocolError);
}

TEST(Protocol, LongCrashMessagesAreCut) {
  sim::StepOutput output;
  output.death = std::string(kDeathBytesMax, 'x');
  EXPECT_EQ(DecodeOutput(Strip(EncodeOutput(output))).death, output.death);
  output.death += 'y';
  const std::string cut = std::string(kDeathBytesMax, 'x') + " ... (cut)";
  EXPECT_EQ(DecodeOutput(Strip(EncodeOutput(output))).death, cut);
}

TEST(Protocol, TooManyOutputsAreRefused) {
  sim::StepOutput output;
  output.outputs.assign(kOutputsMax, sim::SetWake{9us});
  EXPECT_EQ(DecodeOutput(Strip(EncodeOutput(output))).outputs.size(), kOutputsMax);
  output.outputs.push_back(sim::SetWake{9us});
  EXPECT_THROW(DecodeOutput(Strip(EncodeOutput(output))), ProtocolError);
}

// Each value needs memory before anything else of the message is looked at.
TEST(Protocol, NamesOfFilesArePlainAndShort) {
  const auto decoded = [](const std::string& file, const std::string& to) {
    IoRequest io;
    io.kind = IoRequest::Kind::kRename;
    io.file = file;
    io.to = to;
    sim::StepOutput output;
    output.outputs = {io};
    return DecodeOutput(Strip(EncodeOutput(output))).outputs.size();
  };
  const std::string longest(kNameBytesMax, 'n');
  EXPECT_EQ(decoded(longest, longest), 1U);
  EXPECT_THROW(decoded(longest + "n", "log"), ProtocolError);
  EXPECT_THROW(decoded("log", longest + "n"), ProtocolError);
  EXPECT_THROW(decoded("../log", "log"), ProtocolError);
  EXPECT_THROW(decoded("log", "/log"), ProtocolError);
}

TEST(Protocol, TooManyValuesAreRefusedAndLongBytesAreNot) {
  sim::StepOutput output;
  output.outputs = {sim::SendFrame{1, 2, MakeBytes(std::string(2 * kValuesMax, 'x'))}};
  EXPECT_EQ(DecodeOutput(Strip(EncodeOutput(output))).outputs.size(), 1U);
  const std::string nils(kValuesMax + 1, '\xc0');
  std::string array = {'\xdd', '\x00', '\x0f', '\x42', '\x41'};  // of 1,000,001 values
  try {
    DecodeOutput(array + nils);
    FAIL() << "it was decoded";
  } catch (const ProtocolError& error) {
    EXPECT_STREQ(error.what(), "a message of absurdly many values");
  }
  const std::string map = {'\xdf', '\x00', '\x07', '\xa1', '\x21'};  // of 500,001 pairs
  EXPECT_THROW(DecodeOutput(map + nils + '\xc0'), ProtocolError);
}

TEST(Protocol, OutputKeepsEveryField) {
  const sim::StepOutput decoded = DecodeOutput(Strip(EncodeOutput(SomeOutput())));
  EXPECT_EQ(decoded.heap_bytes, 1'234'567U);
  EXPECT_EQ(decoded.death, "of thirst");
  EXPECT_EQ(TraceOf({}, decoded), TraceOf({}, SomeOutput()));
}

TEST(Protocol, TextsAndNamesArrive) {
  EXPECT_EQ(DecodeText(Strip(EncodeText("a dump\nof lines"))), "a dump\nof lines");
  EXPECT_EQ(DecodeRequest(Strip(EncodePlain(Request::kDump))), Request::kDump);
  const std::string report = std::string("nul \0 and \xff", 11);
  EXPECT_EQ(DecodeText(Strip(EncodeText(report))), report);
  const std::string request = Strip(EncodeReportRequest("waits"));
  EXPECT_EQ(DecodeRequest(request), Request::kReport);
  EXPECT_EQ(DecodeReportRequest(request), "waits");
}

TEST(Protocol, ALengthIsLittleEndianAndUnsigned) {
  EXPECT_EQ(DecodeLength("\x01\x02\x03\x04"), 0x04030201U);
  EXPECT_EQ(DecodeLength("\xff\xff\xff\xff"), 0xffffffffU);
  EXPECT_EQ(DecodeAnswerLength("\0\0\0\x02"), kMessageBytesMax);
  EXPECT_THROW(DecodeAnswerLength("\x01\0\0\x02"), ProtocolError);
}

void Refused(const sim::StepOutput& output) {
  EXPECT_THROW(DecodeOutput(Strip(EncodeOutput(output))), ProtocolError);
}

TEST(Protocol, MalformedStepsAreRefused) {
  EXPECT_THROW(DecodeRequest(""), ProtocolError);
  EXPECT_THROW(DecodeRequest(Strip(EncodePlain(static_cast<Request>(4)))), ProtocolError);
  EXPECT_THROW(DecodeOutput(Strip(EncodeText("ok"))), ProtocolError);
  Refused({{sim::SendFrame{1, -1, MakeBytes("x")}}, 0, 0, ""});
  Refused({{sim::SendFrame{1, 0, nullptr}}, 0, 0, ""});
  Refused({{sim::SendFrame{1, 0, MakeBytes(std::string(kMaxFrameBytes + 1, 'x'))}}, 0, 0, ""});
  Refused({{sim::ReleaseFrame{1, -1}}, 0, 0, ""});
  IoRequest append;
  Refused({{append}, 0, 0, ""});  // of nothing
  IoRequest unknown;
  unknown.kind = static_cast<IoRequest::Kind>(5);
  unknown.data = MakeBytes("x");
  Refused({{unknown}, 0, 0, ""});
}

// ---- fuzzing ----

// Decodes as everything there is. Anything but a value or a ProtocolError ends the test.
int DecodeAll(const std::string& message) {
  int accepted = 0;
  const auto attempt = [&](const auto& decode) {
    try {
      decode(message);
      ++accepted;
    } catch (const ProtocolError&) {
    }
  };
  attempt([](std::string_view bytes) { DecodeRequest(bytes); });
  attempt([](std::string_view bytes) { DecodeBoot(bytes); });
  attempt([](std::string_view bytes) { DecodeStep(bytes); });
  attempt([](std::string_view bytes) { DecodeOutput(bytes); });
  attempt([](std::string_view bytes) { DecodeText(bytes); });
  attempt([](std::string_view bytes) { DecodeReportRequest(bytes); });
  return accepted;
}

std::string Mutate(std::string bytes, RandomStream& random) {
  const std::uint64_t changes = 1 + random.Below(4);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = random.Below(bytes.size());
    switch (random.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1, static_cast<char>(random.Below(256)));
        break;
      default:
        bytes += bytes.substr(at);
        break;
    }
  }
  return bytes;
}

TEST(ProtocolFuzz, MutatedMessagesAreValuesOrProtocolErrors) {
  const std::vector<std::string> seeds = {Strip(EncodeBoot({})),
                                          Strip(EncodeStep(SomeInput())),
                                          Strip(EncodeOutput(SomeOutput())),
                                          Strip(EncodeText("some text")),
                                          Strip(EncodeReportRequest("waits")),
                                          Strip(EncodePlain(Request::kDump))};
  RandomStream random(1);
  int accepted = 0;
  int decoded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string message = Mutate(seeds[random.Below(seeds.size())], random);
    accepted += DecodeAll(message) > 0 ? 1 : 0;
    ++decoded;
  }
  EXPECT_GT(accepted, decoded / 20) << "mutations that reach every depth";
  EXPECT_LT(accepted, decoded);
}

TEST(ProtocolFuzz, RandomBytesAreValuesOrProtocolErrors) {
  RandomStream random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random.Below(64), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    DecodeAll(bytes);
  }
}

TEST(ProtocolFuzz, EveryPrefixIsRefused) {
  const std::string whole = Strip(EncodeOutput(SomeOutput()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(DecodeOutput(whole.substr(0, size)), ProtocolError) << size;
  }
}

}  // namespace
}  // namespace depfast::sealed
