"""Fixtures: a checkout made of fakes, and one command run against it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from failslow import cli, cmake
from failslow.kit import Kit
from fakes import write_kit


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(cmake, "build", lambda *_, **__: None)
    monkeypatch.setattr(cmake, "configure", lambda *_: None)
    return write_kit(tmp_path / "checkout")


@pytest.fixture
def run_kit(kit: Kit) -> Callable[..., int]:
    """Runs `kit ARGUMENTS...` against the fake checkout and returns its exit code."""
    return lambda *arguments: cli.main([str(word) for word in arguments], kit)
