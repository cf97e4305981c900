// RealHost: a replica on real sockets, a real disk and a real clock.
//
// One thread runs the replica. A turn of its loop has five phases. It waits for events and reads
// the clock once. It delivers a bounded number of arrivals. It runs the runtime until every
// coroutine waits. It writes the sent frames with one system call per connection. It hands the
// submitted operations to the disk thread.
//
// A disk operation that fails ends the replica as a crash would: the host takes it out of service.
// Its code runs no more, so it acknowledges nothing that is not on disk, whether it looks at errors
// or not. The connections close, so the other replicas and the clients go on without it at once.
// The process stays: it says what has failed, and answers the client port's own commands. After a
// write for which there was no room the replica starts again from its files once there is room
// (EndsWithRoom in disk_failure.h). Otherwise an operator ends the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/probe.h"
#include "depfast/host/random.h"
#include "depfast/host/service.h"
#include "real/client_port.h"
#include "real/client_protocol.h"
#include "real/disk.h"
#include "real/endpoint.h"
#include "real/event_loop.h"
#include "real/fault_file.h"
#include "real/faulty_links.h"
#include "real/manifest.h"
#include "real/metrics.h"
#include "real/network.h"

namespace depfast::real {

struct RealHostOptions {
  PeerId self = 0;
  std::vector<Endpoint> replicas;  // the endpoint of each replica, this one included
  std::vector<int> groups = {};    // their sizes, see Groups; empty: one group
  std::string data_dir;            // created if missing, locked while the host lives

  // The cluster whose data the directory must hold (promised_files.h). Empty: any directory will
  // do, and a loss of what it has promised is not noticed.
  std::string cluster;

  // The seed of this replica's random stream; drawn from the kernel if not given.
  std::optional<std::uint64_t> seed;

  // A socket that listens already, which the host takes over (tests get a free port this way). -1:
  // the host makes one.
  int listen_fd = -1;

  // The protocol of clients on a client port, and that port's address or a socket that listens
  // already.
  std::optional<ClientProtocol> client_protocol;
  Endpoint client_endpoint;
  int client_listen_fd = -1;

  // SIGTERM and SIGINT stop the host, SIGUSR1 dumps the coroutines to stderr. The constructor
  // blocks these signals in its thread. Construct the host before other threads start: they inherit
  // the mask, so the signals reach the host.
  bool handle_signals = false;

  // See NetworkOptions.
  std::size_t held_bytes_max = std::size_t{64} << 20;
  std::size_t held_bytes_disconnected_max = std::size_t{1} << 20;
  Duration greeting_timeout = 3s;

  // A replica out of service looks for room on its disk at this interval (HasDiskSpace in
  // disk_space.h).
  Duration look_for_room_every = 1s;

  Probes probes = {};  // each outlives the host

  // Through this file another process injects faults of the disk and the network. Empty: none.
  std::string faults_file;

  // Called with the replica's counters as one line of JSON (metrics.h): when the replica starts,
  // every second, and when it has stopped. Empty: no metrics.
  std::function<void(const std::string& line)> on_metrics;

  std::function<void(const Observation&)> on_observe;                           // may be empty
  std::function<void(const std::string& line)> on_log;                          // empty: to stderr
  std::function<void(const std::string&)> on_dump;                              // empty: to stderr
  std::function<std::unique_ptr<FileOps>(const std::string& path)> open_files;  // empty: the disk's
};

// The replica's identity. Requires: the list of replicas is complete.
Identity IdentityOf(const RealHostOptions& options);

class RealHost final : private Host {
 public:
  using ServiceFactory = std::function<std::unique_ptr<Service>(Runtime&)>;

  // Listens and opens the data directory; makes the service, but does not start it. `make_service`
  // is called again when the replica starts again. Throws std::invalid_argument for a bad option,
  // std::system_error for a failed system call, and LostPromise if the replica must not start, each
  // with a one-line message.
  RealHost(RealHostOptions options, ServiceFactory make_service);
  // Requires: not running.
  ~RealHost() override;
  RealHost(const RealHost&) = delete;
  RealHost& operator=(const RealHost&) = delete;

