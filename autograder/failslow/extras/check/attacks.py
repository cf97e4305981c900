"""Submissions that want more than they have earned. None scores more than its honest base, reads
what students must not read, lives on, or takes long.

An attack is a file below `autograder/attacks/<lab>/`. A source is appended to the starter's first
source file. Its first comment lines say what it tries, and `Stopped-by:` what it dies of. `@KIT@`
is the checkout, `@OUT@` a directory that everybody may write. A patch changes the reference, and
names the mutant that is its honest base.
"""

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from failslow.base import console, printable
from failslow.base.errors import BadSubmission, CannotDo, CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.check import sample
from failslow.extras.check.step import Context, Counts
from failslow.grade.model import Scope
from failslow.grade.runner import grade
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.mutants import (
    DESCRIPTION,
    MUTANTS,
    Patched,
    load_mutant,
    materialised,
    path_of,
    read_header,
)
from failslow.lab.submission import Submission, collect

SCOPE = Scope(measurement=False, prerequisites=False, shrink=False, diagnosis=False)

SECONDS_MAX = 120.0
"""For one attack, compiling included."""

SECRET = "GRADED_TEST"
"""A word of every hidden test, and of no complaint."""

HEADER = re.compile(r"// (?P<what>.*)\n// Stopped-by: (?P<by>.*)\n")


STOPPED_BY = "Stopped-by"
BASE = "Base"


@dataclass(frozen=True)
class Attack:
    """`stopped_by`: a part of the reason that the report gives. `path`: of the source, with
    placeholders, or of the patch. `base`: the mutant of the same lab, for a patch."""

    lab: str
    name: str
    what: str
    stopped_by: str
    path: Path
    base: str = ""


@dataclass(frozen=True)
class Ended:
    """An attack's outcome. `said`: everything that the student reads."""

    score: float
    said: str
    seconds: float


def load(kit: Kit) -> list[Attack]:
    """In the order of their names. CannotDo for one without a header."""
    patches = [_read_patch(each.path) for each in load_patches(kit)]
    return sorted(
        [*map(_read, kit.attacks.glob("*/*.cc")), *patches], key=lambda each: (each.lab, each.name)
    )


def load_patches(kit: Kit) -> list[Patched]:
    """The attacks that change the reference. CannotDo for one without a header."""
    return [
        Patched(path, path.parent.name, _patch_header(path)[DESCRIPTION][0])
        for path in sorted(kit.attacks.glob("*/*.patch"))
    ]


def _read(path: Path) -> Attack:
    found = HEADER.match(path.read_text(encoding="utf-8"))
    if not found:
        raise CannotDo(f"{path} does not begin with what it tries and 'Stopped-by:'")
    return Attack(path.parent.name, path.stem, found["what"], found["by"], path)


def _read_patch(path: Path) -> Attack:
    found = _patch_header(path)
    what, stopped_by, base = (found[key][0] for key in (DESCRIPTION, STOPPED_BY, BASE))
    return Attack(path.parent.name, path.stem, what, stopped_by, path, base)


def _patch_header(path: Path) -> dict[str, list[str]]:
    found = read_header(path, (DESCRIPTION, STOPPED_BY, BASE))
    for key in (STOPPED_BY, BASE):
        if key not in found:
            raise CannotDo(f"{path}: no line '{key}: ...'")
    return found


@dataclass(frozen=True)
class Judged:
    """`base`: the score of the honest submission. `ended` is None if the grader failed."""

    attack: Attack
    base: float
    ended: Ended | None
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.attack.lab}/{self.attack.name}"


def run(context: Context) -> Counts:
    """One check for each attack. A part of them, but under --full: another one after each change of
    the sandbox."""
    kit, counts = context.kit, Counts()
    found = load(kit)
    sandbox = sample.digest_of(kit, kit.root / "framework" / "hosts" / "sealed")
    drawn = sample.part([(each, sandbox + each.path.read_bytes()) for each in found])
    chosen = found if context.full else drawn
    for each in judge_all(kit, chosen):
        counts.expect(not each.problems, f"{each.name}: {'; '.join(each.problems)}")
    counts.remarks.append(f"{len(chosen)} of {len(found)} attacks; --attacks makes all")
    return counts


def report(context: Context) -> int:
    """Prints a table. 0 when no attack gains anything, 1 otherwise."""
    cmake.build(context.kit, targets=[cmake.GRADING])
    judged = judge_all(context.kit, load(context.kit))
    console.stdout().print(table(judged))
    for each in judged:
        if each.problems:
            print(f"{each.name}: {'; '.join(each.problems)}")
    return 1 if any(each.problems for each in judged) else 0


