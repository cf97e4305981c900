// An array that the compiler must write into the object file.
// Stopped-by: does not compile
char bomb[1L << 36] = {1};
