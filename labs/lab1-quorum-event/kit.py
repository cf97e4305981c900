"""What only lab 1 knows: see failslow/extras/lab_kits.py."""

SHOWS_GUILTY_STEPS = True
