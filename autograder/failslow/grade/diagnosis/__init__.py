"""Scores the answers of a diagnosis."""
