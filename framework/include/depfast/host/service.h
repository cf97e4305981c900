// Service: a lab's replica program, and the one function every host calls to make one.
#pragma once

#include <memory>

#include "depfast/runtime.h"

namespace depfast {

class Service {
 public:
  virtual ~Service() = default;

  // Registers RPC handlers and spawns coroutines. Called once, in the first step of a replica's
  // life, outside any coroutine. The disk holds the files of the earlier life.
  virtual void Start() = 0;

  // An operator stops the replica in order: on a real host, by SIGTERM. Called in the last step of
  // the replica's life, outside any coroutine. Disk operations that are submitted in this step
  // finish. Coroutines that still wait after it end.
  virtual void Stop() {}
};

// Defined once per replica program, by the lab's driver.
std::unique_ptr<Service> MakeService(Runtime& runtime);

}  // namespace depfast
