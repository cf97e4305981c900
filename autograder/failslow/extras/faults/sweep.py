"""The results of many runs with faults: strengths, roles, workloads, and what they cost.

Document 004 calls the strengths between which a system loses 10 % and 50 % its danger zone, and
finds that a weaker fault may cost more than a stronger one.
"""

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from failslow.base.errors import CannotDo
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.stages import SLICE_MS, Stages
from failslow.extras.faults.verdict import Cost

OPEN, A_SECOND = "open", "/s"
"""Loads that do not wait: a share of the capacity, or operations a second, such as 500/s."""
MIXES = ("read", "mixed", "write")
PLACES = ("leader", "one", "all")
LITTLE, MUCH = 0.1, 0.5
"""The bounds of a danger zone (document 004, section 3.3)."""
RATIO_MAX = 1.5
"""A bound is known well enough when the strengths on its two sides have this ratio at most."""
USUAL_S = (2.0, 3.0)
"""For which a fault holds: quickly, or as a rule."""
DIGITS = 2
"""Digits of a strength that bisection has found."""
STRONGER_IS_MORE = ("nanoseconds", "per-mille")
"""In all other units a smaller amount is the stronger fault."""
CLEARLY = 0.05
"""The machine drifts between runs, and the intervals do not know that."""
VOID = "void: "
"""The beginning of the trouble of a cell whose fault had no effect."""


@dataclass(frozen=True)
class Point:
    """The coordinates of a cell. `target`: the role that is slow, for `seconds`. `mix`: of MIXES.
    `load`: clients of a closed loop, OPEN, or a rate. `at`: of PLACES, the replicas that clients
    send to. `costs`: of a processor's work, in per cent: below 100, the processor is faster.
    `foreign`: the system is known by its file alone."""

    system: str
    target: str
    kind: str
    amount: int
    seconds: float
    mix: str = "write"
    value_bytes: int = 256
    load: str = "8"
    at: str = "leader"
    costs: int = 100
    foreign: bool = False

    @property
    def is_open(self) -> bool:
        return self.load == OPEN or self.rate is not None

    @property
    def rate(self) -> int | None:
        """Operations a second, if the point says it."""
        number = self.load.removesuffix(A_SECOND)
        return None if number == self.load else int(number)

    @property
    def unusual(self) -> list[str]:
        """The axes that are not as in most cells, in words."""
        usual = {each.name: each.default for each in fields(Point)}
        open_loop = "open loop" if self.load == OPEN else f"open loop at {self.load}"
        words = {
            "mix": "reads" if self.mix == "read" else f"{self.mix} commands",
            "value_bytes": f"values of {self.value_bytes:,} bytes",
            "load": open_loop if self.is_open else f"{self.load} clients",
            "at": f"clients at {'one follower' if self.at == 'one' else 'all replicas'}",
            "costs": f"a processor at {self.costs} % of the costs",
        }
        found = [text for name, text in words.items() if getattr(self, name) != usual[name]]
        return found if self.seconds in USUAL_S else [*found, f"for {self.seconds:g} s"]


@dataclass(frozen=True)
class Cell:
    """The runs at one point. `loss`: of throughput, as document 004 has it; in an open loop, that
    of a client that waits for each answer. `latency`: the growth of its mean under the fault.
    `p99`: the growth of the 99th percentile of the whole run. `recovery_s`: the longest, None if
    some run did not recover. `late`: commands above stages.LATE_US, under the fault. `trouble`: a
    sentence if a replica died or lied, or if the fault had no effect. `series`: commands, and their
    mean latency in us, by slice, of the first run."""

    point: Point
    fault: str
    loss: Cost
    latency: float | None
    p99: float
    recovery_s: float | None
    residue: float
    leader_changes: int
    late: int
    trouble: str
    began_s: float
    series: tuple[tuple[int, int], ...]

    @property
    def row(self) -> Point:
        """The point of its row."""
        return replace(self.point, amount=0)

    @property
    def is_void(self) -> bool:
        """Then its figures say nothing."""
        return self.trouble.startswith(VOID)


@dataclass(frozen=True)
class Row:
    """All strengths of a fault, the weakest first. `point`: theirs, but for the amount."""

    point: Point
    cells: tuple[Cell, ...]

    @property
    def measured(self) -> "Row":
        """Without void cells."""
        return replace(self, cells=tuple(cell for cell in self.cells if not cell.is_void))

    @property
    def danger_zone(self) -> tuple[Cell, Cell] | None:
        """The strongest fault that costs little before the weakest one that costs much."""
        cells = self.measured.cells
        for at, cell in enumerate(cells):
            if cell.loss.value >= MUCH:
                before = [each for each in cells[:at] if each.loss.value <= LITTLE]
                return (before[-1], cell) if before else None
        return None

    @property
    def zone(self) -> tuple[Cell, ...]:
        """All cells of the danger zone, its ends among them. Empty without one."""
        if not (ends := self.danger_zone):
            return ()
        first, last = map(self.cells.index, ends)
        return self.cells[first : last + 1]

    @property
    def milder(self) -> list[Cell]:
        """Those that clearly cost less than a weaker fault does. A gain is a cost of 0: on few
        cores a slow replica leaves its share to the others."""
        cells = self.measured.cells
        return [
            cell
            for at, cell in enumerate(cells)
            if any(weaker.loss.low > max(cell.loss.high, 0) + CLEARLY for weaker in cells[:at])
        ]


