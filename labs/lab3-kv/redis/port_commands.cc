#include "port_commands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "argument_text.h"
#include "command_table.h"
#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// The Redis whose replies the port gives. Some clients choose their commands by it.
constexpr std::string_view kRedisVersion = "7.0.15";
constexpr std::string_view kServerName = "failslow-kv";

// One command that is being answered, and the words that the handler has not looked at.
struct Request {
  std::span<const std::string> words;
  const real::ClientContext& context;
  ClientState& client;
};

std::string Encoded(const Request& request, const Reply& reply) {
  return RespWriter(request.client.protocol).Append(reply).Take();
}

// A name is a part of lines that tools print.
bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

Reply BadName(std::string_view of) {
  return Reply::Error("ERR " + std::string(of) +
                      " cannot contain spaces, newlines or special characters.");
}

Reply BadClientName() { return BadName("Client names"); }

Reply NoPasswords() {
  return Reply::Error("ERR AUTH is not supported: there are no users and no passwords");
}

// --- PING, ECHO, SELECT, INFO

std::string Ping(const Request& request) {
  const Reply pong{Reply::Kind::kStatus, 0, "PONG", {}};
  return Encoded(request, request.words.empty() ? pong : Reply::String(request.words[0]));
}

std::string Echo(const Request& request) {
  return Encoded(request, Reply::String(request.words[0]));
}

std::string Select(const Request& request) {
  const auto number = PrintedInteger(request.words[0]);
  if (!number) return Encoded(request, NotAnInteger());
  if (*number != 0) return Encoded(request, Reply::Error("ERR DB index is out of range"));
  return Encoded(request, Reply::Ok());
}

// Redis's words for the last write of its log, and the reason in our own.
std::string Persistence(const real::ClientContext& context) {
  const bool has_failed = context.disk_failure != nullptr && !context.disk_failure->empty();
  std::string text = "# Persistence\r\naof_enabled:1\r\n";
  text += "aof_last_write_status:" + std::string(has_failed ? "err" : "ok") + "\r\n";
  if (has_failed) text += "disk_failure:" + *context.disk_failure + "\r\n";
  return text + "\r\n";
}

std::string Info(const Request& request) {
  std::string text = "# Server\r\n";
  text += "server:" + std::string(kServerName) + "\r\n";
  text += "redis_version:" + std::string(kRedisVersion) + "\r\n";
  text += "redis_mode:standalone\r\n";
  text += "tcp_port:" + std::to_string(request.context.port) + "\r\n\r\n";
  text += Persistence(request.context);
  text += "# Replication\r\nrole:master\r\n";
  text += "replica:" + std::to_string(request.context.replica) + "\r\n";
  return RespWriter(request.client.protocol).Text(text).Take();
}

std::string Auth(const Request& request) { return Encoded(request, NoPasswords()); }

// --- HELLO

std::string Greeting(const Request& request) {
  const Protocol protocol = request.client.protocol;
  RespWriter out(protocol);
  out.Map(7);
  out.Bulk("server").Bulk(kServerName);
  out.Bulk("version").Bulk(kRedisVersion);
  out.Bulk("proto").Integer(static_cast<std::int64_t>(protocol));
  out.Bulk("id").Integer(request.context.connection);
  out.Bulk("mode").Bulk("standalone");
  out.Bulk("role").Bulk("master");  // any replica takes writes
  out.Bulk("modules").Array(0);
  return out.Take();
}

// Reads the options of HELLO into `name`. Returns the first error.
std::optional<Reply> ReadOptions(std::span<const std::string> words, std::string& name) {
  while (!words.empty()) {
    if (IsWord(words[0], "AUTH") && words.size() > 2) return NoPasswords();
    if (!IsWord(words[0], "SETNAME") || words.size() < 2) {
      const bool can_show = IsPrintable(words[0]) && words[0].size() <= 128;
      return Reply::Error("ERR Syntax error in HELLO option '" + (can_show ? words[0] : "?") + "'");
    }
    if (!IsPrintable(words[1])) return BadClientName();
    name = words[1];
    words = words.subspan(2);
  }
  return std::nullopt;
}

