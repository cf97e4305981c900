#include "sim/disk_thread.h"

namespace depfast::sim {

void DiskThread::Start() {
  if (!disk_.idle() || !disk_.has_work()) return;
  const ReplicaEffects& effects = effects_.of(life_.replica);
  const BatchTime time = disk_.StartBatch(effects.disk_bytes_per_second, effects.operation_delay);
  const Time now = agenda_.now();
  const Duration total =
      time.total - time.device + quota_.Spend(now, time.device, effects.disk_quota_percent);
  agenda_.Push(now + total, Event::Kind::kBatchEnd, life_.replica, life_.epoch);
}

void DiskThread::OnBatchEnd() {
  finished_(disk_.FinishBatch(effects_.of(life_.replica).disk_trouble, on_rewrite_));
}

void DiskThread::Crash() {
  quota_ = {};
  disk_.Crash();
}

}  // namespace depfast::sim
