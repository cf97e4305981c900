// ProbeScope: marks the time in which probes run, so that a host can tell their memory from the
// replica's.
#pragma once

namespace depfast {

class ProbeScope {
 public:
  ProbeScope() { active_ = true; }
  ~ProbeScope() { active_ = false; }
  ProbeScope(const ProbeScope&) = delete;
  ProbeScope& operator=(const ProbeScope&) = delete;

  static bool active() { return active_; }

 private:
  inline static thread_local bool active_ = false;
};

}  // namespace depfast
