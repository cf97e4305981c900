// Questions to your diagnosis (diagnosis.h), for tests that run in another process. Given, not
// submitted.
#pragma once

#include <cstdint>
#include <vector>

#include "depfast/host/frame.h"
#include "levels.h"

namespace depfast::adr {

// The answer to either question.
struct DiagnosisAnswer {
  Suspicion suspicion = {};
  bool sends_away = false;
  DEPFAST_FIELDS(suspicion, sends_away)
};

// Answer: `suspicion`.
struct AskDiagnosis {
  using Reply = DiagnosisAnswer;
  static constexpr MethodId kMethod = 142;
  static constexpr const char* kName = "AskDiagnosis";
  PeerId self = 0;
  Levels own;
  std::vector<PeerReport> peers;
  std::int32_t replicas = 3;
  DEPFAST_FIELDS(self, own, peers, replicas)
};

// Answer: `sends_away`.
struct AskSendsClientsAway {
  using Reply = DiagnosisAnswer;
  static constexpr MethodId kMethod = 143;
  static constexpr const char* kName = "AskSendsClientsAway";
  Suspicion suspicion;
  std::int64_t since_named_ns = -1;  // negative: never
  std::vector<PeerReport> peers;
  std::int32_t replicas = 3;
  DEPFAST_FIELDS(suspicion, since_named_ns, peers, replicas)
};

}  // namespace depfast::adr
