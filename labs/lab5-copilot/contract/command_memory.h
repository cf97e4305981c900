// CommandMemory: which commands have run, and their results. Given, not submitted.
//
// A command is in both lanes, and runs once. A client numbers its requests upwards, and has at most
// kOutstanding of them under way: of each client the latest kOutstanding numbers are kept, and an
// older one counts as run. So a pilot that wakes after a long time repeats nothing. All replicas
// run the same commands in the same order, so all have the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace depfast::copilot {

// A name is the client's number above so many bits of the request's number.
inline constexpr int kRequestBits = 40;
inline constexpr std::size_t kOutstanding = 256;
inline constexpr std::size_t kClientsMax = 65536;

class CommandMemory {
 public:
  struct Result {
    std::uint64_t number = 0;  // of the command, in the order of all; 0: it is forgotten
    std::string text;
  };

  // Nothing if the command has not run.
  std::optional<Result> Find(std::uint64_t name) const;
  bool HasRun(std::uint64_t name) const { return Find(name).has_value(); }

  // Requires: !HasRun(name); `number` is larger than all before it.
  void Remember(std::uint64_t name, std::uint64_t number, std::string result);

  // All of it, as bytes for a snapshot. Decode throws std::runtime_error, in one line, for other
  // bytes; nothing is changed then.
  std::string Encode() const;
  void Decode(std::string_view bytes);

 private:
  struct Client {
    std::map<std::uint64_t, Result> results;  // by the request's number
    std::uint64_t forgotten = 0;              // requests up to this number
    std::uint64_t latest = 0;                 // the largest number of a command that has run
  };

  void ForgetOldestClient();

  std::map<std::uint64_t, Client> clients_;
  std::map<std::uint64_t, std::uint64_t> by_latest_;  // client by Client::latest
};

}  // namespace depfast::copilot
