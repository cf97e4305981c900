#include "depfast/storage.h"

#include <cassert>
#include <utility>

namespace depfast {

std::shared_ptr<DiskEvent> Storage::Append(const std::string& file, std::string data, Sync sync) {
  IoRequest request;
  request.kind = IoRequest::Kind::kAppend;
  request.file = file;
  request.sync = sync == Sync::kYes;
  request.data = MakeBytes(std::move(data));
  return Submit(std::move(request));
}

std::shared_ptr<DiskEvent> Storage::Read(const std::string& file, std::uint64_t offset,
                                         std::uint64_t length) {
  IoRequest request;
  request.kind = IoRequest::Kind::kRead;
  request.file = file;
  request.offset = offset;
  request.length = length;
  return Submit(std::move(request));
}

std::shared_ptr<DiskEvent> Storage::Truncate(const std::string& file, std::uint64_t length) {
  IoRequest request;
  request.kind = IoRequest::Kind::kTruncate;
  request.file = file;
  request.length = length;
  request.sync = true;
  return Submit(std::move(request));
}

std::shared_ptr<DiskEvent> Storage::Rename(const std::string& from, const std::string& to) {
  IoRequest request;
  request.kind = IoRequest::Kind::kRename;
  request.file = from;
  request.to = to;
  request.sync = true;
  return Submit(std::move(request));
}

std::shared_ptr<DiskEvent> Storage::Remove(const std::string& file) {
  IoRequest request;
  request.kind = IoRequest::Kind::kRemove;
  request.file = file;
  request.sync = true;
  return Submit(std::move(request));
}

std::shared_ptr<DiskEvent> Storage::Submit(IoRequest request) {
  assert(!request.file.empty() && request.file.find('/') == std::string::npos);
  request.id = next_id_++;
  auto event = std::make_shared<DiskEvent>(request.kind, request.file);
  in_flight_.emplace(request.id, event);
  host_.Submit(std::move(request));
  return event;
}

void Storage::Deliver(IoCompletion completion) {
  const auto found = in_flight_.find(completion.id);
  if (found == in_flight_.end()) return;
  const auto event = std::move(found->second);
  in_flight_.erase(found);
  event->Complete(std::move(completion));
}

}  // namespace depfast
