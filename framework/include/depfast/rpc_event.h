// RpcEvent: waiting for the reply to a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "depfast/carried_entries.h"
#include "depfast/event.h"
#include "depfast/host/frame.h"
#include "depfast/host/host.h"
#include "depfast/peer.h"
#include "depfast/rpc_error.h"

namespace depfast {

// A call in flight with any reply type: ready with the reply, failed with an error.
class RpcCall : public Event {
 public:
  // `name` must outlive the event (a string literal).
  RpcCall(PeerId peer, MethodId method, const char* name)
      : peer_(peer), method_(method), name_(name) {}

  PeerId peer() const { return peer_; }

  // The called method. The label is for people: a solution may give any to its own requests.
  MethodId method() const { return method_; }

  // Why the call failed; kNone while it has not.
  RpcError error() const { return error_; }

  // The number of the call. The calls of one broadcast share it.
  CallId id() const { return id_; }

  // The entries of a log that the request carries; empty for a request type without any.
  const CarriedEntries& carried() const { return carried_; }

  bool IsReady() const override { return answered_; }
  bool IsFailed() const override { return error_ != RpcError::kNone; }
  const char* Label() const override { return name_; }
  // 1 of 1. The peer's vote is yes once it has replied, and lost once the call has failed.
  WaitDescription DescribeWait() const override;
  std::string Describe() const override;

 protected:
  // Decodes the reply. Returns false if it is malformed, with the reason in `error`.
  virtual bool DecodeReply(std::string_view body, std::string& error) = 0;

 private:
  friend class RpcTable;

  PeerId peer_;
  MethodId method_;
  const char* name_;
  CallId id_ = 0;
  CarriedEntries carried_;
  FrameId frame_ = 0;
  std::uint64_t timer_ = 0;  // of the timeout, while the call is outstanding; 0 if it has none
  bool answered_ = false;
  RpcError error_ = RpcError::kNone;
};

// A call that a Reply answers.
template <typename Reply>
class RpcEvent : public RpcCall {
 public:
  using RpcCall::RpcCall;

  // Requires: ready.
  const Reply& reply() const { return *reply_; }

 protected:
  bool DecodeReply(std::string_view body, std::string& error) override {
    reply_ = DecodeBody<Reply>(body, error);
    return reply_.has_value();
  }

 private:
  std::optional<Reply> reply_;
};

}  // namespace depfast
