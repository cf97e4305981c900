#include "real/disk_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace depfast::real {
namespace {

constexpr std::size_t kPiecesMax = 1024;  // of one writev (IOV_MAX)

bool IsAppendTo(const IoRequest& request, const std::string& file) {
  return request.kind == IoRequest::Kind::kAppend && request.file == file;
}

// A missing file is no failure, unless it was to be created: then its directory is missing.
bool IsFailure(DiskOperation operation, int error) {
  return error != 0 && (error != ENOENT || operation == DiskOperation::kCreate);
}

// Removes the first `bytes` of `pieces`. The pieces before `at` are removed already.
void Advance(std::vector<iovec>& pieces, std::size_t& at, std::size_t bytes) {
  while (bytes > 0) {
    iovec& piece = pieces[at];
    const std::size_t taken = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
    piece.iov_len -= taken;
    bytes -= taken;
    if (piece.iov_len == 0) ++at;
  }
}

}  // namespace

DiskFiles::DiskFiles(std::unique_ptr<FileOps> ops, DiskCounters& counters)
    : ops_(std::move(ops)), counters_(counters) {}

DiskFiles::~DiskFiles() {
  for (const auto& [name, file] : files_) ops_->Close(file.fd);
}

std::vector<IoCompletion> DiskFiles::Run(std::span<const IoRequest> batch) {
  std::vector<IoCompletion> completions;
  completions.reserve(batch.size());
  bool sync = false;
  for (std::size_t at = 0; at < batch.size();) {
    const IoRequest& request = batch[at];
    std::size_t count = 1;
    IoCompletion completion{request.id, 0, nullptr};
    if (request.kind == IoRequest::Kind::kAppend) {
      // Consecutive appends to one file are one write.
      while (at + count < batch.size() && IsAppendTo(batch[at + count], request.file)) ++count;
      completion.error = broken_ != 0 ? broken_ : AppendAll(request.file, batch.subspan(at, count));
    } else {
      completion.error = broken_ != 0 ? broken_ : RunOne(request, completion.data);
    }
    for (std::size_t i = at; i < at + count; ++i) {
      sync = sync || batch[i].sync;
      completion.id = batch[i].id;
      completions.push_back(completion);
    }
    at += count;
  }
  const int sync_error = sync ? SyncAll() : 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].sync && completions[i].error == 0) completions[i].error = sync_error;
    if (completions[i].error != 0) counters_.errors.Add();
  }
  counters_.batches.Add();
  counters_.operations.Add(batch.size());
  return completions;
}

int DiskFiles::RunOne(const IoRequest& request, Bytes& data) {
  switch (request.kind) {
    case IoRequest::Kind::kRead:
      return Read(request, data);
    case IoRequest::Kind::kTruncate:
      return Truncate(request.file, request.length);
    case IoRequest::Kind::kRename:
      return Rename(request.file, request.to);
    case IoRequest::Kind::kRemove:
      return Remove(request.file);
    case IoRequest::Kind::kAppend:
      break;
  }
  return EINVAL;
}

int DiskFiles::Note(DiskOperation operation, const std::string& file, int error) {
  if (IsFailure(operation, error) && !failure_) failure_ = {operation, file, error};
  return error;
}

int DiskFiles::Remember(DiskOperation operation, const std::string& file, int error) {
  if (IsFailure(operation, error) && broken_ == 0) broken_ = error;
  return Note(operation, file, error);
}

DiskFiles::File* DiskFiles::Find(const std::string& name, bool create, int& error) {
  const auto found = files_.find(name);
  if (found != files_.end()) return &found->second;
  File file;
  error = OpenAndSync(name, file);
  if (error == ENOENT && create) {
    file.fd = ops_->Open(name, /*create=*/true);
    error = Note(DiskOperation::kCreate, name, file.fd < 0 ? -file.fd : 0);
    directory_unsynced_ = true;
  }
  if (error != 0) return nullptr;
  return &files_.emplace(name, file).first->second;
}

// Data that a killed process wrote without a sync is readable, but a power cut may lose it. So this
// process syncs a file before it reads from the file and relies on the data.
int DiskFiles::OpenAndSync(const std::string& name, File& file) {
  file.fd = ops_->Open(name, /*create=*/false);
  if (file.fd < 0) return Note(DiskOperation::kOpen, name, -file.fd);
  file.unsynced = true;
  SyncFile(name, file);
  return 0;
}

void DiskFiles::Forget(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return;
  ops_->Close(found->second.fd);
  files_.erase(found);
}

