#include "sim/disk.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "faults/transfer_time.h"

namespace depfast::sim {
namespace {

std::size_t SizeOf(const IoRequest& request) { return request.data ? request.data->size() : 0; }

// Requires: the request is a read.
std::string_view PartToRead(const IoRequest& request, std::string_view file) {
  return file.substr(std::min<std::uint64_t>(request.offset, file.size()), request.length);
}

}  // namespace

std::size_t SimDisk::file_bytes() const {
  return std::accumulate(
      files_.begin(), files_.end(), std::size_t{0},
      [](std::size_t bytes, const auto& file) { return bytes + file.second.data.size(); });
}

void SimDisk::Submit(IoRequest request) {
  queued_bytes_ += SizeOf(request);
  queue_.push_back(std::move(request));
}

BatchTime SimDisk::StartBatch(std::int64_t bytes_per_second, Duration operation_delay) {
  assert(idle() && has_work());
  batch_ = std::exchange(queue_, {});
  std::size_t bytes = 0;
  bool sync = false;
  for (const IoRequest& request : batch_) {
    bytes += SizeOf(request);
    if (request.kind == IoRequest::Kind::kRead) {
      const auto file = files_.find(request.file);
      if (file != files_.end()) bytes += PartToRead(request, file->second.data).size();
    }
    sync = sync || request.sync;
  }
  Duration before_transfer = model_.per_batch;
  if (sync) before_transfer += model_.sync_jitter.Apply(model_.sync, stream_);
  const Duration without_fault =
      before_transfer +
      faults::TransferTime(static_cast<std::int64_t>(bytes), model_.bytes_per_second);
  const std::int64_t rate = bytes_per_second > 0 ? bytes_per_second : model_.bytes_per_second;
  const Duration total = before_transfer +
                         faults::TransferTime(static_cast<std::int64_t>(bytes), rate) +
                         operation_delay * static_cast<std::int64_t>(batch_.size());
  return {total, std::min(without_fault, total)};
}

std::vector<IoCompletion> SimDisk::FinishBatch(const DiskTrouble& trouble,
                                               const std::function<void()>& on_rewrite) {
  std::vector<IoCompletion> completions;
  completions.reserve(batch_.size());
  for (const IoRequest& request : batch_) {
    queued_bytes_ -= SizeOf(request);
    const bool fine = error_ == 0 && !trouble.any() && !fails_next_;
    completions.push_back(fine ? Apply(request) : ApplyInTrouble(request, trouble));
    if (request.sync) MakeDurable();  // with everything before it
    const bool rewritten = completions.back().error == 0 &&
                           request.kind != IoRequest::Kind::kAppend &&
                           request.kind != IoRequest::Kind::kRead;
    if (rewritten && on_rewrite) on_rewrite();
  }
  batch_.clear();
  return completions;
}

IoCompletion SimDisk::ApplyInTrouble(const IoRequest& request, const DiskTrouble& trouble) {
  if (error_ == 0) {
    if (request.kind == IoRequest::Kind::kRead) return Apply(request);
    const auto written = FailsAfter(request, trouble);
    if (!written) return Apply(request);
    if (*written > 0) {
      IoRequest part = request;
      part.data = MakeBytes(request.data->substr(0, *written));
      std::ignore = Apply(part);  // the operation has failed
    }
    MakeDurable();
  }
  return {request.id, error_, nullptr};
}

std::optional<std::size_t> SimDisk::FailsAfter(const IoRequest& request,
                                               const DiskTrouble& trouble) {
  const std::size_t size = SizeOf(request);
  if (IsToFail(request)) {
    error_ = fails_next_->error;
    const bool is_short = std::exchange(fails_next_, std::nullopt)->is_short;
    return is_short && size > 0 ? torn_.Below(size) : size;
  }
  if (trouble.capacity_bytes >= 0 && request.kind == IoRequest::Kind::kAppend) {
    const std::size_t used = file_bytes();
    const auto capacity = static_cast<std::size_t>(trouble.capacity_bytes);
    if (used + size > capacity) {
      error_ = ENOSPC;
      return capacity - std::min(capacity, used);
    }
  }
  if (torn_.Below(1000) >= static_cast<std::uint64_t>(trouble.error_permille)) return std::nullopt;
  error_ = EIO;
  // A short write, or a whole one whose sync fails.
  const bool short_write = torn_.Below(2) == 0;
  return short_write ? torn_.Below(size + 1) : size;
}

bool SimDisk::IsToFail(const IoRequest& request) const {
  if (!fails_next_ || request.kind != fails_next_->kind) return false;
  const bool renames = request.kind == IoRequest::Kind::kRename;
  return fails_next_->file == (renames ? request.to : request.file);
}

void SimDisk::FlipBit(const std::string& name, std::size_t byte) {
  File& file = files_.at(name);
  assert(byte < file.durable_bytes);
  file.data[byte] = static_cast<char>(file.data[byte] ^ 1);
  file.generation = ++last_generation_;
  file.damaged = true;
}

bool SimDisk::is_damaged() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](const auto& file) { return file.second.damaged; });
}

void SimDisk::MakeDurable() {
  for (auto& [name, file] : files_) file.durable_bytes = file.data.size();
}

IoCompletion SimDisk::Apply(const IoRequest& request) {
  IoCompletion completion{request.id, 0, nullptr};
  const auto found = files_.find(request.file);
  if (found == files_.end() && request.kind != IoRequest::Kind::kAppend) {
    completion.error = ENOENT;
    return completion;
  }
  switch (request.kind) {
    case IoRequest::Kind::kAppend:
      if (found == files_.end()) files_[request.file].generation = ++last_generation_;
      files_[request.file].data += *request.data;
      break;
    case IoRequest::Kind::kRead:
      completion.data = MakeBytes(std::string(PartToRead(request, found->second.data)));
      break;
    case IoRequest::Kind::kTruncate: {
      File& file = found->second;
      file.data.resize(std::min<std::size_t>(file.data.size(), request.length));
      file.durable_bytes = std::min(file.durable_bytes, file.data.size());
      file.generation = ++last_generation_;
      break;
    }
    case IoRequest::Kind::kRename: {
      File file = std::move(found->second);
      files_.erase(found);
      file.generation = ++last_generation_;
      files_[request.to] = std::move(file);
      break;
    }
    case IoRequest::Kind::kRemove:
      files_.erase(found);
      break;
  }
  return completion;
}

void SimDisk::TearBatch() {
  std::size_t bytes = 0;
  for (const IoRequest& request : batch_) bytes += SizeOf(request);
  std::size_t left = torn_.Below(bytes + 1);
  for (IoRequest& request : batch_) {
    const bool torn = SizeOf(request) > left;
    if (torn) request.data = MakeBytes(request.data->substr(0, left));
    left -= SizeOf(request);
    // Nobody is left to be told of the completion.
    if (SizeOf(request) > 0 || !torn) std::ignore = Apply(request);
    if (request.kind == IoRequest::Kind::kAppend && SizeOf(request) > 0) {
      File& file = files_.at(request.file);
      file.durable_bytes = file.data.size();
    }
    if (torn) return;
  }
}

void SimDisk::Crash() {
  if (!batch_.empty() && error_ == 0) TearBatch();
  queue_.clear();
  batch_.clear();
  queued_bytes_ = 0;
  error_ = 0;
  for (auto& [name, file] : files_) {
    file.data.resize(file.durable_bytes);
    file.generation = ++last_generation_;
  }
}

}  // namespace depfast::sim
