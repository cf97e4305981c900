"""Faults of the catalogue on running replicas."""
