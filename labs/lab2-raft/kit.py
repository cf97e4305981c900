"""The knowledge of lab 2 alone: see failslow/extras/lab_kits.py."""

NAMES_FAULTY_STEPS = True
