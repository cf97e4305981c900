#include "real/main.h"

#include <signal.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/stack_overflow.h"
#include "real/real_host.h"

namespace depfast::real {
namespace {

std::string Usage(const ForeignProtocol* foreign) {
  std::string usage =
      "usage: --id N --peers HOST:PORT,HOST:PORT,... --data DIR [--seed N] [--listen-fd N] "
      "[--metrics FILE]";
  if (foreign != nullptr) {
    usage += " [--" + foreign->name + " HOST:PORT] [--" + foreign->name + "-listen-fd N]";
  }
  return usage;
}

template <typename Number>
Number ParseNumber(std::string_view flag, std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(std::string(flag) + ": '" + std::string(text) +
                                "' is not a number in range");
  }
  return number;
}

// Each line is written by one call, so that a reader may follow the file.
std::function<void(const std::string&)> MetricsTo(const std::string& path) {
  const std::shared_ptr<std::FILE> file(std::fopen(path.c_str(), "ae"), [](std::FILE* opened) {
    if (opened != nullptr) std::fclose(opened);
  });
  if (file == nullptr) ThrowErrno("cannot open '" + path + "' for metrics");
  return [file](const std::string& line) {
    std::fputs((line + "\n").c_str(), file.get());
    std::fflush(file.get());
  };
}

// Returns whether the flag belongs to the foreign protocol.
bool ParseForeignFlag(std::string_view flag, std::string_view value, const ForeignProtocol& foreign,
                      RealHostOptions& options) {
  if (flag == "--" + foreign.name) {
    options.foreign_endpoint = ParseEndpoint(value);
  } else if (flag == "--" + foreign.name + "-listen-fd") {
    options.foreign_listen_fd = ParseNumber<int>(flag, value);
  } else {
    return false;
  }
  options.foreign = foreign;
  return true;
}

RealHostOptions ParseFlags(int argc, char** argv, const ForeignProtocol* foreign) {
  const std::string usage = Usage(foreign);
  RealHostOptions options;
  options.handle_signals = true;
  bool has_id = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(std::string(flag) + " lacks a value; " + usage);
    const std::string_view value = argv[i + 1];
    if (flag == "--id") {
      options.self = ParseNumber<PeerId>(flag, value);
      has_id = true;
    } else if (flag == "--peers") {
      options.replicas = ParseEndpoints(value);
    } else if (flag == "--data") {
      options.data_dir = value;
    } else if (flag == "--seed") {
      options.seed = ParseNumber<std::uint64_t>(flag, value);
    } else if (flag == "--listen-fd") {
      options.listen_fd = ParseNumber<int>(flag, value);
    } else if (flag == "--metrics") {
      options.on_metrics = MetricsTo(std::string(value));
    } else if (foreign == nullptr || !ParseForeignFlag(flag, value, *foreign, options)) {
      throw std::invalid_argument("unknown flag " + std::string(flag) + "; " + usage);
    }
  }
  if (!has_id || options.replicas.empty() || options.data_dir.empty()) {
    throw std::invalid_argument(std::string("--id, --peers and --data are needed; ") + usage);
  }
  return options;
}

std::unique_ptr<RealHost> MakeHost(int argc, char** argv, const ForeignProtocol* foreign) {
  try {
    return std::make_unique<RealHost>(ParseFlags(argc, argv, foreign), MakeService);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return nullptr;
  }
}

}  // namespace

int RealMain(int argc, char** argv, const ForeignProtocol* foreign) {
  signal(SIGPIPE, SIG_IGN);  // the replica survives the end of its log's reader
  InstallStackOverflowHandler();
  const auto host = MakeHost(argc, argv, foreign);
  if (host == nullptr) return 2;
  try {
    host->Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: an exception escaped: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace depfast::real
