"""From built programs to points and a report."""
