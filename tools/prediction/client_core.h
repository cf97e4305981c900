// ClientCore: the processor time of the load generator.
//
// A simulated client is outside the world and computes for free. A real client is a process on a
// core. It sleeps until answers arrive, reads them all, hands them out, sends the next requests and
// sleeps again. Under load these turns are part of every latency.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/simulator.h"
#include "testkit/load.h"

namespace depfast::predict {

struct ClientCosts {
  // Of both, half when operations end and half when others are sent.
  Duration per_turn{0};
  Duration per_operation{0};
  Duration wake{0};  // until a core that had nothing to do begins
};

class ClientCore {
 public:
  // `inner` starts an operation at no cost. The simulator must outlive this.
  ClientCore(sim::Simulator& simulator, const ClientCosts& costs, testkit::Operation inner);
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  // The same operation at its cost. Good while this lives.
  testkit::Operation Operations();

 private:
  using Done = std::function<void(bool)>;
  struct Ended {
    Done done;
    bool ok;
  };

  // A turn: reports the puts that have ended, then sends the puts that are due.
  void WantTurn();
  void HandOut(std::size_t count);
  void Send(std::size_t count);
  Duration HalfTurn(std::size_t operations) const;

  sim::Simulator& simulator_;
  const ClientCosts costs_;
  const testkit::Operation inner_;
  bool busy_ = false;         // a turn is under way, or about to begin
  Time idle_since_{0};        // if not busy
  std::vector<Ended> ended_;  // not handed out
  std::vector<Done> wanted_;  // not sent
};

}  // namespace depfast::predict
