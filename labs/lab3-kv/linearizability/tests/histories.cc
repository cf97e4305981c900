#include "histories.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <utility>

#include "linearizability/kv_model.h"
#include "linearizability/replies.h"

namespace depfast::kv {

ParsedCommand Parsed(const std::string& words) {
  std::istringstream in(words);
  std::vector<std::string> list;
  for (std::string word; std::getline(in, word, ' ');) list.push_back(word);
  return ParsedCommand(list);
}

KvOperation Done(int client, const std::string& words, int begin, int end, Reply reply) {
  return {client, Parsed(words), begin * 1ms, KvAnswer{end * 1ms, std::move(reply)}};
}

KvOperation NoAnswer(int client, const std::string& words, int begin) {
  return {client, Parsed(words), begin * 1ms, {}};
}

KvHistory Hard(const std::string& key, int appends) {
  KvHistory history;
  for (int i = 0; i < appends; ++i) {
    history.push_back(NoAnswer(i, "APPEND " + key + " " + std::to_string(i), 0));
  }
  history.push_back(Done(99, "GET " + key, 1, 2, Reply::String("z")));
  return history;
}

SearchProblem ProblemOf(const KvHistory& history) {
  SearchProblem problem;
  for (const KvOperation& operation : history) {
    const bool has_ended = operation.answer.has_value();
    if (has_ended || !operation.command.IsRead()) problem.Add(operation, has_ended);
  }
  return problem;
}

// ---- the judge ----

namespace {

Time EndOf(const KvOperation& operation) {
  return operation.answer ? operation.answer->at : kNever;
}

bool CanBeNext(const KvHistory& history, const std::vector<bool>& placed, std::size_t next) {
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (placed[i] && EndOf(history[next]) < history[i].begin) return false;
    if (!placed[i] && EndOf(history[i]) < history[next].begin) return false;
  }
  return true;
}

bool CanGoOn(const KvHistory& history, std::vector<bool>& placed, const KvModel& store) {
  bool complete = true;
  for (std::size_t i = 0; i < history.size(); ++i) {
    complete = complete && (placed[i] || !history[i].answer);
  }
  if (complete) return true;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (placed[i] || !CanBeNext(history, placed, i)) continue;
    KvModel after = store;
    const Reply reply = after.Execute(history[i].command);
    if (history[i].answer && !AreSame(reply, history[i].answer->reply)) continue;
    placed[i] = true;
    if (CanGoOn(history, placed, after)) return true;
    placed[i] = false;
  }
  return false;
}

}  // namespace

bool HasOrder(const KvHistory& history) {
  std::vector<bool> placed(history.size());
  return CanGoOn(history, placed, KvModel());
}

// ---- random histories ----

namespace {

// An operation without its outcome.
struct Planned {
  KvOperation operation;
  Time point{0};  // when it takes effect, between begin and end
  Time end{0};
  bool happens = true;
  bool is_answered = true;
};

bool OneIn(RandomStream& random, std::uint64_t count) { return random.Below(count) == 0; }

Planned Plan(RandomStream& random, int client, ParsedCommand command) {
  const auto begin = static_cast<int>(random.Below(10));
  const auto length = static_cast<int>(random.Below(5));
  const auto point = static_cast<int>(random.Below(static_cast<std::uint64_t>(4 * length) + 1));
  const bool is_answered = !OneIn(random, 7);
  const bool happens = OneIn(random, 2) || is_answered;
  return {{client, std::move(command), begin * 1ms, {}},
          begin * 1ms + point * 250us,
          (begin + length) * 1ms,
          happens,
          is_answered};
}

// Executes the operations in the order of their points, and fills in the answers.
KvHistory Played(std::vector<Planned>& plan) {
  std::vector<std::size_t> order(plan.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&plan](std::size_t a, std::size_t b) { return plan[a].point < plan[b].point; });
  KvModel store;
  for (const std::size_t i : order) {
    if (!plan[i].happens) continue;
    const Reply reply = store.Execute(plan[i].operation.command);
    if (plan[i].is_answered) plan[i].operation.answer = KvAnswer{plan[i].end, reply};
  }
  KvHistory history;
  for (const Planned& planned : plan) history.push_back(planned.operation);
  return history;
}

Reply Changed(RandomStream& random, const Reply& reply, const std::vector<std::string>& values) {
  const std::string& value = values[random.Below(values.size())];
  switch (reply.kind) {
    case Reply::Kind::kInteger:
      return Reply::Integer(OneIn(random, 2) ? reply.integer + 1 : reply.integer - 1);
    case Reply::Kind::kNil:
      return Reply::String(value);
    case Reply::Kind::kString:
      return OneIn(random, 4) ? Reply::Nil() : Reply::String(value);
    case Reply::Kind::kArray: {
      Reply changed = reply;
      auto& item = changed.items[random.Below(changed.items.size())];
      item = OneIn(random, 4) ? std::nullopt : std::optional(value);
      return changed;
    }
    default:
      return reply;
  }
}

