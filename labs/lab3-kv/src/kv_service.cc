#include "kv_service.h"

#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {

// TODO: refuse what cannot be executed, ask the store if the command only reads (but when may it be
// read?), and submit all else to the log.
void KvService::Execute(const Command& command, const Dependency& client, Done done) {
  (void)command, (void)client, (void)log_, (void)store_;
  done(TryAgain());
}

}  // namespace depfast::kv
