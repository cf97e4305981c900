// Puts to etcd: its gRPC interface, a few connections to the leader, one thread that waits.
#include "etcd_target.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>

#include <algorithm>
#include <stdexcept>

#include "etcd.grpc.pb.h"

namespace depfast::load {
namespace {

using etcdserverpb::KV;
using etcdserverpb::Maintenance;

std::shared_ptr<grpc::Channel> Connect(const real::Endpoint& replica) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else all channels share a connection
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(real::ToString(replica), grpc::InsecureChannelCredentials(),
                                   arguments);
}

bool Leads(const real::Endpoint& replica) {
  const auto stub = Maintenance::NewStub(Connect(replica));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  etcdserverpb::StatusResponse status;
  return stub->Status(&context, {}, &status).ok() && status.leader() != 0 &&
         status.leader() == status.header().member_id();
}

real::Endpoint FindLeader(const std::vector<real::Endpoint>& replicas) {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (Clock::now() < deadline) {
    for (const auto& replica : replicas) {
      if (Leads(replica)) return replica;
    }
    poll(nullptr, 0, 20);
  }
  throw std::runtime_error("no member of etcd has led within 10 s");
}

class EtcdTarget final : public PutTarget {
 public:
  explicit EtcdTarget(const TargetOptions& options) {
    const auto leader = FindLeader(options.replicas);
    for (int i = 0; i < options.connections; ++i) {
      const auto channel = Connect(leader);
      if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5))) {
        throw std::runtime_error("cannot connect to etcd's leader");
      }
      stubs_.push_back(KV::NewStub(channel));
    }
  }

  ~EtcdTarget() override {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) delete static_cast<Call*>(tag);
  }

  void Start(std::uint64_t id, std::string_view key, std::string_view value) override {
    etcdserverpb::PutRequest request;
    request.set_key(key.data(), key.size());
    request.set_value(value.data(), value.size());
    auto* const call = new Call(id);  // the completion queue's until it comes back
    call->reader = stubs_[id % stubs_.size()]->AsyncPut(&call->context, request, &queue_);
    call->reader->Finish(&call->response, &call->status, call);
  }

  void Await(Clock::time_point until, std::vector<Ended>& ended) override {
    auto deadline = std::chrono::system_clock::now() +
                    std::chrono::duration_cast<std::chrono::system_clock::duration>(
                        std::max(until - Clock::now(), Clock::duration::zero()));
    void* tag = nullptr;
    bool ok = false;
    while (queue_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      ended.push_back({call->id, call->status.ok()});
      deadline = {};  // more only if it is here already
    }
  }

 private:
  struct Call {
    explicit Call(std::uint64_t number) : id(number) {}
    const std::uint64_t id;
    grpc::ClientContext context;
    etcdserverpb::PutResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::PutResponse>> reader;
  };

  std::vector<std::unique_ptr<KV::Stub>> stubs_;
  grpc::CompletionQueue queue_;
};

}  // namespace

std::unique_ptr<PutTarget> ConnectToEtcd(const TargetOptions& options) {
  return std::make_unique<EtcdTarget>(options);
}

}  // namespace depfast::load
