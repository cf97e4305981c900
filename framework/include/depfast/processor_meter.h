// ProcessorMeter: the processor time of a replica's own steps, for the replica itself.
#pragma once

#include "depfast/host/probe.h"
#include "depfast/time.h"

namespace depfast {

// Adds up the steps that end while it lives. The real host measures steps by system calls, and only
// then.
class ProcessorMeter : public RuntimeProbe {
 public:
  // It must live as long as the runtime has steps: a member of the replica's service does.
  explicit ProcessorMeter(Runtime& runtime);
  ProcessorMeter(const ProcessorMeter&) = delete;
  ProcessorMeter& operator=(const ProcessorMeter&) = delete;

  // See StepUsage. `took` is longer than `cost` where the processor is slow or shared.
  Duration cost() const { return cost_; }
  Duration took() const { return took_; }

  void OnStepEnd(const Runtime& runtime, const StepUsage& usage) override;

 private:
  Duration cost_{0};
  Duration took_{0};
};

}  // namespace depfast
