#include "replica_cluster.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace depfast::real {

std::string FromEnvironment(const char* name, const std::string& otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? text : otherwise;
}

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  return std::stoull(FromEnvironment(name, std::to_string(otherwise)));
}

ReplicaCluster::Port::Port() {
  auto [socket, where] = ListenAnywhere();
  listener = Descriptor(dup(socket.get()));  // without close-on-exec: for the child
  endpoint = where;
}

ReplicaCluster::ReplicaCluster(std::string program, const Options& options)
    : program_(std::move(program)),
      with_faults_(options.faults),
      replicas_(static_cast<std::size_t>(options.replicas)) {
  for (Replica& replica : replicas_) {
    if (options.redis) replica.redis.emplace();
    peers_ += (peers_.empty() ? "" : ",") + ToString(replica.port.endpoint);
  }
  for (int id = 0; id < options.replicas; ++id) Format(id);
  for (int id = 0; id < options.replicas; ++id) Start(id);
}

std::vector<std::string> ReplicaCluster::Flags(int id) const {
  return {"--id",   std::to_string(id), "--peers",   peers_,
          "--data", DataPath(id),       "--cluster", kName};
}

void ReplicaCluster::Format(int id) {
  auto flags = Flags(id);
  flags.push_back("--format");
  if (Process(program_, flags, LogPath(id)).Wait() != 0) throw std::runtime_error(LogOf(id));
}

void ReplicaCluster::Start(int id) {
  Replica& replica = At(id);
  const auto fd = [](const Port& port) { return std::to_string(port.listener.get()); };
  auto flags = Flags(id);
  flags.insert(flags.end(), {"--listen-fd", fd(replica.port)});
  if (replica.redis) flags.insert(flags.end(), {"--redis-listen-fd", fd(*replica.redis)});
  if (with_faults_) flags.insert(flags.end(), {"--faults", FaultsPath(id)});
  replica.process.emplace(program_, flags, LogPath(id));
  replica.runs = true;
}

void ReplicaCluster::Kill(const std::vector<int>& ids) {
  for (const int id : ids) {
    At(id).process->Signal(SIGKILL);
    At(id).runs = false;
  }
  for (const int id : ids) At(id).process.reset();
}

void ReplicaCluster::CutPower(const std::vector<int>& ids) {
  Kill(ids);
  for (const int id : ids) {
    Process cut(program_, {"--lose-unsynced", "--data", DataPath(id)}, LogPath(id));
    if (cut.Wait() != 0) throw std::runtime_error(LogOf(id));
  }
}

std::size_t ReplicaCluster::PeakBytes(int id) const {
  static constexpr std::string_view kPeak = "VmHWM:";
  const std::string status = Contents("/proc/" + std::to_string(At(id).process->pid()) + "/status");
  const std::size_t line = status.find(kPeak);
  if (line == std::string::npos) throw std::runtime_error("no VmHWM in /proc/PID/status");
  return std::stoul(status.substr(line + kPeak.size())) * 1024;
}

int ReplicaCluster::AwaitEnd(int id) {
  const int status = At(id).process->Wait();
  At(id).process.reset();
  At(id).runs = false;
  return status;
}

}  // namespace depfast::real
