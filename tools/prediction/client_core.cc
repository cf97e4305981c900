#include "client_core.h"

#include <cstdint>
#include <utility>

namespace depfast::predict {

ClientCore::ClientCore(sim::Simulator& simulator, const ClientCosts& costs,
                       testkit::Operation inner)
    : simulator_(simulator), costs_(costs), inner_(std::move(inner)) {}

testkit::Operation ClientCore::Operations() {
  return [this](Done done) {
    wanted_.push_back(std::move(done));
    WantTurn();
  };
}

Duration ClientCore::HalfTurn(std::size_t operations) const {
  return (costs_.per_turn + costs_.per_operation * static_cast<std::int64_t>(operations)) / 2;
}

void ClientCore::WantTurn() {
  if (std::exchange(busy_, true)) return;
  const Time now = simulator_.now();
  simulator_.At(idle_since_ < now ? now + costs_.wake : now, [this] {
    simulator_.At(simulator_.now() + HalfTurn(ended_.size()),
                  [this, count = ended_.size()] { HandOut(count); });
  });
}

void ClientCore::HandOut(std::size_t count) {
  const auto first_left = ended_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Ended> now(std::move_iterator(ended_.begin()), std::move_iterator(first_left));
  ended_.erase(ended_.begin(), first_left);
  for (Ended& each : now) each.done(each.ok);
  simulator_.At(simulator_.now() + HalfTurn(wanted_.size()),
                [this, count = wanted_.size()] { Send(count); });
}

void ClientCore::Send(std::size_t count) {
  const auto first_left = wanted_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Done> now(std::move_iterator(wanted_.begin()), std::move_iterator(first_left));
  wanted_.erase(wanted_.begin(), first_left);
  for (Done& done : now) {
    inner_([this, done = std::move(done)](bool ok) {
      ended_.push_back({done, ok});
      WantTurn();
    });
  }
  busy_ = false;
  idle_since_ = simulator_.now();
  if (!ended_.empty() || !wanted_.empty()) WantTurn();
}

}  // namespace depfast::predict
