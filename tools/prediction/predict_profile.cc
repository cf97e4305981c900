#include "predict_profile.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace depfast::predict {
namespace {

using Json = nlohmann::json;

// Reads the members of one object, each once, and refuses the members that are left over.
class Reader {
 public:
  Reader(const Json& whole, const std::string& name) : name_(name) {
    const auto found = whole.find(name);
    if (found == whole.end()) throw std::invalid_argument("'" + name + "' is missing");
    members_ = found->get<std::map<std::string, Json>>();
  }

  template <typename Number>
  void Read(const std::string& member, Number& into) {
    const auto found = members_.find(member);
    if (found == members_.end()) {
      throw std::invalid_argument("'" + name_ + "." + member + "' is missing");
    }
    into = static_cast<Number>(WholeNumber(member, found->second));
    members_.erase(found);
  }
  void Read(const std::string& member, Duration& into) {
    std::int64_t ns = 0;
    Read(member + "_ns", ns);
    into = Duration(ns);
  }

  // For numbers that the simulator divides by or needs at least one of.
  template <typename Number>
  void ReadPositive(const std::string& member, Number& into) {
    Read(member, into);
    if (into == 0) throw std::invalid_argument("'" + name_ + "." + member + "' is 0");
  }

  void End() const {
    if (members_.empty()) return;
    throw std::invalid_argument("'" + name_ + "." + members_.begin()->first + "' is unknown");
  }

 private:
  std::int64_t WholeNumber(const std::string& member, const Json& value) const {
    constexpr std::uint64_t kLimit = 1'000'000'000'000'000;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kLimit) {
      throw std::invalid_argument("'" + name_ + "." + member + "' is '" + value.dump() +
                                  "', which is not a whole number below 10^15");
    }
    return value.get<std::int64_t>();
  }

  const std::string name_;
  std::map<std::string, Json> members_;
};

void ReadCpu(Reader reader, sim::CpuModel& cpu) {
  reader.Read("per_step", cpu.per_step);
  reader.Read("per_frame", cpu.per_frame);
  reader.Read("per_client_frame", cpu.per_client_frame);
  reader.Read("per_io", cpu.per_io);
  reader.Read("per_kib", cpu.per_kib);
  reader.Read("per_io_kib", cpu.per_io_kib);
  reader.ReadPositive("frames_per_connection_max", cpu.frames_per_connection_max);
  reader.ReadPositive("frames_per_step_max", cpu.frames_per_step_max);
  reader.Read("per_burst", cpu.per_burst);
  reader.Read("per_write", cpu.per_write);
  reader.Read("per_batch", cpu.per_batch);
  reader.Read("per_growth", cpu.per_growth);
  reader.Read("per_directory", cpu.per_directory);
  reader.Read("per_observation", cpu.per_observation);
  reader.Read("per_switch", cpu.per_switch);
  reader.Read("wake", cpu.wake);
  reader.End();
}

void ReadDisk(Reader reader, sim::DiskModel& disk) {
  reader.Read("per_batch", disk.per_batch);
  reader.Read("sync", disk.sync);
  reader.Read("sync_spread_permille", disk.sync_jitter.spread_permille);
  reader.Read("sync_tail_permille", disk.sync_jitter.tail_permille);
  reader.Read("sync_tail_factor", disk.sync_jitter.tail_factor);
  reader.ReadPositive("bytes_per_second", disk.bytes_per_second);
  reader.ReadPositive("parallel_batches", disk.parallel_batches);
  reader.ReadPositive("waits_per_batch", disk.waits_per_batch);
  reader.Read("growth", disk.growth);
  reader.Read("directory", disk.directory);
  reader.ReadPositive("block_bytes", disk.block_bytes);
  reader.End();
}

void ReadNet(Reader reader, sim::NetModel& net) {
  reader.Read("latency", net.latency);
  reader.Read("latency_spread_permille", net.latency_jitter.spread_permille);
  reader.Read("latency_tail_permille", net.latency_jitter.tail_permille);
  reader.Read("latency_tail_factor", net.latency_jitter.tail_factor);
  reader.ReadPositive("bytes_per_second", net.bytes_per_second);
  reader.ReadPositive("window_bytes", net.window_bytes);
  reader.End();
}

void ReadClient(Reader reader, ClientCosts& client) {
  reader.Read("per_turn", client.per_turn);
  reader.Read("per_operation", client.per_operation);
  reader.Read("wake", client.wake);
  reader.End();
}

}  // namespace

Machine ReadMachine(const std::string& path) {
  Json whole;
  try {
    whole = Json::parse(std::ifstream(path));
  } catch (const Json::exception& error) {
    throw std::invalid_argument("cannot read the profile: " + std::string(error.what()));
  }
  Machine machine;
  machine.profile.name = "calibrated";
  ReadCpu(Reader(whole, "cpu"), machine.profile.cpu);
  ReadDisk(Reader(whole, "disk"), machine.profile.disk);
  ReadNet(Reader(whole, "net"), machine.profile.net);
  ReadClient(Reader(whole, "client"), machine.client);
  return machine;
}

}  // namespace depfast::predict
