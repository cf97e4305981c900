"""A student's own journal of tests, replays and submissions, kept with consent alone."""
