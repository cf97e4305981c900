#include "depfast/verify/unfinished_work.h"

#include <algorithm>

#include "depfast/host/frame.h"

namespace depfast {

void UnfinishedWork::Begin(const char* name, PeerId peer) {
  Count& count = CountOf(name, peer);
  count.most = std::max(count.most, ++count.now);
}

void UnfinishedWork::OnSpawn(const Runtime&, const Task& task) {
  Begin(task.name, UnfinishedRow::kNoPeer);
}

void UnfinishedWork::OnEnd(const Runtime&, const Task& task) {
  End(task.name, UnfinishedRow::kNoPeer);
}

void UnfinishedWork::OnCall(const Runtime&, const Task&, const RpcCall& call) {
  Begin(call.Label(), call.peer());
}

void UnfinishedWork::OnReply(const Runtime&, const RpcCall& call) {
  End(call.Label(), call.peer());
}

void UnfinishedWork::OnRelease(const Runtime&, const RpcCall& call) {
  End(call.Label(), call.peer());
}

std::vector<UnfinishedRow> UnfinishedWork::Rows() const {
  std::vector<UnfinishedRow> rows;
  for (const auto& [key, count] : counts_) {
    rows.push_back({key.first, key.second, count.now, count.most});
  }
  return rows;
}

std::string UnfinishedWork::Report(const Runtime&) const {
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, Rows());
  return bytes;
}

std::optional<std::vector<UnfinishedRow>> UnfinishedWork::Read(std::string_view report) {
  std::string error;
  return DecodeBody<std::vector<UnfinishedRow>>(report, error);
}

}  // namespace depfast
