// RealMain: the main function of a replica program. A lab's driver defines depfast::MakeService and
//
//   int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
#pragma once

#include "real/foreign_protocol.h"

namespace depfast::real {

// Runs one replica until SIGTERM or SIGINT. Returns the exit status: 0 after an orderly stop, 1 if
// the replica's code failed, 2 if it could not start, with one line on stderr that says why.
//
//   --id N                    which replica this is
//   --peers HOST:PORT,...     where each replica listens, by id, this one included
//   --data DIR                its data directory, created if missing
//   --seed N                  of its random stream (default: drawn from the kernel)
//   --listen-fd N             a socket that listens already, inherited from the parent
//   --metrics FILE            gets a line of JSON every second, at its end: see metrics.h
//
// A program that also speaks a foreign protocol, named "redis", say, has two flags more. Without
// either it does not listen for such clients.
//
//   --redis HOST:PORT         where it listens for them
//   --redis-listen-fd N       a socket that listens already, inherited from the parent
int RealMain(int argc, char** argv, const ForeignProtocol* foreign = nullptr);

}  // namespace depfast::real
