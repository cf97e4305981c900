#include "depfast/verify/probes.h"

#include <stdexcept>

#include "depfast/verify/activity_probe.h"
#include "depfast/verify/fact_collector.h"
#include "depfast/verify/unfinished_work.h"
#include "depfast/verify/wait_statistics.h"

namespace depfast {

std::unique_ptr<ReportingProbe> MakeProbe(const std::string& name) {
  if (name == WaitStatistics::kName) return std::make_unique<WaitStatistics>();
  if (name == UnfinishedWork::kName) return std::make_unique<UnfinishedWork>();
  if (name == FactCollector::kName) return std::make_unique<FactCollector>();
  if (name == ActivityProbe::kName) return std::make_unique<ActivityProbe>();
  throw std::invalid_argument("there is no probe '" + name + "'");
}

}  // namespace depfast
