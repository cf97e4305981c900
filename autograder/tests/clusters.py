"""What tests of `kit cluster` ask of a cluster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from failslow.cluster import replica_processes

RunKit = Callable[..., int]


def pids(data: Path) -> list[int]:
    return [process.pid for process in replica_processes.find(data)]


def shown(run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    run_kit("cluster", "status", "--data", data, "--json")
    return json.loads(capsys.readouterr().out)


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one-line reason."""
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("kit: ")]
    assert len(said) == 1
    return said[0]
