// RunningHost: a RealHost that runs in a thread of its own.
#pragma once

#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "real/real_host.h"

namespace depfast::real {

class RunningHost {
 public:
  explicit RunningHost(RealHostOptions options, const RealHost::ServiceFactory& make_service)
      : host_(std::move(options), make_service), thread_([this] {
          try {
            host_.Run();
          } catch (const std::exception& error) {
            failure_ = error.what();
          }
        }) {}
  ~RunningHost() { Stop(); }

  // Returns the message of the exception that escaped from the replica, or nothing.
  std::string Stop() {
    host_.Stop();
    return Join();
  }
  std::string Join() {
    if (thread_.joinable()) thread_.join();
    return failure_;
  }

  RealHost& operator*() { return host_; }
  RealHost* operator->() { return &host_; }

 private:
  RealHost host_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace depfast::real
