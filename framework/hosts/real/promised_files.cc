#include "real/promised_files.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace depfast::real {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

// The hash of the bytes so far.
class RunningHash {
 public:
  RunningHash() { XXH3_64bits_reset(&state_); }
  void Add(std::string_view bytes) {
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
    length_ += bytes.size();
  }
  std::uint64_t length() const { return length_; }
  Promise Now() const { return {length_, XXH3_64bits_digest(&state_)}; }

 private:
  XXH3_state_t state_;
  std::uint64_t length_ = 0;
};

const Promise kNothing = RunningHash().Now();

[[noreturn]] void Throw(int error, const std::string& what) {
  throw std::system_error(-error, std::generic_category(), what);
}

// Reads the bytes [from, end) of the file, or those up to its end. Returns the negated errno, or 0.
int ForEachChunk(FileOps& ops, int fd, std::uint64_t from, std::uint64_t end,
                 const std::function<void(std::string_view)>& take) {
  std::string chunk(kChunkBytes, '\0');
  while (from < end) {
    const auto wanted = std::min<std::uint64_t>(chunk.size(), end - from);
    const ssize_t got = ops.Read(fd, chunk.data(), static_cast<std::size_t>(wanted), from);
    if (got == -EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    take(std::string_view(chunk).substr(0, static_cast<std::size_t>(got)));
    from += static_cast<std::uint64_t>(got);
  }
  return 0;
}

// Hashes on, up to `length` bytes of the file or its end.
int HashUpTo(FileOps& ops, int fd, std::uint64_t length, RunningHash& hash) {
  return ForEachChunk(ops, fd, hash.length(), length,
                      [&hash](std::string_view chunk) { hash.Add(chunk); });
}

int AppendWhole(FileOps& ops, int fd, std::string bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const iovec piece{bytes.data() + at, bytes.size() - at};
    const ssize_t written = ops.Append(fd, {&piece, 1});
    if (written == -EINTR) continue;
    if (written <= 0) return written < 0 ? static_cast<int>(written) : -EIO;
    at += static_cast<std::size_t>(written);
  }
  return 0;
}

// Makes the file under the name kNewManifestFile, and gives it its own name. Returns its
// descriptor, or the negated errno.
int WriteManifest(FileOps& ops, const std::string& records) {
  if (const int error = ops.Remove(kNewManifestFile); error != 0 && error != -ENOENT) return error;
  const int fd = ops.Open(kNewManifestFile, /*create=*/true);
  if (fd < 0) return fd;
  int error = ops.Reserve(fd, PromisedFiles::kManifestBytesMax);
  if (error == 0) error = AppendWhole(ops, fd, records);
  if (error == 0) error = ops.Sync(fd);
  if (error == 0) error = ops.Rename(kNewManifestFile, kManifestFile);
  if (error == 0) error = ops.SyncDirectory();
  if (error == 0) return fd;
  ops.Close(fd);
  return error;
}

std::string WhyLost(const std::string& name, std::uint64_t size,
                    const std::vector<Promise>& holds) {
  std::uint64_t least = holds.front().length;
  for (const Promise& each : holds) least = std::min(least, each.length);
  const std::string synced = std::to_string(least) + " bytes that were synced";
  if (size < least) return name + " has only " + std::to_string(size) + " of the " + synced;
  return name + " is damaged: some of its first " + synced + " have changed";
}

[[noreturn]] void Lose(const std::string& why) {
  throw LostPromise("the disk has lost what this replica had promised: " + why);
}

Manifest ManifestIn(FileOps& ops) {
  const int fd = ops.Open(kManifestFile, /*create=*/false);
  if (fd == -ENOENT) {
    throw LostPromise("the data directory has no identity: " + std::string(kManifestFile) +
                      " is missing, and with it what this replica had promised");
  }
  if (fd < 0) Throw(fd, std::string("cannot open ") + kManifestFile);
  std::string bytes;
  const int error =
      ForEachChunk(ops, fd, 0, kToTheEnd, [&](std::string_view chunk) { bytes += chunk; });
  ops.Close(fd);
  if (error != 0) Throw(error, std::string("cannot read ") + kManifestFile);
  Manifest manifest;
  std::ignore = manifest.Read(bytes);
  return manifest;
}

// A file that has lost no promise.
struct CheckedFile {
  RunningHash written;
  Promise kept = kNothing;  // the longest promise that holds
};

