// Twin: a second process of a replica, with other memory, that must answer the same.
//
// The twin gets each message that the replica got, and never one that the replica did not get. So
// it needs no simulator and no lock-step: messages go to it in batches, and its answers are
// compared with those of the replica. A difference is one of the two processes' memory, addresses
// or clocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sealed/replica_process.h"
#include "sealed/sealed_backend.h"

namespace depfast::sealed {

class Twin {
 public:
  // Both outlive the twin.
  Twin(const SealedOptions& options, const Sandbox& sandbox);
  ~Twin();  // compares what is left
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  // The replica was sent a message, and answered so; both with their lengths. `is_step`: the answer
  // is a StepOutput. Other answers are for people, and are not compared.
  void Follow(std::string_view message, std::string_view answer, bool is_step);
  // The replica ended by itself when it was sent this message.
  void FollowToTheEnd(std::string_view message);

 private:
  void Guard(const std::function<void()>& action);
  void Differ();
  void End(const std::string& unable);
  void Compare();
  void Exchange();
  bool ReceiveSome();
  bool SameAnswers() const;
  void ExpectEnd();

  const SealedOptions& options_;
  const Sandbox& sandbox_;
  std::optional<ReplicaProcess> process_;  // from the first batch on
  bool is_over_ = false;                   // it differs, or has ended with its replica
  // The batch under way.
  std::string messages_;
  std::string answers_;        // of the replica
  std::vector<bool> is_step_;  // by answer
  std::string received_;       // the twin's answers
};

}  // namespace depfast::sealed
