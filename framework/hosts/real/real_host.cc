#include "real/real_host.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "real/disk_space.h"
#include "real/faulty_file_ops.h"
#include "real/promised_files.h"

namespace depfast::real {
namespace {

constexpr Duration kMetricsInterval = 1s;
constexpr Duration kReadFaultsEvery = 1ms;  // at most

constexpr EventLoop::Token kWishToken = 0;
constexpr EventLoop::Token kDiskToken = 1;
constexpr EventLoop::Token kTimerToken = 2;
constexpr EventLoop::Token kSignalToken = 3;
static_assert(kSignalToken < Network::kFirstToken);

RealHostOptions Validated(RealHostOptions options) {
  const auto require = [](bool good, const std::string& line) {
    if (!good) throw std::invalid_argument(line);
  };
  const auto count = options.replicas.size();
  require(count > 0, "the list of replicas is empty");
  require(count < kFirstClient, "the list has more than 999 replicas");
  require(options.self >= 0 && static_cast<std::size_t>(options.self) < count,
          "replica id " + std::to_string(options.self) + " is not in 0 .. " +
              std::to_string(count - 1));
  for (const Endpoint& endpoint : options.replicas) {
    require(!endpoint.host.empty() && endpoint.port != 0,
            "'" + ToString(endpoint) + "' lacks a host or a port");
  }
  require(!options.data_dir.empty(), "no data directory is given");
  require(options.held_bytes_max > 0, "held_bytes_max is 0: nothing could be sent");
  return options;
}

RuntimeOptions RuntimeOptionsOf(const RealHostOptions& options) {
  RuntimeOptions result;
  result.self = options.self;
  result.replicas = static_cast<int>(options.replicas.size());
  result.groups = options.groups;
  result.probes = options.probes;
  result.notes = [](const Runtime& runtime, std::string_view words) {
    std::fprintf(stderr, "replica %d notes: %.*s\n", runtime.address(),
                 static_cast<int>(words.size()), words.data());
  };
  return result;
}

NetworkOptions NetworkOptionsOf(const RealHostOptions& options) {
  NetworkOptions result;
  result.self = options.self;
  result.replicas = options.replicas;
  result.held_bytes_max = options.held_bytes_max;
  result.held_bytes_disconnected_max = options.held_bytes_disconnected_max;
  result.greeting_timeout = options.greeting_timeout;
  return result;
}

std::uint64_t SeedFromKernel() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) ThrowErrno("getrandom");
  return seed;
}

Time ReadClock(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Empties an eventfd or a timerfd.
void Drain(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(fd, &count, sizeof count);
}

}  // namespace

Identity IdentityOf(const RealHostOptions& options) {
  return {options.cluster, options.self, static_cast<int>(options.replicas.size())};
}

