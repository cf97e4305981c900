// Compiles the reference in the place of its own class.
// Stopped-by: does not compile
#define QuorumEvent TheirQuorumEvent
#include "@KIT@/reference-solutions/lab1-quorum-event/quorum_event.cc"
