// Durability: the rule by which an entry of a replicated log counts as committed. A checker asks
// it, so that a lab whose rule changes with a mode supplies a rule of its own.
#pragma once

#include <cstdint>
#include <string>

namespace depfast {

// The replicas that have held an entry: sets, with one bit for each replica.
struct Holders {
  std::uint64_t received = 0;  // in memory: empty unless the rule counts memory
  std::uint64_t synced = 0;    // in bytes of the disk that a crash keeps
};

class Durability {
 public:
  virtual ~Durability() = default;

  // Whether an entry counts where it was merely received, and whether it counts on disks. A checker
  // collects no facts that do not count. Each is always the same.
  virtual bool CountsMemory() const = 0;
  virtual bool CountsDisks() const = 0;

  // Whether an entry with these holders, in a log of `replicas` replicas, is committed now. Returns
  // why not, as a predicate of the entry; empty if it is.
  virtual std::string WhyNot(const Holders& holders, int replicas) const = 0;
};

// A majority, on their disks.
class OnDisks final : public Durability {
 public:
  bool CountsMemory() const override { return false; }
  bool CountsDisks() const override { return true; }
  std::string WhyNot(const Holders& holders, int replicas) const override;
};

// A majority, in their memory: before a log is on disks.
class InMemory final : public Durability {
 public:
  bool CountsMemory() const override { return true; }
  bool CountsDisks() const override { return false; }
  std::string WhyNot(const Holders& holders, int replicas) const override;
};

}  // namespace depfast
