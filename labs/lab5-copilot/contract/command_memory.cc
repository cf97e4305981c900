#include "command_memory.h"

#include <msgpack.hpp>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace depfast::copilot {
namespace {

std::uint64_t ClientOf(std::uint64_t name) { return name >> kRequestBits; }
std::uint64_t RequestOf(std::uint64_t name) {
  return name & ((std::uint64_t{1} << kRequestBits) - 1);
}

using Row = std::tuple<std::uint64_t, std::uint64_t, std::string>;  // request, number, result
using ClientRow = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::vector<Row>>;

}  // namespace

std::optional<CommandMemory::Result> CommandMemory::Find(std::uint64_t name) const {
  const auto client = clients_.find(ClientOf(name));
  if (client == clients_.end()) return std::nullopt;
  const auto& [results, forgotten, latest] = client->second;
  if (RequestOf(name) <= forgotten) return Result();
  const auto found = results.find(RequestOf(name));
  return found == results.end() ? std::nullopt : std::optional(found->second);
}

void CommandMemory::Remember(std::uint64_t name, std::uint64_t number, std::string result) {
  const auto [client, is_new] = clients_.try_emplace(ClientOf(name));
  auto& [results, forgotten, latest] = client->second;
  if (!is_new) by_latest_.erase(latest);
  latest = number;
  by_latest_.emplace(number, client->first);
  results.emplace(RequestOf(name), Result{number, std::move(result)});
  if (results.size() > kOutstanding) {
    forgotten = results.begin()->first;
    results.erase(results.begin());
  }
  if (clients_.size() > kClientsMax) ForgetOldestClient();
}

void CommandMemory::ForgetOldestClient() {
  clients_.erase(by_latest_.begin()->second);
  by_latest_.erase(by_latest_.begin());
}

std::string CommandMemory::Encode() const {
  std::vector<ClientRow> rows;
  for (const auto& [id, client] : clients_) {
    std::vector<Row> results;
    for (const auto& [request, result] : client.results) {
      results.emplace_back(request, result.number, result.text);
    }
    rows.emplace_back(id, client.forgotten, client.latest, std::move(results));
  }
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, rows);
  return {buffer.data(), buffer.size()};
}

void CommandMemory::Decode(std::string_view bytes) {
  CommandMemory decoded;
  try {
    const auto handle = msgpack::unpack(bytes.data(), bytes.size());
    for (auto& [id, forgotten, latest, results] : handle.get().as<std::vector<ClientRow>>()) {
      Client& client = decoded.clients_[id];
      client.forgotten = forgotten;
      client.latest = latest;
      for (auto& [request, number, text] : results) {
        client.results.emplace(request, Result{number, std::move(text)});
      }
      decoded.by_latest_.emplace(latest, id);
    }
  } catch (const msgpack::unpack_error&) {
    throw std::runtime_error("a snapshot's command memory is damaged");
  } catch (const msgpack::type_error&) {
    throw std::runtime_error("a snapshot's command memory is damaged");
  }
  *this = std::move(decoded);
}

}  // namespace depfast::copilot
