"""What only lab 2 knows: see failslow/extras/lab_kits.py."""

SHOWS_GUILTY_STEPS = True
