#include "command_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "depfast/host/codec.h"

namespace depfast::copilot {
namespace {

std::uint64_t ClientOf(std::uint64_t name) { return name >> kRequestBits; }
std::uint64_t RequestOf(std::uint64_t name) {
  return name & ((std::uint64_t{1} << kRequestBits) - 1);
}

}  // namespace

CommandMemory::CommandMemory(std::string_view encoded) {
  const auto handle = msgpack::unpack(encoded.data(), encoded.size());
  for (Client& client : handle.get().as<std::vector<Client>>()) {
    by_latest_.emplace(client.latest, client.id);
    clients_.emplace(client.id, std::move(client));
  }
}

std::string CommandMemory::Encode() const {
  msgpack::sbuffer buffer;
  msgpack::packer packer(buffer);
  packer.pack_array(static_cast<std::uint32_t>(clients_.size()));
  for (const auto& [id, client] : clients_) packer.pack(client);
  return {buffer.data(), buffer.size()};
}

std::optional<CommandMemory::Result> CommandMemory::Find(std::uint64_t name) const {
  const auto client = clients_.find(ClientOf(name));
  if (client == clients_.end()) return std::nullopt;
  const auto& [id, forgotten, latest, results] = client->second;
  if (RequestOf(name) <= forgotten) return Result();
  const auto found = std::ranges::lower_bound(results, RequestOf(name), {}, &Result::request);
  const bool has_run = found != results.end() && found->request == RequestOf(name);
  return has_run ? std::optional(*found) : std::nullopt;
}

void CommandMemory::Remember(std::uint64_t name, std::uint64_t number, std::string text) {
  auto& [id, forgotten, latest, results] = clients_[ClientOf(name)];
  id = ClientOf(name);
  by_latest_.erase(latest);
  latest = number;
  by_latest_.emplace(number, id);
  const auto place = std::ranges::lower_bound(results, RequestOf(name), {}, &Result::request);
  results.insert(place, {RequestOf(name), number, std::move(text)});
  if (results.size() > kOutstanding) {
    forgotten = results.front().request;
    results.pop_front();
  }
  if (clients_.size() <= kClientsMax) return;
  clients_.erase(by_latest_.begin()->second);
  by_latest_.erase(by_latest_.begin());
}

}  // namespace depfast::copilot
