// fault_catalogue: prints the catalogue of faults as JSON.
#include <cstdio>

#include "faults/catalogue_json.h"

int main() {
  std::puts(depfast::faults::CatalogueJson().c_str());
  return 0;
}
