#include "predict_profile.h"

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>

namespace depfast::predict {
namespace {

// Reads the members of one object, each once, and refuses what is left over.
class Reader {
 public:
  Reader(const boost::property_tree::ptree& whole, const std::string& name) : name_(name) {
    const auto found = whole.get_child_optional(name);
    if (!found) throw std::invalid_argument("'" + name + "' is missing");
    for (const auto& [member, value] : *found) members_.emplace(member, value.data());
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

  // What the simulator divides by, or cannot do without.
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
  std::int64_t WholeNumber(const std::string& member, const std::string& text) const {
    constexpr std::size_t kDigitsMax = 15;
    const bool digits = !text.empty() && text.size() <= kDigitsMax &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      throw std::invalid_argument("'" + name_ + "." + member + "' is '" + text +
                                  "', which is not a whole number below 10^15");
    }
    return std::stoll(text);
  }

  const std::string name_;
  std::map<std::string, std::string> members_;
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
  boost::property_tree::ptree whole;
  try {
    boost::property_tree::read_json(path, whole);
  } catch (const boost::property_tree::json_parser_error& error) {
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