RealHost::RealHost(RealHostOptions options, ServiceFactory make_service)
    : options_(Validated(std::move(options))),
      make_service_(std::move(make_service)),
      wish_event_(Checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      timer_(Checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd")),
      now_(ReadClock()),
      random_(options_.seed ? *options_.seed : SeedFromKernel()),
      held_bytes_(options_.replicas.size()) {
  if (options_.handle_signals) TakeOverSignals();
  const auto self = static_cast<std::size_t>(options_.self);
  Descriptor listener =
      options_.listen_fd >= 0 ? Descriptor(options_.listen_fd) : Listen(options_.replicas[self]);
  port_ = PortOf(listener.get());
  if (!options_.faults_file.empty()) PrepareFaults();
  OpenDisk(OpenFiles());
  network_.emplace(
      NetworkOptionsOf(options_), std::move(listener), loop_, counters_.network,
      [this](const std::string& line) { Log(line); },
      [this](PeerId replica, bool is_up) { DeliverLink(replica, is_up); });
  if (options_.client_protocol) OpenClientPort();
  loop_.Watch(wish_event_.get(), EPOLLIN, kWishToken);
  loop_.Watch(timer_.get(), EPOLLIN, kTimerToken);
  MakeReplica();
}

RealHost::~RealHost() { Finish(); }

void RealHost::PrepareFaults() {
  faults_ = std::make_shared<const FaultFile>(options_.faults_file);
  PrepareLinks();
}

void RealHost::PrepareLinks() {
  links_.emplace(static_cast<PeerId>(options_.replicas.size()), options_.held_bytes_max,
                 RandomStream(SeedFromKernel()),
                 [this](PeerId to, Bytes frame) { SendNow(to, ++last_frame_, std::move(frame)); });
}

std::unique_ptr<FileOps> RealHost::OpenFiles() {
  auto files = options_.open_files ? options_.open_files(options_.data_dir)
                                   : OpenDataDirectory(options_.data_dir);
  if (!options_.cluster.empty()) {
    files = std::make_unique<PromisedFiles>(std::move(files), IdentityOf(options_));
  }
  if (faults_) {
    files = std::make_unique<FaultyFileOps>(std::move(files), options_.data_dir, faults_,
                                            RandomStream(SeedFromKernel()));
  }
  return files;
}

void RealHost::OpenDisk(std::unique_ptr<FileOps> files) {
  disk_.emplace(std::move(files), counters_.disk);
  loop_.Watch(disk_->completion_fd(), EPOLLIN, kDiskToken);
}

void RealHost::MakeReplica() {
  runtime_.emplace(static_cast<Host&>(*this), RuntimeOptionsOf(options_));
  runtime_->Enter([this] { service_ = make_service_(*runtime_); });
}

void RealHost::StartReplica() {
  runtime_->Start([this] { service_->Start(); });
  wake_ = now_;  // the first step runs without a delivery
}

// Deliveries of the last turn have had their step. This one has no other input.
void RealHost::StopReplica() {
  if (!IsInService()) return;
  runtime_->Enter([this] { service_->Stop(); });
  runtime_->Run();
  network_->Flush();
}

void RealHost::OpenClientPort() {
  Descriptor listener = options_.client_listen_fd >= 0 ? Descriptor(options_.client_listen_fd)
                                                       : Listen(options_.client_endpoint);
  clients_.emplace(*options_.client_protocol, options_.self, std::move(listener), loop_,
                   counters_.network, failure_);
  client_port_ = clients_->port();
  clients_->set_delay([this](PeerId client, std::string& answers) {
    if (!links_ || !links_->Carries(client)) return false;
    links_->Send(client, ++last_frame_, MakeBytes(std::move(answers)));
    return true;
  });
}

void RealHost::TakeOverSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = Checked(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd");
  loop_.Watch(signals_.get(), EPOLLIN, kSignalToken);
}

void RealHost::Run() {
  assert(!dead_ && "a host runs once");
  try {
    now_ = started_ = ReadClock();
    network_->OnTime(now_);
    StartReplica();
    Step();
    if (options_.on_metrics) metrics_at_ = now_;  // the first turn emits the first line
    while (!stopping_) Turn();
    StopReplica();
  } catch (...) {
    Finish();
    throw;
  }
  Finish();
}

void RealHost::Finish() {
  dead_ = true;
  if (runtime_) runtime_->Shutdown();
  disk_.reset();
  if (std::exchange(metrics_at_, kNever) != kNever) EmitMetrics();
  clients_.reset();
  network_.reset();
}

void RealHost::Turn() {
  const auto events = WaitForEvents();
  now_ = ReadClock();
  network_->OnTime(now_);
  if (clients_) clients_->OnTime(now_);
  for (const epoll_event& event : events) OnEvent(event.data.u64, event.events);
  counters_.turns.Add();
  Step();
  if (metrics_at_ <= now_) {
    metrics_at_ = now_ + kMetricsInterval;
    EmitMetrics();
  }
}

std::span<const epoll_event> RealHost::WaitForEvents() {
  Time when = std::min({wake_, network_->NextDeadline(), metrics_at_, try_again_at_});
  if (clients_) when = std::min(when, clients_->NextDeadline());
  if (links_) when = std::min(when, links_->NextDeadline());
  const bool backlog = network_->HasBacklog() || (clients_ && clients_->HasBacklog());
  const bool block = to_self_.empty() && !backlog && when > now_;
  if (block) {
    if (IsInService()) runtime_->Idle();
    ArmTimer(when);
  }
  return loop_.Wait(block);
}

void RealHost::ArmTimer(Time when) {
  if (when == armed_) return;
  itimerspec spec = {};
  if (when != kNever) {  // all zeros disarm it
    spec.it_value.tv_sec = when.count() / 1'000'000'000;
    spec.it_value.tv_nsec = when.count() % 1'000'000'000;
  }
  if (timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) {
    ThrowErrno("timerfd_settime");
  }
  armed_ = when;
}

void RealHost::OnEvent(EventLoop::Token token, std::uint32_t events) {
  switch (token) {
    case kWishToken:
      Drain(wish_event_.get());
      FulfilWishes();
      break;
    case kTimerToken:
      Drain(timer_.get());
      armed_ = kNever;
      break;
    case kSignalToken:
      OnSignal();
      break;
    case kDiskToken:  // every step takes completions
      break;
    default:
      if (clients_ && ClientPort::OwnsToken(token)) {
        clients_->OnEvent(token, events);
      } else {
        network_->OnEvent(token, events);
      }
  }
}

void RealHost::OnSignal() {
  signalfd_siginfo info = {};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGUSR1) {
      Dump();
    } else {
      stopping_ = true;
    }
  }
}

