#include "faults.h"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

namespace depfast::measure {
namespace {

// Document 002, Table 2 (cpu, disk), and a delay that no quorum of the other replicas waits for.
constexpr int kCpuPercent = 5;
constexpr std::int64_t kDiskBytesPerSecond = 128 * 1024;
constexpr Duration kNetDelay = 400ms;

using Victims = std::vector<PeerId>;
using MakeFault = std::function<std::optional<sim::Fault>(Victims)>;

const std::map<std::string, MakeFault>& Faults() {
  static const std::map<std::string, MakeFault> kFaults = {
      {"none", [](const Victims&) { return std::nullopt; }},
      {"cpu-slow", [](Victims who) { return sim::CpuSlow(std::move(who), kCpuPercent); }},
      {"disk-slow", [](Victims who) { return sim::DiskSlow(std::move(who), kDiskBytesPerSecond); }},
      {"net-slow", [](Victims who) { return sim::NetSlow(std::move(who), kNetDelay); }},
      {"dead", [](Victims who) { return sim::CrashFault(std::move(who)); }},
  };
  return kFaults;
}

}  // namespace

std::vector<std::string> FaultNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Faults()) names.push_back(name);
  return names;
}

std::optional<sim::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims) {
  const auto found = Faults().find(name);
  if (found == Faults().end()) throw std::invalid_argument("unknown fault '" + name + "'");
  return found->second(std::move(victims));
}

}  // namespace depfast::measure
