"""The steps of `kit check`, and their results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from failslow.base.kit import Kit


@dataclass(frozen=True)
class Context:
    """`scratch` is removed at the end of the check."""

    kit: Kit
    full: bool
    scratch: Path


@dataclass
class Counts:
    """The result of a step. Every problem is one failure, with one or more lines of text.
    `skipped`: why this machine cannot take the step; empty if it can."""

    passed: int = 0
    skipped: str = ""
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.problems)

    def expect(self, holds: bool, problem: str) -> None:
        """Counts one check; `problem` describes its failure."""
        if holds:
            self.passed += 1
        else:
            self.problems.append(problem)

    def add(self, other: "Counts") -> None:
        self.passed += other.passed
        self.problems += other.problems
        self.remarks += other.remarks


@dataclass(frozen=True)
class Step:
    """`needs` is the title of a step that must have succeeded before this one."""

    title: str
    run: Callable[[Context], Counts]
    needs: str | None = None
