// SubmitClient: submits commands to the replicas that propose.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "retrying_client.h"
#include "submit.h"
#include "testkit/load.h"

namespace depfast {

class SubmitClient {
 public:
  explicit SubmitClient(const sim::GroupView& group, const ClientOptions& options = {})
      : client_(group, options) {}

  // Submits `command` until a replica accepts it, then calls `done` once. `committed` is true if
  // the command has been committed. It is false if no replica accepted the command, or if its
  // outcome is unknown: the proposer lost track of it, or did not answer. An accepted command is
  // never submitted again.
  void Submit(std::string command, std::function<void(bool committed)> done);

  // An Operation for loads: each submits a distinct command of `bytes` bytes.
  testkit::Operation Commands(std::size_t bytes);

 private:
  struct JudgeReply {
    Judgement operator()(const std::optional<SubmitReply>& reply) const;
    static const depfast::Submit& Addressed(const depfast::Submit& request, std::uint64_t) {
      return request;  // the name of a command is its dependency
    }
  };

  RetryingClient<depfast::Submit, JudgeReply> client_;
  std::uint64_t commands_ = 0;
};

// The `number`-th of a series of distinct commands. It is `bytes` long, or the length of its number
// if that is more.
std::string CommandText(std::uint64_t number, std::size_t bytes);

}  // namespace depfast
