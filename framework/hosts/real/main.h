// RealMain: the main function of a replica program. A lab's driver defines depfast::MakeService and
//
//   int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
#pragma once

#include "real/client_protocol.h"

namespace depfast::real {

// The exit status of a replica that must not run, because its disk has lost what it had promised.
inline constexpr int kLostPromise = 3;

// Runs one replica until SIGTERM or SIGINT. Returns the exit status: 0 after an orderly stop, 1 if
// the replica's code failed, 2 if it could not start, or kLostPromise. A failure prints a one-line
// reason on stderr.
//
//   --id N                    this replica's id
//   --peers HOST:PORT,...     the addresses of all replicas, by id, this one included
//   --data DIR                its data directory, created if missing
//   --cluster NAME            the cluster whose data the directory must hold: see promised_files.h.
//                             Without it any directory will do
//   --format                  makes the empty data directory that of this replica of the cluster,
//                             and ends
//   --lose-unsynced           takes from the data directory of a replica that does not run what a
//                             power cut may take, and ends. It needs no other flag than --data, and
//                             refuses a directory that has lost a promise already, with status 2
//   --seed N                  of its random stream (default: drawn from the kernel)
//   --listen-fd N             a socket that listens already, inherited from the parent
//   --metrics FILE            a line of JSON is appended to it every second: see metrics.h
//   --verify FILE             runtime verification appends a line for each window to it
//   --faults FILE             a file through which faults are injected: see fault_file.h
//
// A program with a client protocol, for example "redis", has two more flags. Without either flag
// it does not listen for such clients.
//
//   --redis HOST:PORT         the address on which it listens for them
//   --redis-listen-fd N       a socket that listens already, inherited from the parent
int RealMain(int argc, char** argv, const ClientProtocol* protocol = nullptr);

}  // namespace depfast::real
