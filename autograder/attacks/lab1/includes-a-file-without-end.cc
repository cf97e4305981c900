// Compiles for ever.
// Stopped-by: does not compile
#include "/dev/zero"
