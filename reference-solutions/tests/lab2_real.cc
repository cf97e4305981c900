// The reference Raft on real sockets and disks.
#include "real/main.h"

int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
