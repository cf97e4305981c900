"""Tests of a lab's kit have the fixtures of all Python tests (autograder/tests/fixtures.py)."""

from fixtures import cluster, data, expect, kit, tracked  # noqa: F401
