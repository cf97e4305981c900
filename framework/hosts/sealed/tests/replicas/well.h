// A replica that uses all of its host and is deterministic.
#pragma once

#include <string>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "depfast/storage.h"
#include "support/echo.h"

namespace depfast::sealed_tests {

class WellBehaved : public Service {
 public:
  explicit WellBehaved(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().Handle<Echo>([this](PeerId from, const Echo& echo) {
      if (from < kFirstClient) return TextReply{echo.text + "!"};
      runtime_.storage().Append("log", echo.text + "\n", Storage::Sync::kYes)->Wait();
      std::string all;
      for (const auto& call : runtime_.rpc().CallAll(runtime_.peers(), echo, 20ms)) {
        all += call->Wait() == Outcome::kReady ? call->reply().text : "?";
      }
      runtime_.Sleep(runtime_.RandomBetween(Duration(0), Duration(1ms)));
      const auto read = runtime_.storage().Read("log");
      read->Wait();
      runtime_.Observe({1, {all.size(), read->data().size(), runtime_.HeldBytes(0), 0}});
      return TextReply{all};
    });
  }

 private:
  Runtime& runtime_;
};

}  // namespace depfast::sealed_tests
