"""`kit new-lab`: a lab that is complete, and does little."""
