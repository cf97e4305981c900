#include "real/main.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/stack_overflow.h"
#include "depfast/verify/fact_collector.h"
#include "depfast/verify/verification_json.h"
#include "real/promised_files.h"
#include "real/real_host.h"

namespace depfast::real {
namespace {

// Each line is written by one call, so that a reader may follow the file.
std::function<void(const std::string&)> LinesTo(const std::string& path) {
  const std::shared_ptr<std::FILE> file(std::fopen(path.c_str(), "ae"), [](std::FILE* opened) {
    if (opened != nullptr) std::fclose(opened);
  });
  if (file == nullptr) ThrowErrno("cannot open '" + path + "'");
  return [file](const std::string& line) {
    std::fputs((line + "\n").c_str(), file.get());
    std::fflush(file.get());
  };
}

void AddFlags(CLI::App& app, RealHostOptions& options) {
  app.add_option("--id", options.self, "its number")->required();
  app.add_option_function<std::string>(
         "--peers", [&](const std::string& text) { options.replicas = ParseEndpoints(text); },
         "HOST:PORT of all replicas, with commas")
      ->required();
  app.add_option("--groups", options.groups,
                 "the sizes of the groups that the replicas are in, with commas; else one group")
      ->delimiter(',');
  app.add_option("--data", options.data_dir, "its data directory")->required();
  app.add_option("--cluster", options.cluster, "the cluster whose data the directory must hold");
  app.add_option("--seed", options.seed, "of its random numbers");
  app.add_option("--listen-fd", options.listen_fd, "an inherited listening socket");
  app.add_option_function<std::string>(
      "--metrics", [&](const std::string& path) { options.on_metrics = LinesTo(path); },
      "a file for a line of JSON each second");
  app.add_option("--faults", options.faults_file,
                 "a file through which faults of disk and network are injected");
}

// The first life of a replica begins with this. A directory that was wiped must not pass for a new
// one, so no replica does it by itself.
void Format(const RealHostOptions& options) {
  const auto files = OpenDataDirectory(options.data_dir);
  if (!std::filesystem::is_empty(options.data_dir)) {
    throw std::invalid_argument("data directory '" + options.data_dir + "' is not empty");
  }
  PromisedFiles::Format(*files, IdentityOf(options));
}

// Requires of the command line no more than the data directory.
void AddPowerCut(CLI::App& app, bool& cuts_power) {
  const auto cut = [&app, &cuts_power] {
    cuts_power = true;
    for (const char* other : {"--id", "--peers"}) app.get_option(other)->required(false);
  };
  app.add_flag_callback("--lose-unsynced", cut, "take what a power cut may take, and end")
      ->excludes("--format");
}

void LoseUnsynced(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) {
    throw std::invalid_argument("there is no data directory '" + directory + "'");
  }
  const auto files = OpenDataDirectory(directory);
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(directory)) {
    if (each.is_regular_file()) names.push_back(each.path().filename());
  }
  PromisedFiles::LoseUnsynced(*files, names);
}

// Runtime verification writes a line for each window.
void AddVerification(CLI::App& app, RealHostOptions& options,
                     std::optional<FactCollector>& verification) {
  app.add_option_function<std::string>(
      "--verify",
      [&](const std::string& path) {
        verification.emplace(
            [write = LinesTo(path)](const WindowFacts& facts) { write(JsonOf(facts)); });
        options.probes = {&*verification};
      },
      "a file for the warnings and the graph of runtime verification");
}

// The replica serves a client protocol if one of these flags is given.
void AddClientFlags(CLI::App& app, RealHostOptions& options, const ClientProtocol& protocol) {
  app.add_option_function<std::string>(
      "--" + protocol.name,
      [&](const std::string& text) {
        options.client_protocol = protocol;
        options.client_endpoint = ParseEndpoint(text);
      },
      "HOST:PORT for clients of " + protocol.name);
  app.add_option_function<int>(
      "--" + protocol.name + "-listen-fd",
      [&](int fd) {
        options.client_protocol = protocol;
        options.client_listen_fd = fd;
      },
      "an inherited listening socket for them");
}

}  // namespace

int RealMain(int argc, char** argv, const ClientProtocol* protocol) {
  signal(SIGPIPE, SIG_IGN);  // the replica survives the end of its log's reader
  InstallStackOverflowHandler();
  std::optional<FactCollector> verification;  // outlives the host
  RealHostOptions options;
  options.handle_signals = true;
  CLI::App app("A replica as a process with sockets and a disk.");
  AddFlags(app, options);
  bool format = false;
  app.add_flag("--format", format, "make the data directory, and end")->needs("--cluster");
  bool cuts_power = false;
  AddPowerCut(app, cuts_power);
  AddVerification(app, options, verification);
  if (protocol != nullptr) AddClientFlags(app, options, *protocol);
  std::optional<RealHost> host;
  try {
    app.parse(argc, argv);
    if (format) {
      Format(options);
      return 0;
    }
    if (cuts_power) {
      LoseUnsynced(options.data_dir);
      return 0;
    }
    host.emplace(options, MakeService);
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const LostPromise& lost) {
    std::fprintf(stderr, "%s: %s\n", argv[0], lost.what());
    return cuts_power ? 2 : kLostPromise;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  try {
    host->Run();
  } catch (const LostPromise& lost) {
    std::fprintf(stderr, "%s: %s\n", argv[0], lost.what());
    return kLostPromise;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: an exception escaped: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace depfast::real
