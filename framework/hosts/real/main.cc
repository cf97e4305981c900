#include "real/main.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "core/stack_overflow.h"
#include "real/real_host.h"

namespace depfast::real {
namespace {

// Each line is written at once and whole, so that a reader may follow the file.
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

// Throws CLI::ParseError, or what parsing an endpoint throws.
RealHostOptions ParseFlags(int argc, char** argv, const ForeignProtocol* foreign) {
  RealHostOptions options;
  options.handle_signals = true;
  CLI::App app("A replica as a process with sockets and a disk.");
  app.add_option("--id", options.self, "its number")->required();
  app.add_option_function<std::string>(
         "--peers", [&](const std::string& text) { options.replicas = ParseEndpoints(text); },
         "HOST:PORT of all replicas, with commas")
      ->required();
  app.add_option("--data", options.data_dir, "its data directory")->required();
  app.add_option("--seed", options.seed, "of its random numbers");
  app.add_option("--listen-fd", options.listen_fd, "an inherited listening socket");
  app.add_option_function<std::string>(
      "--metrics", [&](const std::string& path) { options.on_metrics = MetricsTo(path); },
      "a file for a line of JSON each second");
  if (foreign != nullptr) {
    const auto use = [&] { options.foreign = *foreign; };
    app.add_option_function<std::string>(
        "--" + foreign->name,
        [&, use](const std::string& text) {
          use();
          options.foreign_endpoint = ParseEndpoint(text);
        },
        "HOST:PORT for clients of " + foreign->name);
    app.add_option_function<int>(
        "--" + foreign->name + "-listen-fd",
        [&, use](int fd) {
          use();
          options.foreign_listen_fd = fd;
        },
        "an inherited listening socket for them");
  }
  app.parse(argc, argv);
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
  signal(SIGPIPE, SIG_IGN);  // a reader of our log that has gone is no reason to die
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
