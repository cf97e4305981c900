// AskedDiagnosis: the diagnosis of the solution under test, asked of a replica.
#pragma once

#include <optional>
#include <vector>

#include "asked_replica.h"
#include "diagnosis_questions.h"

namespace depfast::adr {

class AskedDiagnosis : public AskedReplica {
 public:
  // See diagnosis.h. The answer to a question that was asked before is remembered.
  Suspicion Diagnose(PeerId self, const Levels& own, const std::vector<PeerReport>& peers,
                     int replicas) {
    return Ask(AskDiagnosis{self, own, peers, replicas}).suspicion;
  }
  bool SendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                        const std::vector<PeerReport>& peers, int replicas) {
    const std::int64_t since = since_named ? since_named->count() : -1;
    return Ask(AskSendsClientsAway{suspicion, since, peers, replicas}).sends_away;
  }
};

// For failure messages of GoogleTest.
void PrintTo(const Suspicion& suspicion, std::ostream* out);

}  // namespace depfast::adr
