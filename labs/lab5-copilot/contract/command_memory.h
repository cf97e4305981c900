// CommandMemory: the commands that have run, and their results. Given, not submitted.
//
// A command is in both lanes, and runs once. A client numbers its requests upwards, and has at most
// kOutstanding of them under way: of each client the latest kOutstanding numbers are kept, and an
// older one counts as run. So a pilot that wakes after a long time repeats nothing. All replicas
// run the same commands in the same order, so all have the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "depfast/fields.h"

namespace depfast::copilot {

// A name is the client's number above this many bits of the request's number.
inline constexpr int kRequestBits = 40;
inline constexpr std::size_t kOutstanding = 256;
inline constexpr std::size_t kClientsMax = 65536;

class CommandMemory {
 public:
  struct Result {
    std::uint64_t request = 0;  // the client's number of it
    std::uint64_t number = 0;   // of the command, in the order of all; 0: it is forgotten
    std::string text;
    DEPFAST_FIELDS(request, number, text)
  };

  CommandMemory() = default;
  // From the bytes of Encode.
  explicit CommandMemory(std::string_view encoded);
  // The whole memory, as bytes for a snapshot.
  std::string Encode() const;

  // Nothing if the command has not run.
  std::optional<Result> Find(std::uint64_t name) const;
  bool HasRun(std::uint64_t name) const { return Find(name).has_value(); }

  // Requires: !HasRun(name); `number` is larger than all before it.
  void Remember(std::uint64_t name, std::uint64_t number, std::string text);

 private:
  struct Client {
    std::uint64_t id = 0;
    std::uint64_t forgotten = 0;  // requests up to this number
    std::uint64_t latest = 0;     // the largest number of a command that has run
    std::deque<Result> results;   // by the request's number
    DEPFAST_FIELDS(id, forgotten, latest, results)
  };

  std::map<std::uint64_t, Client> clients_;           // by Client::id
  std::map<std::uint64_t, std::uint64_t> by_latest_;  // Client::id by Client::latest
};

}  // namespace depfast::copilot