def cell_of(
    point: Point, fault: str, runs: Sequence[Stages], changes: Sequence[int], trouble: str = ""
) -> Cell:
    """Requires: some runs."""
    losses = [_loss(point, run) for run in runs]
    growth = statistics.median(run.latency_growth for run in runs)
    times = [run.recovery_s for run in runs]
    return Cell(
        point,
        fault,
        Cost(*map(_short, (statistics.median(losses), min(losses), max(losses)))),
        None if math.isinf(growth) else _short(growth),
        _short(statistics.median(run.p99_growth for run in runs)),
        None if None in times else max(each or 0.0 for each in times),
        _short(statistics.median(run.residue for run in runs)),
        max(changes),
        min(run.late for run in runs),
        trouble,
        round(runs[0].began_s, 2),
        tuple((len(each), round(sum(each) / len(each)) if each else 0) for each in runs[0].slices),
    )


def _short(figure: float) -> float:
    """Without digits that say nothing: a file of results keeps the rest."""
    return float(f"{figure:.4g}")


def _loss(point: Point, run: Stages) -> float:
    """A client that waits for each answer does 1 / latency. In a closed loop throughput tells."""
    growth = run.latency_growth
    if not point.is_open or math.isinf(growth):
        return run.degradation
    return max(run.degradation, 1 - 1 / (1 + growth))


def measured(rows: Sequence[Row]) -> list[Row]:
    """Those that have cells, without void ones."""
    return [found for row in rows if (found := row.measured).cells]


def rows_of(cells: Sequence[Cell], catalogue: Catalogue) -> list[Row]:
    def place(cell: Cell) -> tuple[object, ...]:
        kind = catalogue.kinds[cell.point.kind]
        point = cell.point
        what = (kind.number, _severity(kind, point))
        rest = [value for name, value in asdict(point).items() if name not in ("kind", "amount")]
        return point.system, point.target, len(point.unusual), *rest, *what

    return [
        Row(which, tuple(members))
        for which, members in groupby(sorted(cells, key=place), lambda cell: cell.row)
    ]


def _severity(kind: FaultKind, point: Point) -> int:
    return point.amount if kind.unit in STRONGER_IS_MORE else -point.amount


# ---- bisection ----


def refinements(rows: Sequence[Row], catalogue: Catalogue) -> list[Point]:
    """Strengths between two that are on both sides of a bound and further apart than RATIO_MAX."""
    found = []
    for row in rows:
        kind = catalogue.kinds[row.point.kind]
        for bound in (LITTLE, MUCH):
            crossing = next(
                (pair for pair in pairwise(row.cells) if _crosses(*pair, bound=bound)), None
            )
            middle = crossing and _middle(kind, *(each.point.amount for each in crossing))
            if middle:
                found.append(replace(row.point, amount=middle))
    return list(dict.fromkeys(found))


def _crosses(one: Cell, two: Cell, bound: float) -> bool:
    return one.loss.value <= bound < two.loss.value and not (one.trouble or two.trouble)


def _middle(kind: FaultKind, one: int, two: int) -> int | None:
    low, high = sorted((one, two))
    if kind.unit == "none" or low == 0 or high / low <= RATIO_MAX:
        return None
    exact = math.sqrt(low * high)
    middle = round(exact, DIGITS - 1 - math.floor(math.log10(exact)))
    return int(middle) if low < int(middle) < high else None


# ---- the file from which a sweep goes on ----


def read(path: Path, subject: str) -> dict[Point, Cell]:
    """The cells that were measured of this subject. CannotDo for a file that is damaged."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CannotDo(f"cannot read {path}: {error.strerror}") from error
    try:
        contents = [json.loads(line) for line in lines]
        cells = [from_json(each["cell"]) for each in contents if each["subject"] == subject]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(
            f"{path} is damaged ({error!r}): remove it, or name another --out"
        ) from error
    return {cell.point: cell for cell in cells}


def results(path: Path) -> list[Row]:
    """Those of a whole sweep, in its order. CannotDo for a file that holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        cells = [from_json(each) for each in content["cells"]]
    except OSError as error:
        raise CannotDo(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"{path} has no results of a sweep ({error!r})") from error
    return [Row(point, tuple(members)) for point, members in groupby(cells, lambda cell: cell.row)]


def append(path: Path, subject: str, cell: Cell) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"subject": subject, "cell": as_json(cell)}) + "\n")
    except OSError as error:
        raise CannotDo(f"cannot write {path}: {error.strerror}") from error


def as_json(cell: Cell) -> dict[str, Any]:
    """Flat: the point's axes, without those that are as usual, and the figures."""
    axes = {each.name: getattr(cell.point, each.name) for each in fields(Point)}
    usual = {each.name: each.default for each in fields(Point)}
    figures = {each.name: getattr(cell, each.name) for each in fields(Cell)}
    del figures["point"]
    loss = [cell.loss.value, cell.loss.low, cell.loss.high]
    return (
        {name: axes[name] for name in axes if axes[name] != usual[name]} | figures | {"loss": loss}
    )


def from_json(content: Mapping[str, Any]) -> Cell:
    """KeyError or TypeError for another content."""
    names = {each.name for each in fields(Point)}
    point = Point(**{name: value for name, value in content.items() if name in names})
    figures = {name: value for name, value in content.items() if name not in names}
    figures["loss"] = Cost(*figures["loss"])
    figures["series"] = tuple((count, mean) for count, mean in figures["series"])
    return Cell(point=point, **figures)


def band(cell: Cell) -> tuple[float, float]:
    """When the fault was on, in seconds."""
    return cell.began_s, cell.began_s + cell.point.seconds


def over_time(cell: Cell) -> Iterator[tuple[float, float, float]]:
    """The end of each slice in seconds, its commands a second, and their mean latency in ms."""
    for number, (count, mean_us) in enumerate(cell.series, start=1):
        yield number * SLICE_MS / 1000, count * 1000 / SLICE_MS, mean_us / 1000
