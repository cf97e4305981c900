#include "kv_load.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "testkit/history.h"

namespace depfast::kv {
namespace {

constexpr std::size_t kKeys = 128;      // few enough that reads see recent writes
constexpr std::uint64_t kStream = 901;  // of the choices of commands and keys

}  // namespace

const std::map<std::string, int>& Mixes() {
  static const std::map<std::string, int> kReadsPercent = {{"get", 95}, {"mixed", 50}, {"set", 5}};
  return kReadsPercent;
}

KvLoad::KvLoad(sim::Simulator& simulator, const LogChecker& log, const ClientLoad& load,
               int reads_percent)
    : simulator_(simulator),
      log_(log),
      load_(load),
      random_(simulator.options().seed, 0, kStream),
      reads_percent_(reads_percent),
      keys_(kKeys) {
  const int places = load.at == ClientsAt::kAll ? simulator.options().replicas : 1;
  for (int i = 0; i < places; ++i) {
    clients_.emplace_back(
        simulator, ClientOptions{.answer_timeout = load.answer_timeout, .give_up = load.give_up});
  }
}

KvClient& KvLoad::NextClient() {
  const std::vector<PeerId> proposers = log_.Proposers();
  const bool follows = load_.at == ClientsAt::kProposers;
  if (!proposers.empty() && (follows || !have_places_)) {
    PeerId place = proposers.front() + (follows ? 0 : 1);
    for (KvClient& client : clients_) client.set_first(place++ % simulator_.options().replicas);
    have_places_ = true;
  }
  return clients_[commands_++ % clients_.size()];
}

std::string KvLoad::TextOf(std::uint64_t value) const {
  std::string text = std::to_string(value) + " ";
  text.resize(load_.value_bytes, 'x');
  return text;
}

std::optional<std::uint64_t> KvLoad::ValueIn(const Reply& reply) const {
  if (reply.kind == Reply::Kind::kNil) return 0;
  if (reply.kind != Reply::Kind::kString) return std::nullopt;
  std::uint64_t value = 0;
  const char* const begin = reply.text.data();
  const auto [rest, problem] = std::from_chars(begin, begin + reply.text.size(), value);
  if (problem != std::errc() || reply.text != TextOf(value)) return std::nullopt;
  return value;
}

void KvLoad::Execute(std::function<void(bool ok)> done) {
  const bool reads = random_.Below(100) < static_cast<std::uint64_t>(reads_percent_);
  const std::size_t which = random_.Below(keys_.size());
  const std::string name = "key" + std::to_string(which);
  if (reads) {
    Get(name, keys_[which], std::move(done));
  } else {
    Set(name, keys_[which], std::move(done));
  }
}

void KvLoad::Set(const std::string& name, Key& key, std::function<void(bool ok)> done) {
  const std::uint64_t value = ++values_;
  key.writes[value] = {simulator_.now(), kNever};
  const Command command = {"SET", name, TextOf(value)};
  const CommandDigest entry = DigestOf(EncodeCommand(command));
  NextClient().Execute(command,
                       [this, &key, value, entry, done = std::move(done)](const KvOutcome& end) {
                         const bool ok = end.is_known() && end.reply->kind == Reply::Kind::kStatus;
                         if (ok) Know(key, key.writes.at(value));
                         if (ok && !log_.HasApplied(entry)) {
                           Untrue("a client was told OK, but no replica has applied its SET");
                         }
                         done(ok);
                       });
}

void KvLoad::Get(const std::string& name, Key& key, std::function<void(bool ok)> done) {
  NextClient().Execute({"GET", name},
                       [this, name, &key, begun = simulator_.now(), latest = key.latest_begin,
                        done = std::move(done)](const KvOutcome& end) {
                         const bool ok = end.is_known() && end.reply->kind != Reply::Kind::kError;
                         if (ok) OnRead(name, key, begun, latest, *end.reply);
                         done(ok);
                       });
}

// `latest_begin`: the key's when the read began.
void KvLoad::OnRead(const std::string& name, Key& key, Time begun, Time latest_begin,
                    const Reply& reply) {
  const auto value = ValueIn(reply);
  const auto write = value ? key.writes.find(*value) : key.writes.end();
  if (write == key.writes.end()) {
    Untrue("GET " + name + " was answered with a value that no client wrote there");
    return;
  }
  if (write->second.seen < latest_begin) {
    Untrue("GET " + name + " at " + testkit::FormatTime(begun) +
           " was answered with a value that was overwritten before");
  }
  Know(key, write->second);
}

void KvLoad::Know(Key& key, Write& write) {
  write.seen = std::min(write.seen, simulator_.now());
  key.latest_begin = std::max(key.latest_begin, write.begun);
}

void KvLoad::Untrue(const std::string& sentence) {
  if (untrue_.empty()) untrue_ = sentence + " (" + testkit::FormatTime(simulator_.now()) + ")";
}

}  // namespace depfast::kv
