"""The kit: builds submissions, runs the trusted tests, scores and reports.

No verdict is decided in a process that runs student code: this package talks only to the
test binaries, which hold the student's replicas in processes of their own.
"""
