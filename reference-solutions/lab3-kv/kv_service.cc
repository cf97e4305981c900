#include "kv_service.h"

#include <utility>

#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

Reply ReplyTo(const SubmitReply& submitted) {
  switch (submitted.status) {
    case SubmitStatus::kCommitted:
      return DecodeReply(submitted.result).value_or(UnknownOutcome());
    case SubmitStatus::kNotProposer:
      return TryAgain();
    case SubmitStatus::kUnknown:
      break;
  }
  return UnknownOutcome();
}

}  // namespace

void KvService::Execute(const Command& command, const Dependency& client, Done done) {
  if (const auto wrong = FindError(command)) {
    done(*wrong);  // it needs no log to say so
  } else if (FindCommand(command[0])->reads) {
    Read(command, client, std::move(done));
  } else {
    Write(command, client, std::move(done));
  }
}

void KvService::Read(const Command& command, const Dependency& client, Done done) {
  // The copy is not const: else each move of the callback would be another copy.
  log_.ReadIndex(client, [this, command = command, done = std::move(done)](bool may_read) {
    done(may_read ? store_.Read(command) : TryAgain());
  });
}

void KvService::Write(const Command& command, const Dependency& client, Done done) {
  log_.Submit(EncodeCommand(command), client,
              [done = std::move(done)](const SubmitReply& reply) { done(ReplyTo(reply)); });
}

}  // namespace depfast::kv
