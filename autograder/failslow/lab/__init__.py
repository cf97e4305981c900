"""Labs and submissions as values."""
