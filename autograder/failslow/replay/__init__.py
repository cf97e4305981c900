"""Replays: what a recorded test did, as one HTML page and as a trace for Perfetto."""
