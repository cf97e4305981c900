"""Tests of the built kit, by its commands. `kit check` runs them after the build."""

import pytest

from failslow.base.kit import Kit, this_kit


@pytest.fixture(scope="session")
def kit() -> Kit:
    return this_kit()
