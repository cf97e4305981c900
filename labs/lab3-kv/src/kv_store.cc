#include "kv_store.h"

#include "kv_errors.h"

namespace depfast::kv {

// Every function below is a stub: it compiles, and does nothing. The header states its contract.

// TODO: remove the sessions that have expired at `index`. Then decode the command, execute it, and
// encode its reply.
std::string KvStore::Apply(std::uint64_t index, std::string_view command) {
  (void)index, (void)command;
  return EncodeReply(Reply::Error("ERR not written yet"));
}

// TODO: GET, EXISTS, MGET, STRLEN.
Reply KvStore::Read(const Command& command) const {
  (void)command;
  return Reply::Error("ERR not written yet");
}

// TODO: encode and decode the whole state, sessions included.
std::string KvStore::Snapshot() const { return ""; }
void KvStore::Restore(std::string_view snapshot) { (void)snapshot; }

}  // namespace depfast::kv
