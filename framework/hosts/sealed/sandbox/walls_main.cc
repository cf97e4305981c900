// sealed_walls: prints the walls that this machine builds around a replica, as a JSON object from
// names to true or false.
#include <cstdio>
#include <exception>

#include "sealed/sandbox/sandbox.h"

int main() {
  using depfast::sealed::Wall;
  try {
    const auto& walls = depfast::sealed::WallsOfThisMachine();
    for (unsigned each = 0; each < depfast::sealed::kWalls; ++each) {
      const auto wall = static_cast<Wall>(each);
      std::printf("%s\"%s\": %s", each == 0 ? "{" : ", ", NameOf(wall),
                  walls.Has(wall) ? "true" : "false");
    }
    std::puts("}");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