int DiskFiles::AppendAll(const std::string& name, std::span<const IoRequest> run) {
  int error = 0;
  File* const file = Find(name, /*create=*/true, error);
  if (file == nullptr) return Remember(DiskOperation::kCreate, name, error);
  if (broken_ != 0) return broken_;  // the data of an earlier life could not be synced
  std::vector<iovec> pieces;
  pieces.reserve(run.size());
  for (const IoRequest& request : run) {
    if (request.data->empty()) continue;
    pieces.push_back({const_cast<char*>(request.data->data()), request.data->size()});
  }
  file->unsynced = true;
  return Remember(DiskOperation::kWrite, name, Write(*file, std::move(pieces)));
}

int DiskFiles::Write(File& file, std::vector<iovec> pieces) {
  for (std::size_t at = 0; at < pieces.size();) {
    const std::size_t count = std::min(kPiecesMax, pieces.size() - at);
    const ssize_t written = ops_->Append(file.fd, std::span(pieces).subspan(at, count));
    counters_.writes.Add();
    if (written == -EINTR) continue;
    if (written < 0) return static_cast<int>(-written);
    if (written == 0) return EIO;  // no progress and no error: do not spin
    counters_.bytes.Add(static_cast<std::uint64_t>(written));
    Advance(pieces, at, static_cast<std::size_t>(written));
  }
  return 0;
}

int DiskFiles::Read(const IoRequest& request, Bytes& data) {
  int error = 0;
  File* const file = Find(request.file, /*create=*/false, error);
  if (file == nullptr) return error;
  if (broken_ != 0) return broken_;  // the data of an earlier life could not be synced
  return Note(DiskOperation::kRead, request.file, ReadBytes(*file, request, data));
}

int DiskFiles::ReadBytes(const File& file, const IoRequest& request, Bytes& data) {
  const std::int64_t size = ops_->Size(file.fd);
  if (size < 0) return static_cast<int>(-size);
  const std::uint64_t end = static_cast<std::uint64_t>(size);
  const std::uint64_t from = std::min(request.offset, end);
  std::string bytes(static_cast<std::size_t>(std::min(request.length, end - from)), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ops_->Read(file.fd, bytes.data() + at, bytes.size() - at, from + at);
    if (got == -EINTR) continue;
    if (got < 0) return static_cast<int>(-got);
    if (got == 0) return EIO;  // the file has shrunk, although the data directory is locked
    at += static_cast<std::size_t>(got);
  }
  data = MakeBytes(std::move(bytes));
  return 0;
}

int DiskFiles::Truncate(const std::string& name, std::uint64_t length) {
  int error = 0;
  File* const file = Find(name, /*create=*/false, error);
  if (file == nullptr) return Remember(DiskOperation::kOpen, name, error);
  if (broken_ != 0) return broken_;  // as above
  const std::int64_t size = ops_->Size(file->fd);
  if (size < 0) return Remember(DiskOperation::kTruncate, name, static_cast<int>(-size));
  if (static_cast<std::uint64_t>(size) <= length) return 0;
  file->unsynced = true;
  return Remember(DiskOperation::kTruncate, name, -ops_->Truncate(file->fd, length));
}

int DiskFiles::Rename(const std::string& from, const std::string& to) {
  int error = 0;
  File* const file = Find(from, /*create=*/false, error);
  if (file == nullptr) return Remember(DiskOperation::kOpen, from, error);
  if (error = SyncFile(from, *file); error != 0) return error;
  error = Remember(DiskOperation::kRename, from, -ops_->Rename(from, to));
  if (error != 0) return error;
  directory_unsynced_ = true;
  if (from == to) return 0;
  Forget(to);
  files_.emplace(to, *file);
  files_.erase(from);
  return 0;
}

int DiskFiles::Remove(const std::string& name) {
  const int error = Remember(DiskOperation::kRemove, name, -ops_->Remove(name));
  if (error != 0) return error;
  directory_unsynced_ = true;
  Forget(name);
  return 0;
}

int DiskFiles::SyncFile(const std::string& name, File& file) {
  if (broken_ != 0 || !file.unsynced) return broken_;
  counters_.syncs.Add();
  file.unsynced = false;
  return Remember(DiskOperation::kSync, name, -ops_->Sync(file.fd));
}

int DiskFiles::SyncDirectory() {
  if (broken_ != 0 || !directory_unsynced_) return broken_;
  counters_.directory_syncs.Add();
  directory_unsynced_ = false;
  return Remember(DiskOperation::kSync, "the data directory", -ops_->SyncDirectory());
}

int DiskFiles::SyncAll() {
  for (auto& [name, file] : files_) SyncFile(name, file);
  SyncDirectory();
  return broken_;
}

}  // namespace depfast::real
