// Shows its author the environment of the grader.
// Stopped-by: does not compile
#include "/proc/self/environ"