void RealHost::Ask(Wish wish) {
  wishes_.fetch_or(wish);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = write(wish_event_.get(), &one, sizeof one);
}

void RealHost::FulfilWishes() {
  const unsigned wishes = wishes_.exchange(0);
  if ((wishes & kDump) != 0) Dump();
  if ((wishes & kStop) != 0) stopping_ = true;
}

void RealHost::Dump() {
  const std::string text = "replica " + std::to_string(options_.self) + ": " +
                           (IsInService() ? runtime_->DumpCoroutines() : failure_ + "\n");
  if (options_.on_dump) {
    options_.on_dump(text);
  } else {
    std::fputs(text.c_str(), stderr);
  }
}

void RealHost::Log(const std::string& line) const {
  if (options_.on_log) {
    options_.on_log(line);
  } else {
    std::fprintf(stderr, "replica %d: %s\n", options_.self, line.c_str());
  }
}

void RealHost::Step() {
  if (!IsInService()) {
    StepOutOfService();
    return;
  }
  auto completions = disk_->TakeCompletions();
  if (const auto failure = disk_->failure()) {  // none of these completions is delivered
    TakeOutOfService(*failure);
    return;
  }
  if (!runtime_->wants_usage()) {
    RunStep(std::move(completions));
    return;
  }
  const Time began = ReadClock();
  const Time cost = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  if (!RunStep(std::move(completions))) return;
  runtime_->StepEnded({now_, ReadClock(CLOCK_THREAD_CPUTIME_ID) - cost, ReadClock() - began});
}

// ---- a disk that fails ----

// Frames of earlier steps may be lost with the replica's connections, as after a crash.
void RealHost::TakeOutOfService(const DiskFailure& failure) {
  failure_ = ToString(failure);
  const bool ends_with_room = EndsWithRoom(failure);
  Log("out of service, because a disk operation failed: " + failure_ +
      (ends_with_room ? "; it starts again once there is room"
                      : "; end this process, and look at the disk before you start it again"));
  dead_ = true;
  runtime_->Shutdown();
  service_.reset();
  runtime_.reset();
  disk_.reset();
  network_->TakeOutOfService();
  if (clients_) clients_->CloseAll();
  if (links_) PrepareLinks();
  to_self_.clear();
  observed_.clear();
  std::fill(held_bytes_.begin(), held_bytes_.end(), 0);
  wake_ = kNever;
  if (ends_with_room) try_again_at_ = now_ + options_.look_for_room_every;
}

void RealHost::StepOutOfService() {
  const Network::Deliver nobody = [](PeerId, std::string_view) {};
  network_->Receive(nobody);
  if (clients_) {
    clients_->Receive(/*replica=*/nullptr);
    clients_->Flush();
  }
  if (try_again_at_ <= now_) ReturnToServiceIfThereIsRoom();
}

