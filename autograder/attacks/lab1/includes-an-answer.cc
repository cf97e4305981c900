// Compiles lab 3's model, an answer that is beside the headers of the labs.
// Stopped-by: does not compile
#include "@KIT@/labs/lab3-kv/answers/kv_model.cc"
