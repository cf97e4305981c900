"""Systems that the kit does not know: one file says all about each."""
