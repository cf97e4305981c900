"""The kit: builds submissions, runs the trusted tests, scores and reports.

No verdict is made in a process that runs student code. This package talks only to the test
binaries, which run the student's replicas in processes of their own.
"""
