"""Replays: the recording of a test, as one HTML page and as a trace for Perfetto."""
