#include "sealed/sealed_backend.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sealed/protocol.h"
#include "sealed/replica_process.h"
#include "sealed/sandbox/sandbox.h"
#include "sealed/twin.h"

namespace depfast::sealed {
namespace {

class SealedBackend final : public sim::ReplicaBackend {
 public:
  SealedBackend(const SealedOptions& options, const Sandbox& sandbox,
                const sim::ReplicaConfig& config)
      : options_(options),
        boot_(EncodeBoot(config)),
        process_(options_, sandbox, options_.perturb) {
    if (options_.twin_perturb != 0) twin_.emplace(options_, sandbox);
  }

  sim::StepOutput Step(const sim::StepInput& input) override {
    try {
      if (!boot_.empty()) Boot();
      sim::StepOutput output = DecodeOutput(Ask(EncodeStep(input), Request::kStep));
      if (IsTimeForALook()) {
        process_.CheckResidentBytes();
        process_.CheckRunCpuSeconds();
      }
      return output;
    } catch (const ProtocolError& error) {
      return Dead(std::string("it spoke nonsense to the simulator (") + error.what() + ")");
    } catch (const Death& death) {
      return Dead(death.what());
    }
  }

  std::string DumpCoroutines() override {
    try {
      return DecodeText(Ask(EncodePlain(Request::kDump), Request::kDump));
    } catch (const std::runtime_error& error) {
      return std::string("no dump: ") + error.what() + "\n";
    }
  }

  std::size_t ResidentBytes() const override { return process_.ResidentBytes(); }

  std::string Report(const std::string& probe) override {
    try {
      return DecodeText(Ask(EncodeReportRequest(probe), Request::kReport));
    } catch (const std::runtime_error&) {
      return "";
    }
  }

 private:
  // An answer to the first message that was written before it came is none.
  void Boot() {
    const std::string_view answer = Ask(std::exchange(boot_, {}), Request::kBoot);
    if (DecodeRequest(answer) != Request::kBoot) throw ProtocolError("it has not started");
  }

  // Returns the answer without its length. The twin hears of both.
  std::string_view Ask(const std::string& message, Request request) {
    const std::string_view answer = AskProcess(message);
    if (twin_) twin_->Follow(message, answer, request == Request::kStep);
    return answer.substr(kLengthBytes);
  }

  std::string_view AskProcess(const std::string& message) {
    try {
      return process_.Ask(message);
    } catch (const Ended&) {
      if (twin_) twin_->FollowToTheEnd(message);
      throw;
    }
  }

  // Now and then: a look costs the time of a step. The clock tells only when to look.
  bool IsTimeForALook() {
    constexpr std::uint64_t kStepsBetweenLooks = 256;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const bool is_later = std::exchange(looked_, now.tv_sec) != now.tv_sec;
    return ++steps_ % kStepsBetweenLooks == 0 || is_later;
  }

  sim::StepOutput Dead(std::string why) {
    process_.Kill();
    sim::StepOutput output;
    output.death = std::move(why);
    return output;
  }

  const SealedOptions options_;
  std::string boot_;  // sent with the first step
  ReplicaProcess process_;
  std::optional<Twin> twin_;
  std::uint64_t steps_ = 0;
  std::time_t looked_ = 0;  // in which second
};

}  // namespace

std::string TwinsInWords(const Findings& findings) {
  if (findings.twins_differ) return "differ";
  return findings.twins_unable.empty() ? "same" : findings.twins_unable;
}

sim::BackendFactory SealedReplicas(const SealedOptions& options) {
  const auto sandbox = std::make_shared<const Sandbox>(options.program);
  return [options, sandbox](const sim::ReplicaConfig& config) {
    return std::make_unique<SealedBackend>(options, *sandbox, config);
  };
}

}  // namespace depfast::sealed
