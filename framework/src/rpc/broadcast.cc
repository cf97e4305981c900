#include "depfast/broadcast.h"

namespace depfast {

std::vector<PeerId> BroadcastCalls::Stragglers() const {
  std::vector<PeerId> stragglers;
  for (const auto& call : all_) {
    if (!call->IsDecided()) stragglers.push_back(call->peer());
  }
  return stragglers;
}

void BroadcastCalls::Release() {
  for (const auto& call : all_) rpc_.Release(*call);
}

}  // namespace depfast
