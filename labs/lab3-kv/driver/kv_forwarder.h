// The part of the key-value lab's service that is compiled without the student's headers.
#pragma once

#include <functional>
#include <memory>

#include "depfast/host/service.h"
#include "depfast/runtime.h"
#include "kv_messages.h"
#include "replicated_log.h"
#include "state_machine.h"

namespace depfast::kv {

// KvService::Execute of the student's service.
using Execute = std::function<void(const Command&, const Dependency& client,
                                   std::function<void(const Reply&)>)>;
// Makes the student's service on the log, which outlives it.
using MakeExecute = std::function<Execute(ReplicatedLog& log)>;

// `runtime` must outlive it. `log` applies its commands to `store`.
std::unique_ptr<Service> MakeKvForwarder(Runtime& runtime, std::unique_ptr<StateMachine> store,
                                         std::unique_ptr<ReplicatedLog> log,
                                         const MakeExecute& make_execute);

}  // namespace depfast::kv
