// AskedReplica: a replica whose driver answers questions, and the answers that it has given.
//
//   AskedReplica replica;
//   const RuleAnswer answer = replica.Ask(AskVote{...});
#pragma once

#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "depfast/host/codec.h"
#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast {

class AskedReplica {
 public:
  // Starts a cluster.
  AskedReplica() : cluster_({.replicas = 3, .seed = 1}), client_(cluster_.simulator()) {
    cluster_.Start();
    cluster_.RunFor(10ms);  // the replicas have made a step
  }
  // Adds a death to the report of a test.
  ~AskedReplica() {
    const std::string& death = cluster_.first_death();
    if (has_answers_ && !death.empty()) ADD_FAILURE() << death;
  }
  AskedReplica(const AskedReplica&) = delete;
  AskedReplica& operator=(const AskedReplica&) = delete;

  // The answer to a question that was asked before is remembered. Fails the test if there is none.
  template <typename Question>
  typename Question::Reply Ask(const Question& question) {
    using Answer = typename Question::Reply;
    std::string key;
    frame_internal::StringSink sink(key);
    msgpack::pack(sink, Question::kMethod);
    msgpack::pack(sink, question);
    const auto [known, is_new] = answers_.try_emplace(std::move(key), Answer());
    if (!is_new || !has_answers_) return std::any_cast<const Answer&>(known->second);
    struct Answered {
      bool is_over = false;
      std::optional<Answer> answer;
    };
    const auto answered = std::make_shared<Answered>();
    client_.Call(kAsked, question, 1s,
                 [answered](const std::optional<Answer>& answer) { *answered = {true, answer}; });
    cluster_.RunUntil([&] { return answered->is_over || !cluster_.first_death().empty(); }, 2s);
    has_answers_ = answered->answer.has_value();
    if (!has_answers_) {
      const std::string& death = cluster_.first_death();
      ADD_FAILURE() << (death.empty() ? "a replica does not answer a question to its rules"
                                      : death);
    }
    known->second = answered->answer.value_or(Answer());
    return std::any_cast<const Answer&>(known->second);
  }

 protected:
  static constexpr PeerId kAsked = 2;  // a follower: leaders have more to do

  testkit::Cluster& cluster() { return cluster_; }

 private:
  testkit::Cluster cluster_;
  testkit::Client client_;
  std::unordered_map<std::string, std::any> answers_;  // by method and question
  bool has_answers_ = true;  // to every question so far; without one the rest get empty answers
};

}  // namespace depfast
