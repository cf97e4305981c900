"""Oral questions on a submission, from its own runs, with answers for staff."""
