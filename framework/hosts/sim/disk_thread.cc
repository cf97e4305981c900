#include "sim/disk_thread.h"

namespace depfast::sim {

void DiskThread::Start() {
  if (under_way_ || !disk_.has_work()) return;
  under_way_ = true;
  ToCore();
}

void DiskThread::ToCore() {
  if (NeedsCore()) {
    processor_.Enter(Thread::kDisk);
  } else {
    OnCore();
  }
}

void DiskThread::OnCore() {
  const int waits = profile_.disk.waits_per_batch;
  if (disk_.idle()) {
    const ReplicaEffects& effects = effects_.of(life_.replica);
    time_ = disk_.StartBatch(effects.disk_bytes_per_second, effects.operation_delay);
    waits_ = waits;
  }
  const CpuModel& cpu = profile_.cpu;
  Duration whole = cpu.per_batch;
  if (time_.allocates) whole += cpu.per_growth;
  if (time_.changes_directory) whole += cpu.per_directory;
  const Duration part = whole / (waits + 1);
  if (part > Duration::zero()) {
    processor_.Occupy(Thread::kDisk, part);
  } else {
    OffCore();
  }
}

void DiskThread::OnCorePart() {
  if (processor_.IsDone(Thread::kDisk)) OffCore();
}

void DiskThread::OffCore() {
  if (NeedsCore()) processor_.Leave(Thread::kDisk);
  if (waits_ == 0) {
    Finish();
  } else if (SharesDevice()) {
    shared_->Enter(life_.replica, /*alone=*/time_.changes_directory);
  } else {
    BeginTransfer();
  }
}

void DiskThread::BeginTransfer() {
  const int waits = profile_.disk.waits_per_batch;
  const Duration device = time_.device / waits;
  const Time now = agenda_.now();
  const int percent = effects_.of(life_.replica).disk_quota_percent;
  const Duration total = time_.total / waits - device + quota_.Spend(now, device, percent);
  if (device < total && SharesDevice()) {
    agenda_.Push(now + device, Event::Kind::kDeviceFree, life_.replica, life_.epoch);
  }
  agenda_.Push(now + total, Event::Kind::kDeviceDone, life_.replica, life_.epoch);
}

void DiskThread::OnDeviceDone() {
  if (SharesDevice()) shared_->Leave(life_.replica);
  --waits_;
  ToCore();
}

void DiskThread::Finish() {
  under_way_ = false;
  finished_(disk_.FinishBatch(effects_.of(life_.replica).disk_trouble, on_rewrite_));
}

void DiskThread::Crash() {
  if (SharesDevice()) shared_->Leave(life_.replica);
  under_way_ = false;
  quota_ = {};
  disk_.Crash();
}

}  // namespace depfast::sim
