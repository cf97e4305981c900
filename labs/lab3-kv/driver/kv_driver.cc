#include "kv_driver.h"

#include <memory>
#include <utility>

#include "kv_forwarder.h"
#include "kv_service.h"
#include "kv_store.h"
#include "replicated_log.h"

namespace depfast::kv {

std::unique_ptr<Service> MakeKvDriver(Runtime& runtime) {
  auto owned = std::make_unique<KvStore>();
  KvStore& store = *owned;
  auto log = MakeReplicatedLog(runtime, store);
  return MakeKvForwarder(
      runtime, std::move(owned), std::move(log), [&store](ReplicatedLog& reads) -> Execute {
        const auto service = std::make_shared<KvService>(reads, store);
        return [service](const Command& command, const Dependency& client, KvService::Done done) {
          service->Execute(command, client, std::move(done));
        };
      });
}

}  // namespace depfast::kv