std::string Hello(const Request& request) {
  if (request.words.empty()) return Greeting(request);
  const auto version = PrintedInteger(request.words[0]);
  if (!version) {
    return Encoded(request, Reply::Error("ERR Protocol version is not an integer or out of range"));
  }
  if (*version != 2 && *version != 3) {
    return Encoded(request, Reply::Error("NOPROTO unsupported protocol version"));
  }
  ClientState wanted = request.client;
  wanted.protocol = *version == 3 ? Protocol::kResp3 : Protocol::kResp2;
  if (const auto wrong = ReadOptions(request.words.subspan(1), wanted.name)) {
    return Encoded(request, *wrong);
  }
  request.client = std::move(wanted);
  return Greeting(request);
}

// --- CLIENT

std::string ClientId(const Request& request) {
  return Encoded(request, Reply::Integer(request.context.connection));
}

std::string ClientGetName(const Request& request) {
  const std::string& name = request.client.name;
  return Encoded(request, name.empty() ? Reply::Nil() : Reply::String(name));
}

std::string ClientSetName(const Request& request) {
  if (!IsPrintable(request.words[0])) return Encoded(request, BadClientName());
  request.client.name = request.words[0];
  return Encoded(request, Reply::Ok());
}

// The name and the version of the client's library. Nothing reads them.
std::string ClientSetInfo(const Request& request) {
  for (const std::string_view attribute : {"LIB-NAME", "LIB-VER"}) {
    if (!IsWord(request.words[0], attribute)) continue;
    const bool is_name = attribute == "LIB-NAME";
    return Encoded(request, IsPrintable(request.words[1])
                                ? Reply::Ok()
                                : BadName(is_name ? "lib-name" : "lib-ver"));
  }
  return Encoded(request, Reply::Error("ERR CLIENT SETINFO knows LIB-NAME and LIB-VER only"));
}

// --- COMMAND

void AppendFlags(const CommandEntry& entry, RespWriter& out) {
  switch (entry.group) {
    case CommandGroup::kReads:
      out.Set(1).Status("readonly");
      return;
    case CommandGroup::kWrites:
      out.Set(1).Status("write");
      return;
    case CommandGroup::kPort:
      out.Set(0);
      return;
  }
}

// The ten parts that Redis 7 tells of a command. The last four are empty: categories of users,
// hints, key specifications and subcommands.
void AppendInfo(const CommandEntry& entry, RespWriter& out) {
  out.Array(10).Bulk(entry.name).Integer(entry.words);
  AppendFlags(entry, out);
  out.Integer(entry.first_key).Integer(entry.last_key).Integer(entry.key_step);
  out.Set(0).Array(0).Array(0).Array(0);
}

void AppendDocs(const CommandEntry& entry, RespWriter& out) {
  out.Bulk(entry.name).Map(2);
  out.Bulk("summary").Bulk(entry.summary);
  out.Bulk("group").Bulk(entry.group == CommandGroup::kPort ? "connection" : "string");
}

// The entries of the named commands, null for each unknown one; of all commands without names.
std::vector<const CommandEntry*> EntriesOf(std::span<const std::string> names) {
  std::vector<const CommandEntry*> entries;
  if (names.empty()) {
    for (const CommandEntry& entry : CommandTable()) entries.push_back(&entry);
  }
  for (const std::string& name : names) entries.push_back(FindEntry(name));
  return entries;
}

std::string CommandInfo(const Request& request) {
  const auto entries = EntriesOf(request.words);
  RespWriter out(request.client.protocol);
  out.Array(entries.size());
  for (const CommandEntry* const entry : entries) {
    if (entry == nullptr) {
      out.Nil();
    } else {
      AppendInfo(*entry, out);
    }
  }
  return out.Take();
}

std::string CommandDocs(const Request& request) {
  auto entries = EntriesOf(request.words);
  std::erase(entries, nullptr);
  RespWriter out(request.client.protocol);
  out.Map(entries.size());
  for (const CommandEntry* const entry : entries) AppendDocs(*entry, out);
  return out.Take();
}

std::string CommandCount(const Request& request) {
  return Encoded(request, Reply::Integer(static_cast<std::int64_t>(CommandTable().size())));
}

// --- CONFIG

struct Setting {
  std::string_view name;  // in small letters
  std::string value;
};

