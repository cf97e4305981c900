"""Grades a folder of submissions: each once, on one machine or on a cluster."""
