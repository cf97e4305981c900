"""The diagnosis of labelled variants: their runs, the material for students, and the answers."""
