// KvLoad: the commands of a measured load on the key-value store, and a check of their replies.
//
// Every SET has a value of its own, so a reply names the SET that it is true to. Two rules together
// make a reply to SET true: the log has applied the command, and later reads see it. A read is
// stale if its value was overwritten before the read began. This is linearizability of registers
// whose values are unique, without the order of overlapping writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "kv_client.h"
#include "log_checker.h"
#include "sim/simulator.h"
#include "subject.h"

namespace depfast::kv {

// The mixes of commands by name, with their reads in per cent. "set" and "get" have 5 % of the
// other command, as YCSB's workload B has, and "mixed" has half of each, as its workload A has.
const std::map<std::string, int>& Mixes();

class KvLoad {
 public:
  // `reads_percent`: 0 to 100. Both references outlive the load.
  KvLoad(sim::Simulator& simulator, const LogChecker& log, const ClientLoad& load,
         int reads_percent);

  // Executes one command. Calls `done` once: true if the command has a reply that is no error.
  void Execute(std::function<void(bool ok)> done);

  // The clients that stay at a replica while they get answers take their places again.
  void ReturnClients() { have_places_ = false; }

  // The first reply that was not true, as a sentence; empty if all were true.
  const std::string& untrue() const { return untrue_; }

 private:
  // A SET, or the state before the first one of a key.
  struct Write {
    Time begun{-1};
    Time seen = kNever;  // the first moment at which a client knew of its effect
  };
  struct Key {
    std::map<std::uint64_t, Write> writes{{0, Write{Time(-1), Time(-1)}}};  // by value
    Time latest_begin{-1};  // of the writes that clients know of: they overwrote all older ones
  };

  // The client of the next command. Clients at proposers know each new one. All others stay where
  // they are while they get answers.
  KvClient& NextClient();
  std::string TextOf(std::uint64_t value) const;
  // Nothing if no SET of this load wrote the text. A key without a value reads as 0.
  std::optional<std::uint64_t> ValueIn(const Reply& reply) const;
  void Set(const std::string& name, Key& key, std::function<void(bool ok)> done);
  void Get(const std::string& name, Key& key, std::function<void(bool ok)> done);
  void OnRead(const std::string& name, Key& key, Time begun, Time latest_begin, const Reply& reply);
  void Know(Key& key, Write& write);
  void Untrue(const std::string& sentence);

  sim::Simulator& simulator_;
  const LogChecker& log_;
  const ClientLoad load_;
  std::deque<KvClient> clients_;  // that take turns
  bool have_places_ = false;      // those that stay at a replica are there
  std::uint64_t commands_ = 0;
  RandomStream random_;
  const int reads_percent_;
  std::vector<Key> keys_;
  std::uint64_t values_ = 0;  // the latest value
  std::string untrue_;
};

}  // namespace depfast::kv
