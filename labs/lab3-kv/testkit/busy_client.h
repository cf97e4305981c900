// BusyClient: a client that executes random commands, at most one at a time, until it may not go
// on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "kv_client.h"
#include "kv_world.h"

namespace depfast::kv {

class BusyClient {
 public:
  // Client number `who`, which gives an answer 500 ms and a command 2 s. `goes_on`: asked before
  // each command.
  BusyClient(KvWorld& world, int who, std::uint64_t seed, int targets,
             std::function<bool()> goes_on)
      : world_(world),
        who_(who),
        random_(seed, 800, static_cast<std::uint64_t>(who)),
        client_(world.cluster.simulator(),
                {.answer_timeout = 500ms, .give_up = 2s, .targets = targets}),
        goes_on_(std::move(goes_on)) {}

  KvClient& client() { return client_; }

  void Next() {
    is_idle_ = !goes_on_();
    if (is_idle_) return;
    world_.Start(client_, who_, RandomCommand(), [this](const KvOutcome& outcome) {
      known_ += outcome.is_known() ? 1 : 0;
      world_.cluster.simulator().At(world_.cluster.now() + random_.Below(Duration(60ms)),
                                    [this] { Next(); });
    });
  }

  bool is_idle() const { return is_idle_; }
  // The commands whose outcome is known.
  int known() const { return known_; }

 private:
  Command RandomCommand() {
    const std::string key = "k" + std::to_string(random_.Below(4));
    const std::string unique = std::to_string(who_) + "." + std::to_string(++commands_);
    const auto drawn = random_.Below(8);
    if (drawn < 3) return {"GET", key};
    if (drawn < 5) return {"SET", key, unique};
    if (drawn < 6) return {"GETSET", key, unique};
    return {drawn < 7 ? "INCR" : "GET", "n"};
  }

  KvWorld& world_;
  int who_;
  RandomStream random_;
  KvClient client_;
  std::function<bool()> goes_on_;
  int commands_ = 0;
  int known_ = 0;
  bool is_idle_ = false;
};

}  // namespace depfast::kv
