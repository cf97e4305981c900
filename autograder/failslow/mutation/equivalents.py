"""Changes that break no rule: reviewed, each with its reason, and left out of the score."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow import yaml_file
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.mutation.change import Change


@dataclass(frozen=True)
class Equivalent:
    """Stands for every change of these lines in this function: it knows no line number. Without
    lines it stands for every change of the function."""

    file: str
    function: str
    reason: str
    before: str | None = None
    after: str | None = None

    @property
    def identity(self) -> tuple[str, ...]:
        if self.before is None or self.after is None:
            return self.file, self.function
        return self.file, self.function, _joined(self.before), _joined(self.after)


def load(kit: Kit, lab: str) -> list[Equivalent]:
    """CannotDo for a file that is not understood, or names a lab's change twice."""
    path = kit.mutation / "equivalents.yaml"
    found = [Equivalent(**entry) for entry in yaml_file.load(path, "equivalents").get(lab, [])]
    seen: set[tuple[str, ...]] = set()
    for each in found:
        if each.identity in seen:
            raise CannotDo(f"{_at(path, lab, each)}: an earlier entry is the same")
        seen.add(each.identity)
    return found


def without(
    kit: Kit, lab: str, changes: Sequence[Change], equivalents: Sequence[Equivalent]
) -> list[Change]:
    """The changes that are not recorded. CannotDo for an entry that no change matches."""
    known = {name for each in changes for name in _names(each)}
    for each in equivalents:
        if each.identity not in known:
            path = kit.mutation / "equivalents.yaml"
            raise CannotDo(
                f"{_at(path, lab, each)}: there is no such change; the code may have changed"
            )
    recorded = {each.identity for each in equivalents}
    return [each for each in changes if not recorded & _names(each)]


def _names(change: Change) -> set[tuple[str, ...]]:
    """The identities of the entries that stand for a change."""
    return {change.identity, change.identity[:2]}


def _at(path: Path, lab: str, each: Equivalent) -> str:
    lines = each.function if each.before is None else f"'{each.before}' to '{each.after}'"
    return f"{path}: {lab}: {each.file}: {lines}"


def _joined(text: str) -> str:
    return " ".join(text.split())
