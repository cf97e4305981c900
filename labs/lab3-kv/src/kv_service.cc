#include "kv_service.h"

#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {

// TODO: refuse a command that cannot be executed. Answer a command that only reads from the store
// (but when may the store be read?). Submit all other commands to the log.
void KvService::Execute(const Command& command, const Dependency& client, Done done) {
  (void)command, (void)client, (void)log_, (void)store_;
  done(TryAgain());
}

}  // namespace depfast::kv
