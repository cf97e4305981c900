// The echo service as a program of its own.
#include "echo_service.h"
#include "real/main.h"

std::unique_ptr<depfast::Service> depfast::MakeService(Runtime& runtime) {
  return std::make_unique<real::EchoService>(runtime);
}

int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
