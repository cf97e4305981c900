"""What a step of `kit check` is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from failslow.kit import Kit


@dataclass(frozen=True)
class Context:
    """`scratch` is removed at the end of the check."""

    kit: Kit
    full: bool
    scratch: Path


@dataclass
class Counts:
    """What a step found. Every problem is a line or more for the reader, and one failure."""

    passed: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.problems)

    def expect(self, holds: bool, problem: str) -> None:
        """Counts one check; `problem` says what is wrong when it does not hold."""
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
    """`needs` is the title of a step without which this one cannot be run."""

    title: str
    run: Callable[[Context], Counts]
    needs: str | None = None
