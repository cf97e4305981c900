#include "depfast/processor_meter.h"

#include "core/scheduler.h"
#include "depfast/runtime.h"

namespace depfast {

ProcessorMeter::ProcessorMeter(Runtime& runtime) { runtime.scheduler().AddProbe(this); }

void ProcessorMeter::OnStepEnd(const Runtime&, const StepUsage& usage) {
  cost_ += usage.cost;
  took_ += usage.took;
}

}  // namespace depfast