// Compares the file with the manifest. Nothing: it may be missing, and is.
std::optional<CheckedFile> Check(FileOps& ops, const std::string& name,
                                 const Manifest::MayBe& may_be) {
  const int fd = ops.Open(name, /*create=*/false);
  if (fd == -ENOENT) {
    if (may_be.gone) return std::nullopt;
    Lose(name + " is missing");
  }
  if (fd < 0) Throw(fd, "cannot open " + name);
  auto promises = may_be.holds;
  std::sort(promises.begin(), promises.end(),
            [](const Promise& one, const Promise& other) { return one.length < other.length; });
  CheckedFile file;
  bool holds = promises.empty();
  int error = 0;
  for (const Promise& promise : promises) {
    if (error == 0) error = HashUpTo(ops, fd, promise.length, file.written);
    if (file.written.Now() != promise) continue;
    file.kept = promise;
    holds = true;
  }
  if (error == 0) error = HashUpTo(ops, fd, kToTheEnd, file.written);
  ops.Close(fd);
  if (error != 0) Throw(error, "cannot read " + name);
  if (!holds) Lose(WhyLost(name, file.written.length(), promises));
  return file;
}

int Cut(FileOps& ops, const std::string& name, std::uint64_t length) {
  const int fd = ops.Open(name, /*create=*/false);
  if (fd < 0) return fd;
  const int error = ops.Truncate(fd, length);
  ops.Close(fd);
  return error;
}

}  // namespace

struct PromisedFiles::File {
  std::string name;
  RunningHash written;
  std::optional<Promise> synced;  // nothing: it was truncated, or never synced
  std::optional<Promise> told;    // the manifest says this and nothing else
};

void PromisedFiles::Format(FileOps& ops, const Identity& identity) {
  const int before = ops.Open(kManifestFile, /*create=*/false);
  if (before >= 0) ops.Close(before);
  const int fd = before >= 0 ? -EEXIST : WriteManifest(ops, EncodeIdentity(identity));
  if (fd < 0) Throw(fd, std::string("cannot make ") + kManifestFile);
  ops.Close(fd);
}

void PromisedFiles::LoseUnsynced(FileOps& ops, const std::vector<std::string>& names) {
  std::map<std::string, std::uint64_t> kept;  // bytes, by name
  for (const auto& [name, may_be] : ManifestIn(ops).files) {
    if (const auto file = Check(ops, name, may_be)) kept[name] = file->kept.length;
  }
  for (const std::string& name : names) {
    if (name == kManifestFile) continue;
    const auto found = kept.find(name);
    const int error = found == kept.end() ? ops.Remove(name) : Cut(ops, name, found->second);
    if (error != 0) Throw(error, "cannot cut " + name);
  }
}

// ---- the start ----

PromisedFiles::PromisedFiles(std::unique_ptr<FileOps> ops, const Identity& expected)
    : ops_(std::move(ops)) {
  ReadManifest(expected);
  for (auto& [name, file] : names_) {
    const int fd = ops_->Open(name, /*create=*/false);
    const int error = fd < 0 ? fd : ops_->Sync(fd);
    if (fd >= 0) ops_->Close(fd);
    if (error != 0) Throw(error, "cannot sync " + name);
    file->synced = file->written.Now();
  }
  if (const int error = ops_->SyncDirectory()) Throw(error, "cannot sync the data directory");
  if (const int error = RewriteManifest())
    Throw(error, std::string("cannot write ") + kManifestFile);
}

PromisedFiles::~PromisedFiles() {
  if (manifest_fd_ >= 0) ops_->Close(manifest_fd_);
}

void PromisedFiles::ReadManifest(const Identity& expected) {
  const Manifest manifest = ManifestIn(*ops_);
  identity_ = manifest.identity;
  if (identity_ != expected) {
    throw LostPromise("the data directory is that of " + ToString(identity_) + ", not of " +
                      ToString(expected));
  }
  for (const auto& [name, may_be] : manifest.files) {
    const auto checked = Check(*ops_, name, may_be);
    if (!checked) continue;
    names_[name] = std::make_shared<File>();
    names_[name]->name = name;
    names_[name]->written = checked->written;
  }
}

// ---- the manifest ----

int PromisedFiles::Say(const std::string& records) {
  if (broken_ == 0 && !records.empty()) broken_ = AppendWhole(*ops_, manifest_fd_, records);
  manifest_bytes_ += records.size();
  return broken_;
}

int PromisedFiles::SayDurably(const std::string& records) {
  if (records.empty()) return broken_;
  if (Say(records) == 0) broken_ = ops_->Sync(manifest_fd_);
  gone_.clear();
  return broken_;
}

int PromisedFiles::ForgetIfGone(const std::string& name) {
  return gone_.contains(name) ? SayDurably(EncodeGone(name)) : 0;
}

int PromisedFiles::SayPromises() {
  std::string records;
  for (auto& [name, file] : names_) {
    if (!file->synced || file->told == file->synced) continue;
    records += EncodeHolds(name, *file->synced);
    file->told = file->synced;
    promised_.insert(name);
  }
  for (auto name = promised_.begin(); name != promised_.end();) {
    const bool gone = !names_.contains(*name);
    if (gone) {
      records += EncodeGone(*name);
      gone_.insert(*name);
    }
    name = gone ? promised_.erase(name) : std::next(name);
  }
  if (Say(records) != 0) return broken_;
  return manifest_bytes_ > kManifestBytesMax && IsManifestExact() ? RewriteManifest() : 0;
}