  // Starts the service and runs the replica on this thread until Stop or, if signals are handled,
  // SIGTERM. Then a last step stops the service, coroutines end, submitted disk operations finish,
  // and connections close. An exception that escapes from the replica's code is rethrown after this
  // clean-up. So is LostPromise, if the replica shall return to service and must not. Call at most
  // once.
  void Run();

  // Both may be called from any thread, any time during the object's life.
  void Stop() { Ask(kStop); }
  void DumpCoroutines() { Ask(kDump); }

  // May be read from any thread.
  const RealHostCounters& counters() const { return counters_; }
  std::uint16_t port() const { return port_; }
  // 0 without a client protocol.
  std::uint16_t client_port() const { return client_port_; }

 private:
  enum Wish : unsigned { kStop = 1, kDump = 2 };

  Time Now() override { return now_; }
  std::uint64_t Random() override { return random_.Next(); }
  FrameId Send(PeerId peer, Bytes frame) override;
  void Release(PeerId peer, FrameId frame) override;
  std::size_t HeldBytes(PeerId peer) override;
  void Submit(IoRequest request) override;
  void WakeAt(Time when) override { wake_ = when; }
  void Observe(const Observation& observation) override;

  std::unique_ptr<FileOps> OpenFiles();
  void OpenDisk(std::unique_ptr<FileOps> files);
  void MakeReplica();
  void StartReplica();
  void StopReplica();
  bool IsInService() const { return failure_.empty(); }
  void TakeOutOfService(const DiskFailure& failure);
  void StepOutOfService();
  void ReturnToServiceIfThereIsRoom();
  void PrepareFaults();
  void PrepareLinks();
  void ReadFaults();
  // Lets what is on the wires of faulty links go on.
  void AdvanceLinks();
  void SendNow(PeerId peer, FrameId id, Bytes frame);
  void Ask(Wish wish);
  void Log(const std::string& line) const;
  void TakeOverSignals();
  void OpenClientPort();
  void Finish();
  void Turn();
  std::span<const epoll_event> WaitForEvents();
  void ArmTimer(Time when);
  void OnEvent(EventLoop::Token token, std::uint32_t events);
  void OnSignal();
  void FulfilWishes();
  void Step();
  // Whether anything was delivered or due.
  bool RunStep(std::vector<IoCompletion> completions);
  void EmitMetrics();
  bool DeliverArrivals(std::vector<IoCompletion> completions);
  void DeliverLink(PeerId replica, bool is_up);
  void Dump();

  const RealHostOptions options_;
  const ServiceFactory make_service_;
  RealHostCounters counters_;
  EventLoop loop_;
  Descriptor wish_event_;  // eventfd: wishes_ has changed
  Descriptor timer_;
  Descriptor signals_;  // valid only if signals are handled
  std::atomic<unsigned> wishes_{0};
  std::uint16_t port_ = 0;  // the port that the host listens on
  std::uint16_t client_port_ = 0;

  bool dead_ = false;          // set before stacks unwind: their output does not leave
  bool stopping_ = false;      // this turn is the last
  bool link_changed_ = false;  // in this step: the runtime was told
  Time now_{0};                // of this step
  Time wake_ = kNever;         // the runtime's wish; kNever once fulfilled
  Time armed_ = kNever;        // the time that the timer is set to
  Time started_{0};
  Time metrics_at_ = kNever;                       // the next line of metrics
  std::map<std::uint32_t, Observation> observed_;  // the latest of each kind
  RandomStream random_;
  std::shared_ptr<const FaultFile> faults_;  // null: no process injects faults
  Time read_faults_at_{0};                   // the next time
  std::optional<FaultyLinks> links_;         // if faults_
  FrameId last_frame_ = 0;
  std::vector<std::size_t> held_bytes_;  // by replica id, as Host::HeldBytes reports it
  std::deque<Bytes> to_self_;            // frames to this replica, for the next step

  std::string failure_;         // the operation that failed, in words; empty while in service
  Time try_again_at_ = kNever;  // when to look for room; kNever in service, or if that is no use

  std::optional<Disk> disk_;              // while in service, until Finish
  std::optional<Network> network_;        // until Finish
  std::optional<ClientPort> clients_;     // until Finish, if there is one
  std::optional<HostedRuntime> runtime_;  // while in service
  std::unique_ptr<Service> service_;      // while in service
};

}  // namespace depfast::real
