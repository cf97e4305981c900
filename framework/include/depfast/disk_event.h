// DiskEvent: a disk operation in flight (document 002, section 3.1.3).
#pragma once

#include <cstdint>
#include <string>

#include "depfast/event.h"
#include "depfast/host/host.h"

namespace depfast {

// Ready when the operation has succeeded, failed when it has not. An operation with an error is
// never ready, so no caller can take it for durable by mistake.
class DiskEvent : public Event {
 public:
  explicit DiskEvent(IoRequest::Kind kind, std::string file);

  // Requires: decided. An errno, 0 for success.
  int error() const;
  // Requires: ready, and the operation was a read.
  const std::string& data() const;

  bool IsReady() const override { return done_ && completion_.error == 0; }
  bool IsFailed() const override { return done_ && completion_.error != 0; }
  const char* Label() const override { return "disk"; }
  std::string Describe() const override;

 private:
  friend class Storage;
  void Complete(IoCompletion completion);

  IoRequest::Kind kind_;
  std::string file_;
  bool done_ = false;
  IoCompletion completion_;
};

}  // namespace depfast
