"""The knowledge of lab 1 alone: see failslow/extras/lab_kits.py."""

NAMES_FAULTY_STEPS = True
