"""`kit bench`: speed, measured on this machine, beside a peer in the same run."""
