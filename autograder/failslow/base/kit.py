"""The paths of a checkout. No other module of the package builds these paths."""

from dataclasses import dataclass
from pathlib import Path

from failslow.base import machine


@dataclass(frozen=True)
class Kit:
    """A checkout of the kit. Tests make one from a temporary directory."""

    root: Path

    @property
    def labs(self) -> Path:
        return self.root / "labs"

    @property
    def handouts(self) -> Path:
        return self.root / "handouts"

    @property
    def hidden(self) -> Path:
        """The hidden tests, by the directory of the lab."""
        return self.root / "autograder" / "hidden"

    @property
    def reference(self) -> Path:
        return self.root / "reference-solutions"

    @property
    def assignment(self) -> Path:
        """Gradescope's file of the assignment: see assignment.py."""
        return self.root / "autograder" / "gradescope" / "assignment.json"

    def catch_up(self, directory: str, processor: str | None = None) -> Path:
        """In a students' kit: the reference of a lab that later labs are built on, compiled for
        a processor, or for this one."""
        return self.labs / directory / "answers" / (processor or machine.platform_name())

    @property
    def stubs(self) -> Path:
        """In a students' kit: the functions that the starters leave to students."""
        return self.root / "autograder" / "stubs.json"

    @property
    def fast(self) -> Path:
        """Tuned versions of reference solutions, for benchmarks."""
        return self.reference / "fast"

    @property
    def given_copies(self) -> Path:
        """Given code with such mistakes. Within the checkout: a key of compiled code counts the
        checkout's headers."""
        return self.build / "given-mutants"

    @property
    def attacks(self) -> Path:
        return self.root / "autograder" / "attacks"

    @property
    def rebase(self) -> Path:
        """`kit mutants rebase` leaves conflicts here."""
        return self.build / "rebase"

    @property
    def course_key(self) -> Path:
        """The key file of the course that uses this checkout. Git ignores it."""
        return self.root / "course.key"

    @property
    def headers(self) -> Path:
        """The public headers of the framework."""
        return self.root / "framework" / "include" / "depfast"

    @property
    def site(self) -> Path:
        """The handbook's sources."""
        return self.root / "site"

    @property
    def handbook(self) -> Path:
        """The built handbook; its start page is index.html."""
        return self.build / "site"

    @property
    def build(self) -> Path:
        return self.root / "build"

    def preset(self, name: str) -> Path:
        """The binary directory of a CMake preset."""
        return self.build / name

    def binary(self, name: str, preset: str = "release") -> Path:
        return self.preset(preset) / "bin" / name

    @property
    def paces(self) -> Path:
        """The times of earlier runs' steps: see pace.py."""
        return self.build / "paces.json"

    @property
    def valid_labs(self) -> Path:
        """The digests of files that are a lab's: see yaml_file.py."""
        return self.build / "valid-labs"

    @property
    def submissions(self) -> Path:
        """Cache of built submissions, one directory per content key."""
        return self.build / "submissions"


def this_kit() -> Kit:
    """The checkout this package is part of."""
    return Kit(Path(__file__).resolve().parents[3])
