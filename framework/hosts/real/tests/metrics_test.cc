// The line of metrics: its contents and its times.
#include "real/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "echo_service.h"
#include "process.h"
#include "real/real_host.h"
#include "support.h"

namespace depfast::real {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Metrics, TellCountersHeldBytesAndTheLatestObservations) {
  RealHostCounters counters;
  counters.network.frames_in.Add(7);
  counters.disk.bytes.Add(512);
  counters.observations.Add(3);
  const std::array<std::size_t, 3> held = {0, 40, 5};
  const std::map<std::uint32_t, Observation> observed = {{1, {1, {3, 2}}}, {2, {2, {17}}}};
  const std::string line =
      MetricsLine({2, 1500ms, held, &observed, "cannot sync log: no luck"}, counters);
  EXPECT_TRUE(line.starts_with("{\"replica\":2,\"uptime_ms\":1500,\"cpu_ms\":")) << line;
  EXPECT_TRUE(Contains(line, "\"observations\":3,")) << line;
  EXPECT_TRUE(Contains(line, "\"frames_in\":7,")) << line;
  EXPECT_TRUE(Contains(line, "\"disk_bytes\":512,")) << line;
  EXPECT_TRUE(Contains(line, "\"disk_failure\":\"cannot sync log: no luck\",")) << line;
  EXPECT_TRUE(
      line.ends_with("\"held_bytes\":[0,40,5],\"observed\":{\"1\":[3,2,0,0],\"2\":[17,0,0,0]}}"))
      << line;
}

TEST(Metrics, OfAHostComeAtItsStartAndWhenItHasStopped) {
  TempDir temp;
  auto [listener, where] = ListenAnywhere();
  RealHostOptions options;
  options.replicas = {where};
  options.data_dir = temp / "data";
  options.listen_fd = dup(listener.get());
  std::vector<std::string> lines;
  RealHost* running = nullptr;
  options.on_metrics = [&](const std::string& line) {
    lines.push_back(line);
    running->Stop();
  };
  RealHost host(options, [](Runtime& runtime) { return std::make_unique<EchoService>(runtime); });
  running = &host;
  host.Run();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(Contains(lines.front(), "\"1\":[0,0,0,0]")) << "EchoService observes kind 1";
}

TEST(Metrics, OfAProgramAreLinesOfAFile) {
  TempDir temp;
  auto [listener, where] = ListenAnywhere();
  const Descriptor inherited(dup(listener.get()));
  const std::string file = temp / "metrics";
  Process process(ECHO_REPLICA,
                  {"--id", "0", "--peers", ToString(where), "--data", temp / "data", "--listen-fd",
                   std::to_string(inherited.get()), "--metrics", file},
                  temp / "log");
  Client client(where);
  EXPECT_EQ(CallText(client, Write{"abc"}), "ok");
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
  const std::string text = Contents(file);
  const std::string last = text.substr(text.rfind("{\"replica\""));
  EXPECT_TRUE(Contains(last, "\"client_frames_in\":1,\"client_frames_out\":1,")) << text;
  EXPECT_TRUE(Contains(last, "\"disk_bytes\":3,")) << text;
  EXPECT_TRUE(text.ends_with("}\n")) << text;
}

}  // namespace
}  // namespace depfast::real
