"""The results of many experiments together: strengths of faults, on each role, under two workloads.

Document 004 calls the strengths between which a system loses 10 % and 50 % its danger zone, and
finds that a weaker fault may cost more than a stronger one.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.experiment import Experiment
from failslow.extras.faults.verdict import Cost

WORKLOADS = {"small": 256, "large": 16 * 1024}
"""Bytes of the values of puts."""
LITTLE, MUCH = 0.1, 0.5
"""The bounds of a danger zone (document 004, section 3.4)."""
STRONGER_IS_MORE = ("nanoseconds", "per-mille")
"""In all other units a smaller amount is the stronger fault."""
CLEARLY = 0.05
"""The machine drifts between experiments, and the intervals do not know that."""


@dataclass(frozen=True)
class Cell:
    """One experiment. `loss`: of a client that waits for each answer, the share of its work."""

    target: str
    workload: str
    kind: str
    amount: int
    fault: str
    verdict: str
    reason: str
    loss: Cost
    leader_changed: bool

    @property
    def key(self) -> tuple[object, ...]:
        return self.target, self.workload, self.kind, self.amount


@dataclass(frozen=True)
class Row:
    """All strengths of a fault, the weakest first."""

    target: str
    workload: str
    kind: str
    cells: tuple[Cell, ...]

    @property
    def danger_zone(self) -> tuple[Cell, Cell] | None:
        """The strongest fault that costs little before the weakest one that costs much."""
        for at, cell in enumerate(self.cells):
            if cell.loss.value >= MUCH:
                before = [each for each in self.cells[:at] if each.loss.value <= LITTLE]
                return (before[-1], cell) if before else None
        return None

    @property
    def milder(self) -> list[Cell]:
        """Those that clearly cost less than a weaker fault does."""
        return [
            cell
            for at, cell in enumerate(self.cells)
            if any(weaker.loss.low > cell.loss.high + CLEARLY for weaker in self.cells[:at])
        ]


def cell_of(done: Experiment, workload: str, kind: FaultKind, amount: int) -> Cell:
    return Cell(
        done.target,
        workload,
        kind.name,
        amount,
        done.fault,
        done.verdict.word,
        done.verdict.reason,
        max(_as_loss(done.costs.latency), done.costs.throughput, key=lambda each: each.value),
        any(run.lost for run in done.runs),
    )


def rows_of(cells: Sequence[Cell], catalogue: Catalogue) -> list[Row]:
    def place(cell: Cell) -> tuple[str, str, int, int]:
        kind = catalogue.kinds[cell.kind]
        severity = cell.amount if kind.unit in STRONGER_IS_MORE else -cell.amount
        return cell.target, cell.workload, kind.number, severity

    return [
        Row(*which, tuple(members))
        for which, members in groupby(
            sorted(cells, key=place), lambda cell: (cell.target, cell.workload, cell.kind)
        )
    ]


def _as_loss(latency: Cost) -> Cost:
    """A client that waits for each answer does 1 / latency. Where no command has ended there is no
    latency, and the throughput tells."""
    shares = (latency.value, latency.low, latency.high)
    return Cost(*(1 - 1 / (1 + each) if each > -1 else 0.0 for each in shares))


# ---- the file from which a sweep goes on ----


def read(path: Path, subject: str) -> list[Cell]:
    """The cells that were measured of this subject. CannotDo for a file that is damaged."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CannotDo(f"cannot read {path}: {error.strerror}") from error
    try:
        contents = [json.loads(line) for line in lines]
        return [_cell(each["cell"]) for each in contents if each["subject"] == subject]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(
            f"{path} is damaged ({error!r}): remove it, or name another --out"
        ) from error


def append(path: Path, subject: str, cell: Cell) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"subject": subject, "cell": asdict(cell)}) + "\n")
    except OSError as error:
        raise CannotDo(f"cannot write {path}: {error.strerror}") from error


def _cell(content: dict[str, object]) -> Cell:
    loss = Cost(**content.pop("loss"))
    return Cell(**content, loss=loss)