// Whether the manifest gives one state of each file, and no choice.
bool PromisedFiles::IsManifestExact() const {
  return std::all_of(names_.begin(), names_.end(), [this](const auto& each) {
    return each.second->told || !promised_.contains(each.first);
  });
}

// Requires: the names are synced.
int PromisedFiles::RewriteManifest() {
  if (broken_ != 0) return broken_;
  std::string records = EncodeIdentity(identity_);
  promised_.clear();
  for (auto& [name, file] : names_) {
    if (!file->synced) continue;
    records += EncodeHolds(name, *file->synced);
    file->told = file->synced;
    promised_.insert(name);
  }
  const int fd = WriteManifest(*ops_, records);
  if (fd < 0) return broken_ = fd;
  if (manifest_fd_ >= 0) ops_->Close(manifest_fd_);
  manifest_fd_ = fd;
  manifest_bytes_ = records.size();
  gone_.clear();
  return 0;
}

// ---- operations ----

int PromisedFiles::Open(const std::string& name, bool create) {
  if (create && promised_.contains(name) && !names_.contains(name)) {  // it was there before
    if (const int error = SayDurably(EncodeMayHold(name, kNothing))) return error;
  }
  if (create) {
    if (const int error = ForgetIfGone(name)) return error;
  }
  const int fd = ops_->Open(name, create);
  if (fd < 0) return fd;
  std::shared_ptr<File>& file = names_[name];
  if (create || file == nullptr) {
    file = std::make_shared<File>();
    file->name = name;
    names_unsynced_ |= create;
    const int error = HashUpTo(*ops_, fd, kToTheEnd, file->written);
    if (error != 0) {
      ops_->Close(fd);
      names_.erase(name);
      return error;
    }
  }
  opened_[fd] = file;
  return fd;
}

void PromisedFiles::Close(int fd) {
  opened_.erase(fd);
  ops_->Close(fd);
}

ssize_t PromisedFiles::Append(int fd, std::span<const iovec> pieces) {
  const ssize_t written = ops_->Append(fd, pieces);
  std::size_t rest = written > 0 ? static_cast<std::size_t>(written) : 0;
  for (const iovec& piece : pieces) {
    const std::size_t part = std::min(rest, piece.iov_len);
    opened_.at(fd)->written.Add({static_cast<const char*>(piece.iov_base), part});
    rest -= part;
  }
  return written;
}

int PromisedFiles::Truncate(int fd, std::uint64_t length) {
  // A power cut must not take the file's name back, and leave the file short.
  if (names_unsynced_) {
    if (const int error = SyncDirectory()) return error;
  }
  File& file = *opened_.at(fd);
  RunningHash kept;
  if (const int error = HashUpTo(*ops_, fd, length, kept)) return error;
  file.synced = file.told = std::nullopt;
  if (promised_.contains(file.name)) {
    if (const int error = SayDurably(EncodeMayHold(file.name, kept.Now()))) return error;
  }
  const int error = ops_->Truncate(fd, length);
  if (error == 0) file.written = kept;
  return error;
}

int PromisedFiles::Sync(int fd) {
  if (const int error = ops_->Sync(fd)) return error;
  File& file = *opened_.at(fd);
  file.synced = file.written.Now();
  return names_unsynced_ ? broken_ : SayPromises();
}

int PromisedFiles::Rename(const std::string& from, const std::string& to) {
  const auto moved = names_.find(from);
  if (moved == names_.end() || from == to) return ops_->Rename(from, to);
  const std::shared_ptr<File> file = moved->second;
  if (!file->synced) file->synced = kNothing;
  const bool replaces = promised_.contains(to);
  const bool moves = promised_.contains(from);
  std::string intents;
  // A torn announcement must not insist on a name that is not there yet. Nor must a whole one on
  // a file that nothing was promised of.
  if (moves && !replaces) intents += EncodeMayBeGone(to) + EncodeMayHold(to, kNothing);
  if (replaces || moves) intents += EncodeMayHold(to, *file->synced);
  if (moves) intents += EncodeMayBeGone(from);
  if (const int error = SayDurably(intents)) return error;
  if (moves) promised_.insert(to);
  if (const int error = ForgetIfGone(to)) return error;
  if (const int error = ops_->Rename(from, to)) return error;
  names_unsynced_ = true;
  file->name = to;
  file->told = std::nullopt;
  names_.erase(moved);
  names_[to] = file;
  return 0;
}

int PromisedFiles::Remove(const std::string& name) {
  if (promised_.contains(name) && names_.contains(name)) {
    if (const int error = SayDurably(EncodeMayBeGone(name))) return error;
  }
  if (const int error = ops_->Remove(name)) return error;
  names_unsynced_ = true;
  names_.erase(name);
  return 0;
}

int PromisedFiles::SyncDirectory() {
  if (const int error = ops_->SyncDirectory()) return error;
  names_unsynced_ = false;
  return SayPromises();
}

}  // namespace depfast::real
