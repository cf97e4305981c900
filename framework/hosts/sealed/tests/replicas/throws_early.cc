// Its service cannot even be made.
#include <stdexcept>

#include "depfast/host/service.h"

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime&) {
  throw std::runtime_error("no service today");
}
