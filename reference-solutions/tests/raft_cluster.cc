#include "raft_cluster.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "raft_wal.h"

namespace depfast::raft {
namespace {

std::string Program() {
  const char* other = getenv("RAFT_PROGRAM");
  return other != nullptr ? other : LAB2_REAL;
}

}  // namespace

RaftCluster::RaftCluster(int replicas) : replicas_(static_cast<std::size_t>(replicas)) {
  for (Replica& replica : replicas_) {
    auto [socket, where] = real::ListenAnywhere();
    replica.listener = real::Descriptor(dup(socket.get()));  // without close-on-exec: for the child
    replica.endpoint = where;
    peers_ += (peers_.empty() ? "" : ",") + ToString(where);
  }
  for (int id = 0; id < replicas; ++id) Start(id);
}

void RaftCluster::Start(int id) {
  Replica& replica = At(id);
  replica.process.emplace(
      Program(),
      std::vector<std::string>{"--id", std::to_string(id), "--peers", peers_, "--data",
                               DataPath(id), "--listen-fd", std::to_string(replica.listener.get())},
      LogPath(id));
  replica.runs = true;
}

void RaftCluster::Kill(const std::vector<int>& ids) {
  for (const int id : ids) {
    At(id).process->Signal(SIGKILL);
    At(id).runs = false;
  }
  for (const int id : ids) At(id).process.reset();
}

int RaftCluster::AwaitEnd(int id) {
  const int status = At(id).process->Wait();
  At(id).process.reset();
  At(id).runs = false;
  return status;
}

std::string RaftCluster::WalPath(int id) const { return DataPath(id) + "/" + kWalFile; }

}  // namespace depfast::raft
