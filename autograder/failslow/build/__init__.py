"""Builds the kit and submissions, and runs the test programs."""
