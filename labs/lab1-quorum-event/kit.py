"""The knowledge of lab 1 alone: see failslow/extras/lab_kits.py."""

SHOWS_GUILTY_STEPS = True