void RealHost::ReturnToServiceIfThereIsRoom() {
  try_again_at_ = now_ + options_.look_for_room_every;
  try {
    auto files = OpenFiles();
    if (!HasDiskSpace(*files)) return;
    OpenDisk(std::move(files));
  } catch (const std::system_error&) {  // the directory cannot be opened: no room yet
    return;
  }
  try_again_at_ = kNever;
  failure_.clear();
  dead_ = false;
  Log("the disk has room again: the replica starts from its files");
  network_->ReturnToService();
  MakeReplica();
  StartReplica();
}

// ---- steps ----

bool RealHost::RunStep(std::vector<IoCompletion> completions) {
  if (links_) ReadFaults();
  for (std::size_t i = 0; i < held_bytes_.size(); ++i) {
    const auto peer = static_cast<PeerId>(i);
    held_bytes_[i] = network_->HeldBytes(peer) + (links_ ? links_->HeldBytes(peer) : 0);
  }
  const bool due = wake_ <= now_;
  if (due) wake_ = kNever;
  const bool runs = DeliverArrivals(std::move(completions)) || due;
  if (runs) {
    counters_.steps.Add();
    runtime_->Run();
  }
  if (links_) AdvanceLinks();
  network_->Flush();
  if (clients_) clients_->Flush();
  disk_->Flush();
  return runs;
}

void RealHost::AdvanceLinks() {
  if (clients_) clients_->Flush();  // its answers take the wires, too
  counters_.network.dropped_frames.Add(links_->Advance(now_));
}

void RealHost::ReadFaults() {
  if (now_ < read_faults_at_) return;
  links_->Set(faults_->At(now_));
  read_faults_at_ = now_ + kReadFaultsEvery;
}

void RealHost::EmitMetrics() {
  options_.on_metrics(MetricsLine(
      {options_.self, ReadClock() - started_, held_bytes_, &observed_, failure_}, counters_));
}

bool RealHost::DeliverArrivals(std::vector<IoCompletion> completions) {
  bool delivered = !completions.empty();
  for (IoCompletion& completion : completions) runtime_->DeliverIo(std::move(completion));
  for (const Bytes& frame : std::exchange(to_self_, {})) {
    runtime_->DeliverFrame(options_.self, *frame);
    delivered = true;
  }
  const Network::Deliver deliver = [this](PeerId from, std::string_view frame) {
    runtime_->DeliverFrame(from, frame);
  };
  link_changed_ = false;
  std::size_t frames = network_->Receive(deliver);
  if (clients_) {
    runtime_->Enter([&] { frames += clients_->Receive(&runtime_->rpc()); });
  }
  return delivered || frames > 0 || link_changed_;
}

void RealHost::DeliverLink(PeerId replica, bool is_up) {
  if (!IsInService()) return;
  runtime_->DeliverLink(replica, is_up);
  link_changed_ = true;
}

FrameId RealHost::Send(PeerId peer, Bytes frame) {
  assert(frame->size() <= kMaxFrameBytes);
  const FrameId id = ++last_frame_;
  if (dead_) return id;
  if (const auto index = static_cast<std::size_t>(peer); index < held_bytes_.size()) {
    held_bytes_[index] += frame->size();
  }
  if (peer == options_.self) {
    to_self_.push_back(std::move(frame));
  } else if (links_ && links_->Carries(peer)) {
    links_->Send(peer, id, std::move(frame));
  } else {
    SendNow(peer, id, std::move(frame));
  }
  return id;
}

void RealHost::SendNow(PeerId peer, FrameId id, Bytes frame) {
  if (clients_ && ClientPort::Owns(peer)) {
    clients_->Arrive(peer, *frame);
  } else {
    network_->Send(peer, id, std::move(frame));
  }
}

void RealHost::Release(PeerId peer, FrameId frame) {
  if (dead_) return;
  if (links_ && links_->Release(peer, frame)) {
    counters_.network.released_frames.Add();
  } else {
    network_->Release(peer, frame);
  }
}

std::size_t RealHost::HeldBytes(PeerId peer) {
  return held_bytes_.at(static_cast<std::size_t>(peer));
}

void RealHost::Submit(IoRequest request) {
  if (!dead_) disk_->Submit(std::move(request));
}

void RealHost::Observe(const Observation& observation) {
  if (dead_) return;
  counters_.observations.Add();
  observed_[observation.kind] = observation;
  if (options_.on_observe) options_.on_observe(observation);
}

}  // namespace depfast::real
