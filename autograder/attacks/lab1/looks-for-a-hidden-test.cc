// Asks the compiler whether a hidden test has a name.
// Stopped-by: Permission denied
#if __has_include("@KIT@/autograder/hidden/lab1-quorum-event/votes_test.cc")
#error GRADED_TEST
#endif