// Changes a reply, or the times of an operation.
void Disturb(RandomStream& random, KvHistory& history, const std::vector<std::string>& values) {
  KvOperation& operation = history[random.Below(history.size())];
  const bool changes_reply = OneIn(random, 2);
  if (!operation.answer) return;
  if (changes_reply) {
    operation.answer->reply = Changed(random, operation.answer->reply, values);
    return;
  }
  const Duration shift = static_cast<int>(random.Below(9)) * 1ms - 4ms;
  operation.begin = std::max<Time>(0ms, operation.begin + shift);
  operation.answer->at = std::max(operation.begin, operation.answer->at + shift);
}

std::string RandomCommand(RandomStream& random, const std::vector<std::string>& keys,
                          const std::vector<std::string>& values) {
  const std::string key = keys[random.Below(keys.size())];
  const std::string key2 = keys[random.Below(keys.size())];
  const std::string value = values[random.Below(values.size())];
  const std::string value2 = values[random.Below(values.size())];
  const std::array<std::string, 16> commands = {
      "GET " + key,
      "GET " + key2,
      "SET " + key + " " + value,
      "SET " + key + " " + value2,
      "DEL " + key,
      "DEL " + key + " " + key2,
      "EXISTS " + key,
      "EXISTS " + key + " " + key2,
      "INCR " + key,
      "APPEND " + key + " " + value,
      "MGET " + key + " " + key2,
      "MSET " + key + " " + value + " " + key2 + " " + value2,
      "SETNX " + key + " " + value,
      "STRLEN " + key,
      "GETSET " + key + " " + value,
      "CAS " + key + " " + value + " " + value2,
  };
  return commands[random.Below(commands.size())];
}

KvHistory Finished(RandomStream& random, std::vector<Planned>& plan,
                   const std::vector<std::string>& values, std::uint64_t changes_max) {
  KvHistory history = Played(plan);
  const std::uint64_t changes = random.Below(changes_max + 1);
  for (std::uint64_t i = 0; i < changes; ++i) Disturb(random, history, values);
  return history;
}

}  // namespace

KvHistory RandomRegisterHistory(RandomStream& random) {
  const auto size = static_cast<int>(2 + random.Below(6));
  std::vector<std::string> values;
  std::vector<Planned> plan;
  for (int i = 0; i < size; ++i) {
    std::string words = "GET x";
    if (OneIn(random, 2)) {
      values.push_back("v" + std::to_string(i));
      words = "SET x " + values.back();
    }
    plan.push_back(Plan(random, i, Parsed(words)));
  }
  values.push_back("v1");  // written, if the second operation is a SET
  return Finished(random, plan, values, 4);
}

KvHistory RandomHistory(RandomStream& random) {
  const auto size = static_cast<int>(2 + random.Below(5));
  const std::vector<std::string> values = {"1", "2", "y"};
  std::vector<std::string> keys = {"a"};
  if (OneIn(random, 2)) keys.push_back("b");
  std::vector<Planned> plan;
  for (int i = 0; i < size; ++i) {
    plan.push_back(Plan(random, i, Parsed(RandomCommand(random, keys, values))));
  }
  return Finished(random, plan, values, 2);
}

namespace {

// `clients` that each issue one command after another.
KvHistory LongHistoryOf(RandomStream& random, std::size_t clients,
                        const std::vector<std::string>& commands) {
  std::vector<Planned> plan;
  std::vector<Time> free(clients);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::size_t client = i % clients;
    const auto pause = static_cast<int>(random.Below(1000));
    const auto before = static_cast<int>(random.Below(10'000));
    const auto after = static_cast<int>(random.Below(10'000));
    const bool is_answered = !OneIn(random, 100);
    const bool happens = OneIn(random, 2) || is_answered;
    const Time begin = free[client] + pause * 1us;
    const Time point = begin + before * 1us;
    const Time end = point + after * 1us;
    free[client] = end + 1us;
    plan.push_back({{static_cast<int>(client), Parsed(commands[i]), begin, {}},
                    point,
                    end,
                    happens,
                    is_answered});
  }
  return Played(plan);
}

}  // namespace

KvHistory LongRegisterHistory(RandomStream& random, std::size_t clients, std::size_t size) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < size; ++i) {
    commands.push_back(OneIn(random, 2) ? "GET x" : "SET x v" + std::to_string(i));
  }
  return LongHistoryOf(random, clients, commands);
}

KvHistory LongHistory(RandomStream& random, std::size_t clients, std::size_t size) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < size; ++i) {
    commands.push_back(RandomCommand(random, {"a", "b"}, {"1", "2", "y"}));
  }
  return LongHistoryOf(random, clients, commands);
}

void ChangeOneReply(RandomStream& random, KvHistory& history) {
  std::optional<KvAnswer>& answer = history[random.Below(history.size())].answer;
  if (answer) answer->reply = Changed(random, answer->reply, {"1", "2", "y"});
}

}  // namespace depfast::kv
