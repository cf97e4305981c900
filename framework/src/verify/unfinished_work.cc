#include "depfast/verify/unfinished_work.h"

#include "depfast/host/codec.h"

namespace depfast {

UnfinishedWork::Count& UnfinishedWork::Of(const RpcCall& call) {
  const auto name = names_.try_emplace(call.method(), call.Label()).first;
  return counts_[{name->second, call.peer(), call.method()}];
}

void UnfinishedWork::OnSpawn(const Runtime&, const Task& task) { Of(task).Begin(); }

void UnfinishedWork::OnEnd(const Runtime&, const Task& task) { Of(task).End(); }

void UnfinishedWork::OnCall(const Runtime&, const Task&, const RpcCall& call) { Of(call).Begin(); }

void UnfinishedWork::OnReply(const Runtime&, const RpcCall& call) { Of(call).End(); }

void UnfinishedWork::OnRelease(const Runtime&, const RpcCall& call) { Of(call).End(); }

std::vector<UnfinishedRow> UnfinishedWork::Rows() const {
  std::vector<UnfinishedRow> rows;
  for (const auto& [key, count] : counts_) {
    const auto& [name, peer, method] = key;
    rows.push_back({name, peer, count.now, count.most, method});
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
