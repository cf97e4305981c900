"""The knowledge of lab 2 alone: see failslow/extras/lab_kits.py."""

SHOWS_GUILTY_STEPS = True
