#include "kv_store.h"

#include "kv_errors.h"

namespace depfast::kv {

// Every function below is a stub: it compiles, and does nothing. The header says what it should do.

// TODO: decode the command, execute it, encode its reply. Sessions that have expired at `index` are
// gone before that.
std::string KvStore::Apply(std::uint64_t index, std::string_view command) {
  (void)index, (void)command;
  return EncodeReply(Reply::Error("ERR not written yet"));
}

// TODO: GET, EXISTS, MGET, STRLEN.
Reply KvStore::Read(const Command& command) const {
  (void)command;
  return Reply::Error("ERR not written yet");
}

// TODO: all of the state, sessions included.
std::string KvStore::Snapshot() const { return ""; }
void KvStore::Restore(std::string_view snapshot) { (void)snapshot; }

}  // namespace depfast::kv
