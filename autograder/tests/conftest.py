"""The fixtures of all tests, and which tests are slow."""

import pytest

from fixtures import cluster, data, expect, kit, simulated, started, tracked  # noqa: F401
from replay_pages import tab  # noqa: F401

SLOW_FIXTURES = {"data", "tab", "tracked"}
"""A test that uses one starts a cluster or a browser, or copies a whole checkout."""
SLOW_FILES = {
    "test_batch",
    "test_containers",
    "test_grade",
    "test_local_gradescope",
    "test_release",
    "test_reproduce",
    "test_similar",
    "test_site_command",
}
"""Their tests start containers, builds of pages, gradings in processes of their own, or hundreds of
measured runs of a fake."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        uses = {*getattr(item, "fixturenames", ())}
        if uses & SLOW_FIXTURES or item.path.stem in SLOW_FILES:
            item.add_marker("slow")
