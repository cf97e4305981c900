// Has a main of its own, which answers for the runtime.
// Stopped-by: multiple definition
int main() { return 0; }
