// Deterministic: relays, writes, draws and sleeps, as the in-process twin does.
#include "well.h"

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {
  return std::make_unique<depfast::sealed_tests::WellBehaved>(runtime);
}
