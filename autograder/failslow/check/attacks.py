"""Submissions that want more than they have earned. None scores more than its honest base, reads
what students must not read, lives on, or takes long.

An attack is a file below `autograder/attacks/<lab>/` that is appended to the starter's first source
file. Its first comment lines say what it tries, and `Stopped-by:` what it dies of. `@KIT@` is the
checkout, `@OUT@` a directory that everybody may write.
"""

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from failslow import cmake, console
from failslow.check import sample
from failslow.check.step import Context, Counts
from failslow.errors import BadSubmission, CannotDo, CouldNotGrade
from failslow.grading import Scope, grade
from failslow.kit import Kit
from failslow.labs import Lab, Labs, load_labs
from failslow.submission import Submission, collect

SCOPE = Scope(measurement=False, gates=False, shrink=False, diagnosis=False)

SECONDS_MAX = 120.0
"""For one attack, compiling included."""

SECRET = "GRADED_TEST"
"""A word of every hidden test, and of no complaint."""

HEADER = re.compile(r"// (?P<what>.*)\n// Stopped-by: (?P<by>.*)\n")


@dataclass(frozen=True)
class Attack:
    """`source`: with its placeholders. `stopped_by`: a part of the reason that the report gives."""

    lab: str
    name: str
    what: str
    stopped_by: str
    source: str


@dataclass(frozen=True)
class Ended:
    """What an attack came to. `said`: everything that the student reads."""

    score: float
    said: str
    seconds: float


def load(kit: Kit) -> list[Attack]:
    """In the order of their names. CannotDo for one without a header."""
    return [_read(path) for path in sorted(kit.attacks.glob("*/*.cc"))]


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    header = HEADER.match(source)
    if not header:
        raise CannotDo(f"{path} does not begin with what it tries and 'Stopped-by:'")
    return Attack(path.parent.name, path.stem, header["what"], header["by"], source)


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
    the walls."""
    kit, counts = context.kit, Counts()
    found = load(kit)
    walls = sample.digest_of(kit, kit.root / "framework" / "hosts" / "sealed")
    chosen = [
        each for each in found if context.full or sample.is_drawn(walls + each.source.encode())
    ]
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
    bases = {lab: _base(kit, labs, labs.get(lab)) for lab in {each.lab for each in found}}
    judged = []
    with console.progress("Attacking") as advance:
        for number, each in enumerate(found, start=1):
            advance(number, len(found), each.name)
            judged.append(_judge(kit, labs, each, bases[each.lab]))
    return judged


def _starter(kit: Kit, labs: Labs, lab: Lab) -> Submission:
    return collect(kit, labs, kit.labs, lab.id)


def _base(kit: Kit, labs: Labs, lab: Lab) -> float:
    return grade(kit, labs, _starter(kit, labs, lab), SCOPE).score


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
    if ended.seconds > SECONDS_MAX:
        yield f"it took {ended.seconds:.0f} s"


def _left_behind(kit: Kit, out: Path) -> Iterator[str]:
    for path in out.iterdir():
        yield f"it left {path.name} behind"
    for process in _processes(kit):
        yield f"process {process} lives on"


def _grade(kit: Kit, labs: Labs, attack: Attack, out: Path) -> Ended:
    started = time.monotonic()
    honest = _starter(kit, labs, labs.get(attack.lab))
    source = attack.source.replace("@KIT@", str(kit.root)).replace("@OUT@", str(out))
    name = next(name for name in sorted(honest.files) if name.endswith(".cc"))
    files = {**honest.files, name: honest.files[name] + source.encode()}
    try:
        graded = grade(kit, labs, replace(honest, files=files), SCOPE)
    except BadSubmission as error:
        return Ended(0.0, f"{error}\n{error.detail}", time.monotonic() - started)
    said = "\n".join(row.output + row.detail for row in graded.rows if not row.earned)
    return Ended(graded.score, said, time.monotonic() - started)


def _processes(kit: Kit) -> Iterator[int]:
    """The processes that run a submission's program."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if kit.submissions in (entry / "exe").readlink().parents:
                yield int(entry.name)
