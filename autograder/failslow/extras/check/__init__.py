"""`kit check`: the kit checks itself, step by step. One module per kind of step."""
