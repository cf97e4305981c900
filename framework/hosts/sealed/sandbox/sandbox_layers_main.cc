// sandbox_layers: prints the layers that this machine builds around a replica, as a JSON object
// from names to true or false.
#include <cstdio>
#include <exception>

#include "sealed/sandbox/sandbox.h"

int main() {
  using depfast::sealed::Layer;
  try {
    const auto& layers = depfast::sealed::LayersOfThisMachine();
    for (unsigned each = 0; each < depfast::sealed::kWalls; ++each) {
      const auto layer = static_cast<Layer>(each);
      std::printf("%s\"%s\": %s", each == 0 ? "{" : ", ", NameOf(layer),
                  layers.Has(layer) ? "true" : "false");
    }
    std::puts("}");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
