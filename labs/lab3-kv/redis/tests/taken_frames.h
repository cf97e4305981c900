// The frames that a conversation has made ready, one by one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "real/foreign_protocol.h"

namespace depfast::kv {

inline std::vector<std::string> TakenFrames(real::Conversation& conversation) {
  real::FrameBatch batch;
  conversation.TakeFrames(batch);
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < batch.size(); ++i) frames.emplace_back(batch[i]);
  return frames;
}

}  // namespace depfast::kv
