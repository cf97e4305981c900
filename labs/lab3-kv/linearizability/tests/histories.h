// Histories for tests: written by hand, drawn at random, and a judge that tries everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "linearizability/linearizability.h"
#include "linearizability/search.h"

namespace depfast::kv {

// "SET x v1"; words are separated by single spaces.
ParsedCommand Parsed(const std::string& words);

// Times in milliseconds.
KvOperation Done(int client, const std::string& words, int begin, int end, Reply reply);
KvOperation NoAnswer(int client, const std::string& words, int begin);

// The history, or a part of it, as the search takes it.
SearchProblem ProblemOf(const KvHistory& history);

// ---- the judge ----

// An operation as the judge takes it: one that must happen and give its reply, one that may, with
// any reply, or one that may do, once, what its reply says it did.
enum class Role { kMust, kMay, kLoose };

struct Judged {
  const KvOperation* operation = nullptr;
  Role role = Role::kMust;
  Time end{0};
};

// Whether some order explains the operations: tries every one, and remembers nothing.
bool HasOrder(const std::vector<Judged>& operations);
bool HasOrder(const KvHistory& history);

// ---- random histories ----

// A few operations that overlap, their replies from a store that executed them in some order that
// time allows; then, often, something is changed, so that an order may exist or not.

// SET with unique values and GET, on one key.
KvHistory RandomRegisterHistory(RandomStream& random);
// All commands, on one or two keys, with few values.
KvHistory RandomHistory(RandomStream& random);

// Long ones without a violation; one operation in a hundred has no answer.

// One key, SET with unique values and GET.
KvHistory LongRegisterHistory(RandomStream& random, std::size_t clients, std::size_t size);
// All commands, on two keys, with few values.
KvHistory LongHistory(RandomStream& random, std::size_t clients, std::size_t size);

// Of some operation; or none, if that one has none that could be another.
void ChangeOneReply(RandomStream& random, KvHistory& history);

}  // namespace depfast::kv
