"""Runs `kit` against a fake checkout, and clusters of fake replicas."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.extras.cluster import replica_processes
from failslow.extras.cluster.replica_processes import Process
from fakes import write_submission


@dataclass(frozen=True)
class Said:
    """The output of a command."""

    out: str
    err: str

    @property
    def reason(self) -> str:
        """The one-line reason why it cannot be done."""
        (line,) = [line for line in self.err.splitlines() if line.startswith("kit: ")]
        return line


Expect = Callable[..., Said]
"""Runs `kit ARGUMENTS...`, whose exit code must be the first argument (None: any)."""


class Cluster:
    """`kit cluster` in one data directory, which does not exist at first."""

    def __init__(self, expect: Expect, data: Path) -> None:
        self._expect = expect
        self.data = data
        self.tree = data.parent / "mine"

    def up(self, words: str = "", *arguments: object, code: int = 0) -> Said:
        """Starts a cluster whose submission holds the given words."""
        shutil.rmtree(self.tree, ignore_errors=True)
        write_submission(self.tree, "", words)
        return self.expect(code, "up", self.tree, *arguments)

    def expect(self, code: int | None, action: str, *arguments: object) -> Said:
        return self._expect(code, "cluster", action, *arguments, "--data", self.data)

    def status(self) -> list[dict[str, Any]]:
        """The status of each replica."""
        return json.loads(self.expect(None, "status", "--json").out)["replicas"]

    def running(self) -> list[Process]:
        return replica_processes.find(self.data)

    def numbers(self) -> list[int]:
        return [process.number for process in self.running()]

    def pids(self) -> list[int]:
        return [process.pid for process in self.running()]

    def ports(self) -> list[int]:
        return [process.port for process in self.running()]
