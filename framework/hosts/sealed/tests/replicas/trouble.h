// What the bad replicas have in common: they work until a client asks them not to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "support/echo.h"

namespace depfast::sealed_tests {

// Makes trouble, of the kind that the program was built for.
struct MakeTrouble : EmptyRequest<2> {
  static constexpr const char* kName = "MakeTrouble";
};

class TroubleMaker : public Service {
 public:
  TroubleMaker(Runtime& runtime, std::function<void()> trouble)
      : runtime_(runtime), trouble_(std::move(trouble)) {}

  void Start() override {
    ServeEcho(runtime_.rpc());
    runtime_.rpc().Handle<MakeTrouble>([this](PeerId, const MakeTrouble&) {
      trouble_();
      return TextReply{"no trouble after all"};
    });
  }

 private:
  Runtime& runtime_;
  std::function<void()> trouble_;
};

}  // namespace depfast::sealed_tests

// Defines a replica program that does `statements` when asked for trouble.
#define TROUBLE_REPLICA(statements)                                                    \
  std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {  \
    return std::make_unique<depfast::sealed_tests::TroubleMaker>(runtime, [&runtime] { \
      (void)runtime;                                                                   \
      statements                                                                       \
    });                                                                                \
  }
