// The main function of a lab's replica program on real sockets and disks.
#include "real/main.h"

int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