// Those that are true of this store.
const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      {"appendfsync", "always"},
      {"appendonly", "yes"},
      {"databases", "1"},
      {"proto-max-bulk-len", std::to_string(kArgumentBytesMax)},
      {"save", ""},
  };
  return settings;
}

struct NamedSetting {
  const Setting* setting;
  std::string_view name;  // as the client spells it
};

// Adds the settings with this name to `told`, or all if it is a star; none twice.
void AddNamed(std::string_view name, std::vector<NamedSetting>& told) {
  for (const Setting& setting : Settings()) {
    if (name != "*" && !IsNamed(name, setting.name)) continue;
    const auto is_same = [&](const NamedSetting& other) { return other.setting == &setting; };
    if (std::any_of(told.begin(), told.end(), is_same)) continue;
    told.push_back({&setting, name == "*" ? setting.name : name});
  }
}

std::string ConfigGet(const Request& request) {
  std::vector<NamedSetting> told;
  for (const std::string& name : request.words) AddNamed(name, told);
  RespWriter out(request.client.protocol);
  out.Map(told.size());
  for (const NamedSetting& each : told) out.Bulk(each.name).Bulk(each.setting->value);
  return out.Take();
}

// --- Which handler

struct Handler {
  std::string_view name;      // "CLIENT" alone, or with its subcommand
  std::size_t arguments_min;  // after the name
  std::size_t arguments_max;
  std::string (*serve)(const Request&);
};

constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

constexpr auto kHandlers = std::to_array<Handler>({
    {"AUTH", 0, kAnyNumber, Auth},
    {"COMMAND", 0, 0, CommandInfo},
    {"ECHO", 1, 1, Echo},
    {"HELLO", 0, kAnyNumber, Hello},
    {"INFO", 0, kAnyNumber, Info},
    {"PING", 0, 1, Ping},
    {"SELECT", 1, 1, Select},
});

constexpr auto kSubcommands = std::to_array<Handler>({
    {"CLIENT|GETNAME", 0, 0, ClientGetName},
    {"CLIENT|ID", 0, 0, ClientId},
    {"CLIENT|SETINFO", 2, 2, ClientSetInfo},
    {"CLIENT|SETNAME", 1, 1, ClientSetName},
    {"COMMAND|COUNT", 0, 0, CommandCount},
    {"COMMAND|DOCS", 0, kAnyNumber, CommandDocs},
    {"COMMAND|INFO", 0, kAnyNumber, CommandInfo},
    {"CONFIG|GET", 1, kAnyNumber, ConfigGet},
});

template <std::size_t kSize>
const Handler* Find(const std::array<Handler, kSize>& handlers, std::string_view name) {
  const auto found = std::find_if(handlers.begin(), handlers.end(), [&](const Handler& handler) {
    return IsWord(name, handler.name);
  });
  return found == handlers.end() ? nullptr : &*found;
}

bool HasSubcommands(std::string_view name) {
  return IsWord(name, "CLIENT") || IsWord(name, "COMMAND") || IsWord(name, "CONFIG");
}

// Requires: request.words are the arguments.
std::string Serve(const Handler& handler, const Request& request) {
  const std::size_t arguments = request.words.size();
  if (arguments < handler.arguments_min || arguments > handler.arguments_max) {
    return Encoded(request, WrongNumberOfArguments(handler.name));
  }
  return handler.serve(request);
}

}  // namespace

std::optional<std::string> ServeAtPort(const Command& command, const real::ClientContext& context,
                                       ClientState& client) {
  const std::string& name = command[0];
  const std::span<const std::string> words = command;
  if (HasSubcommands(name) && command.size() > 1) {
    const std::string full = name + "|" + command[1];
    const Request request{words.subspan(2), context, client};
    const Handler* const handler = Find(kSubcommands, full);
    return handler != nullptr ? Serve(*handler, request) : Encoded(request, UnknownCommand(full));
  }
  const Request request{words.subspan(1), context, client};
  if (const Handler* const handler = Find(kHandlers, name)) return Serve(*handler, request);
  if (HasSubcommands(name)) return Encoded(request, WrongNumberOfArguments(name));
  return std::nullopt;
}

}  // namespace depfast::kv
