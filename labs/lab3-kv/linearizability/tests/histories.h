// Histories for tests, written by hand or drawn at random, and a judge that tries every order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "linearizability/linearizability.h"
#include "linearizability/search.h"

namespace depfast::kv {

// Steps of a search: more than any history of these tests needs.
inline constexpr std::uint64_t kPlenty = 1'000'000;

// "SET x v1"; words are separated by single spaces.
ParsedCommand Parsed(const std::string& words);

// Times in milliseconds.
KvOperation Done(int client, const std::string& words, int begin, int end, Reply reply);
KvOperation NoAnswer(int client, const std::string& words, int begin);

// APPENDs to a key without an answer, then a read of a value that they cannot have made.
KvHistory Hard(const std::string& key, int appends);

// The history, or a part of it, as a problem for the search.
SearchProblem ProblemOf(const KvHistory& history);

// ---- the judge ----

// Returns whether some order explains the operations. Tries every order without memory.
bool HasOrder(const KvHistory& history);

// ---- random histories ----

// A few overlapping operations with the replies of a store that executed them in a valid order.
// Often a reply or a time is changed afterwards, so that an order may or may not exist.

// SET with unique values and GET, on one key.
KvHistory RandomRegisterHistory(RandomStream& random);
// All commands, on one or two keys, with few values.
KvHistory RandomHistory(RandomStream& random);

// Long histories without a violation; one operation in a hundred has no answer.

// One key, SET with unique values and GET.
KvHistory LongRegisterHistory(RandomStream& random, std::size_t clients, std::size_t size);
// All commands, on two keys, with few values.
KvHistory LongHistory(RandomStream& random, std::size_t clients, std::size_t size);

// Changes the reply of a random operation. Changes nothing if that operation can have no other
// reply.
void ChangeOneReply(RandomStream& random, KvHistory& history);

}  // namespace depfast::kv