def table(judged: Sequence[Judged]) -> Table:
    result = Table(title="Attacks", title_justify="left")
    for name in ("attack", "what it tries", "points", "base", "seconds", "stopped by"):
        result.add_column(name, overflow="fold")
    for each in judged:
        score = f"{each.ended.score:g}" if each.ended else "-"
        seconds = f"{each.ended.seconds:.1f}" if each.ended else "-"
        stopped = "[red]nothing[/red]" if each.problems else escape(each.attack.stopped_by)
        result.add_row(
            each.name, escape(each.attack.what), score, f"{each.base:g}", seconds, stopped
        )
    return result


def judge_all(kit: Kit, found: Sequence[Attack]) -> list[Judged]:
    """Requires: the kit is built for grading."""
    labs = load_labs(kit)
    bases: dict[tuple[str, str], float] = {}
    judged = []
    with console.progress("Attacking") as advance:
        for number, each in enumerate(found, start=1):
            advance(number, len(found), each.name)
            key = (each.lab, each.base)
            if key not in bases:
                bases[key] = _base(kit, labs, *key)
            judged.append(_judge(kit, labs, each, bases[key]))
    return judged


def _starter(kit: Kit, labs: Labs, lab: Lab) -> Submission:
    return collect(kit, labs, kit.labs, lab.id)


def _base(kit: Kit, labs: Labs, lab: str, mutant: str) -> float:
    """The score of the starter, or of a mutant."""
    if not mutant:
        return grade(kit, labs, _starter(kit, labs, labs.get(lab)), SCOPE).score
    with materialised(kit, labs, load_mutant(path_of(kit, MUTANTS, f"{lab}/{mutant}"))) as tree:
        return grade(kit, labs, collect(kit, labs, tree, lab), SCOPE).score


def _judge(kit: Kit, labs: Labs, attack: Attack, base: float) -> Judged:
    with tempfile.TemporaryDirectory(prefix="failslow-attacked-") as name:
        out = Path(name)
        out.chmod(0o777)
        try:
            ended = _grade(kit, labs, attack, out)
        except CouldNotGrade as error:
            return Judged(attack, base, None, (f"the grader failed: {error}",))
        problems = (*_gains(attack, ended, base), *_left_behind(kit, out))
        return Judged(attack, base, ended, problems)


def _gains(attack: Attack, ended: Ended, base: float) -> Iterator[str]:
    if ended.score > base:
        yield f"{ended.score:g} points, its base has {base:g}"
    if attack.stopped_by not in ended.said:
        yield f"'{attack.stopped_by}' is not why it lost: {ended.said[:500]}"
    if SECRET in ended.said:
        yield "its author reads a hidden test"
    if printable.text(ended.said) != ended.said:
        yield "its author's control characters reach a terminal"
    if ended.seconds > SECONDS_MAX:
        yield f"it took {ended.seconds:.0f} s"


def _left_behind(kit: Kit, out: Path) -> Iterator[str]:
    for path in out.iterdir():
        yield f"it left {path.name} behind"
    for process in _processes(kit):
        yield f"process {process} lives on"


def _grade(kit: Kit, labs: Labs, attack: Attack, out: Path) -> Ended:
    started = time.monotonic()
    try:
        with _submission(kit, labs, attack, out) as submission:
            graded = grade(kit, labs, submission, SCOPE)
    except BadSubmission as error:
        return Ended(0.0, f"{error}\n{error.detail}", time.monotonic() - started)
    said = "\n".join(row.output + row.detail for row in graded.rows if not row.earned)
    return Ended(graded.score, said, time.monotonic() - started)


@contextmanager
def _submission(kit: Kit, labs: Labs, attack: Attack, out: Path) -> Iterator[Submission]:
    if attack.base:
        with materialised(kit, labs, Patched(attack.path, attack.lab, attack.what)) as tree:
            yield collect(kit, labs, tree, attack.lab)
        return
    honest = _starter(kit, labs, labs.get(attack.lab))
    source = attack.path.read_text(encoding="utf-8")
    source = source.replace("@KIT@", str(kit.root)).replace("@OUT@", str(out))
    # The lab's own: its directory is the last of those that it needs.
    directory = labs.get(attack.lab).directory
    name = next(
        name for name in sorted(honest.files) if name.startswith(directory) and name.endswith(".cc")
    )
    yield replace(honest, files={**honest.files, name: honest.files[name] + source.encode()})


def _processes(kit: Kit) -> Iterator[int]:
    """The processes that run a submission's program."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if kit.submissions in (entry / "exe").readlink().parents:
                yield int(entry.name)
