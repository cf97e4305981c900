"""The performance of SAUCR in the simulator: figures 7 to 11 of document 003, and our bars.

Five replicas. All figures are exact: the same on every machine.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from failslow.extras.for_labs import CannotDo, Kit, figures, programs

from .published import DISK, FAULTS, MEMORY, SAUCR, SYSTEMS

Figure = figures.Figure
Plot = figures.Plot

RUN = (MEMORY, DISK, SAUCR)

SATURATED, LATENCY = 2620, 1420
"""Commands a second: 120 and 65 % of what memory-durable replicas execute with slow disks."""

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
WORKLOADS = {"load": 0, "A": 50, "B": 95, "C": 100}
"""Workloads of YCSB, with their reads in per cent."""
LEAST_TO_MEMORY = {"load": 91, "A": 91, "B": 96, "C": 99}
"""In per cent. Document 003, section 5.2.2: overheads are within 9 % for the first two, and within
4 % for the third."""
BEATS_US = (100, 1_000, 10_000, 20_000, 100_000, 1_000_000)
GAPS_MS = (10, 20, 30, 40, 55, 70, 100)
ENOUGH_FROM_MS = {"the leader first": 40, "followers first": 55}
BEAT_OF_GAPS_US = 50_000
MINORITY = 2
SETTLED = 10
"""Slots of 10 ms after the death of a follower: its leader waits for it until then."""
WINDOW_S = 2
"""Systems of figure 10."""
NEVER_MS = 1e9

RATIOS = {"hdd": 50.8, "ssd": 2.3}
"""The latency of one client, disk-durable to memory-durable, of document 003, Table 1."""

TEXT = (
    "Five replicas in the simulator. With slow disks a sync takes 5 ms, and a message 1 ms. In the"
    " profiles hdd and ssd one client of a log in memory waits as long as in the document's"
    " Table 1, and a sync takes what it adds there. Ratios are medians over pairs of runs with the"
    f" same seed. Saturated means {SATURATED} commands offered in a second, loaded {LATENCY}: 120 %"
    " and 65 % of what the log in memory executes."
)

Json = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """The seeds 1 to `seeds` of one cell. `words`: of its program's command line."""

    system: str
    words: tuple[str, ...]
    seeds: int
    beat_us: int | None = None
    of: str = "figures"
    """Its program is one of `programs_of`."""

    def of_program(self) -> programs.Run:
        return programs.Run(
            f"{self.system}, {' '.join(self.words)}",
            f"{self.of}_{self.system}",
            (*self.words, "--seeds", str(self.seeds)),
            () if self.beat_us is None else (("SAUCR_BEAT_US", str(self.beat_us)),),
        )


@dataclass(frozen=True)
class Seeds:
    """Numbers of seeds: of pairs, of the bar that nothing is committed in slow mode, of figure 9,
    of each gap of figure 11."""

    pairs: int
    steady: int
    failures: int
    gap: int


QUICK = Seeds(1, 5, 2, 3)
FULL = Seeds(3, 100, 20, 50)


def programs_of(system: str) -> list[str]:
    """The targets that make them, and their files' names."""
    return [f"figures_{system}", f"ycsb_{system}"]


def section(document: Json) -> figures.Section:
    """The figures and plots of `measure`, as those of a benchmark."""
    fields = {name: value for name, value in document.items() if name != "slots"}
    found = [Figure(**figure) for figure in document["figures"]]
    plots = [Plot(**plot) for plot in document["plots"]]
    return figures.Section(**{**fields, "figures": found, "plots": plots})


def missed(document: Json) -> list[str]:
    """A sentence for each bar that is missed."""
    return [
        f"{figure.name} is {figures.number(figure.value)} {figure.unit}, not {figures.bar(figure)}"
        for figure in section(document).figures
        if not figure.passed
    ]


def load(system: str, seeds: int, *words: str, beat_us: int | None = None) -> Run:
    return Run(system, ("load", *words), seeds, beat_us)


def measure(kit: Kit, seeds: Seeds) -> Json:
    """The figures as a document. CannotDo if a run fails, or breaks a rule. Requires: the
    programs are built."""
    runs = list(dict.fromkeys(_plan(seeds)))
    found = programs.lines(kit, "Measuring SAUCR", [run.of_program() for run in runs])
    lines = dict(zip(runs, found, strict=True))
    for run, seen in lines.items():
        for each in seen:
            if each.pop("violation") and run.system == SAUCR:
                raise CannotDo(f"{run.of_program().name}: a run breaks a rule of SAUCR")
    return _Results(seeds, lines).document()


def _offered(system: str, seeds: int, rate: int, fault: str = "none", victims: int = 1) -> Run:
    words = ("--rate", str(rate), "--fault", fault, "--victims", str(victims))
    return load(system, seeds, *words)


def _closed(system: str, seeds: int, profile: str, clients: int) -> Run:
    of_document = ("--bytes", "1024", "--ms", "1000") if profile in RATIOS else ()
    return load(system, seeds, "--profile", profile, "--clients", str(clients), *of_document)


def _workload(system: str, profile: str, name: str) -> Run:
    words = ("--profile", profile, "--reads", str(WORKLOADS[name]))
    return Run(system, words, 1, of="ycsb")


def _beats(beat_us: int, seeds: int) -> Run:
    words = ("--profile", "ssd", "--clients", "8", "--bytes", "1024")
    return load(SAUCR, seeds, *words, beat_us=beat_us)


def _gap(order: str, gap_ms: int, seeds: int) -> Run:
    first = ("--leader-first",) if order == "the leader first" else ()
    of_load = ("--profile", "ssd", "--clients", "1")
    words = ("correlated", *of_load, "--gap-us", str(1000 * gap_ms), *first)
    return Run(SAUCR, words, seeds, BEAT_OF_GAPS_US)


def _failures(seeds: int) -> Run:
    return Run(SAUCR, ("failures",), seeds)


def _plan(seeds: Seeds) -> list[Run]:
    of = seeds.pairs
    both = (SATURATED, LATENCY)
    return [
        _offered(SAUCR, seeds.steady, LATENCY),
        *(_offered(system, of, rate) for system in (SAUCR, MEMORY) for rate in both),
        *(_closed(system, of, "slow-disk", n) for system in (SAUCR, MEMORY) for n in (1, 8)),
        *(
            _offered(SAUCR, of, rate, fault, victims)
            for fault in FAULTS
            for victims in (1, 2)
            for rate in both
        ),
        *(_offered(system, of, rate, "dead", 2) for system in (SAUCR, DISK) for rate in both),
        *(_closed(system, 1, profile, n) for profile in RATIOS for n in CLIENTS for system in RUN),
        *(_workload(system, of, name) for of in RATIOS for name in WORKLOADS for system in RUN),
        _failures(seeds.failures),
        *(_beats(beat, 1) for beat in BEATS_US),
        *(_gap(order, gap, seeds.gap) for order in ENOUGH_FROM_MS for gap in GAPS_MS),
    ]


@dataclass(frozen=True)
class _Results:
    """`lines`: of each seed of a run."""

    seeds: Seeds
    lines: Mapping[Run, list[Json]]

    def document(self) -> Json:
        """The figures and plots as those of a benchmark, and figure 9 by slots of 10 ms."""
        found = figures.Section(
            "saucr",
            "SAUCR in the simulator",
            TEXT,
            [
                *self._fast(),
                *self._slow(),
                *self._deaths(),
                *self._by_beat(),
                *self._by_gap(),
                *self._table_1(),
                *self._to_memory(),
            ],
            [plot for profile in RATIOS for plot in (self._updates(profile), self._ycsb(profile))],
        )
        return asdict(found) | {"slots": self.lines[_failures(self.seeds.failures)][0]["slots"]}

    def _middle(self, name: str, ours: Run, theirs: Run) -> float:
        """The median of the pairs' ratios."""
        pairs = zip(self.lines[ours], self.lines[theirs], strict=True)
        return float(median(one[name] / other[name] for one, other in pairs))

    def _fast(self) -> list[Figure]:
        of = self.seeds.pairs

        def to_memory(name: str, rate: int) -> float:
            return 100 * self._middle(name, _offered(SAUCR, of, rate), _offered(MEMORY, of, rate))

        closed = [
            Figure(
                f"{name}: puts, to memory-durable",
                100
                * self._middle(
                    "per_second",
                    _closed(SAUCR, of, "slow-disk", clients),
                    _closed(MEMORY, of, "slow-disk", clients),
                ),
                "%",
                95,
            )
            for clients, name in ((1, "1 client"), (8, "8 clients"))
        ]
        steady = self.lines[_offered(SAUCR, self.seeds.steady, LATENCY)]
        return [
            Figure(
                "saturated: puts, to memory-durable", to_memory("per_second", SATURATED), "%", 95
            ),
            Figure("loaded: mean latency", to_memory("mean_us", LATENCY), "%", 105, True),
            Figure("loaded: p99", to_memory("p99_us", LATENCY), "%", 110, True),
            *closed,
            Figure(
                f"loaded, {len(steady)} seeds: commands in slow mode after 1 s",
                sum(each["slow"] for each in steady),
                "",
                0,
                True,
            ),
        ]

    def _slow(self) -> list[Figure]:
        """The worst of the faults, each a median."""
        of = self.seeds.pairs
        whole = {rate: _offered(SAUCR, of, rate) for rate in (SATURATED, LATENCY)}
        dead = {rate: _offered(SAUCR, of, rate, "dead", 2) for rate in whole}
        disk = {rate: _offered(DISK, of, rate, "dead", 2) for rate in whole}

        def lost(victims: int, base: Mapping[int, Run]) -> tuple[float, float]:
            slow = {
                fault: {rate: _offered(SAUCR, of, rate, fault, victims) for rate in whole}
                for fault in FAULTS
            }
            return (
                max(self._lost(each, base) for each in slow.values()),
                max(self._grown(each, base) for each in slow.values()),
            )

        one, two = lost(1, whole), lost(2, dead)
        in_memory = min(
            each["fast"] / (each["fast"] + each["slow"])
            for fault in FAULTS
            for rate in whole
            for each in self.lines[_offered(SAUCR, of, rate, fault, 1)]
        )
        return [
            Figure("one slow follower, saturated: puts lost", one[0], "%", 5, True),
            Figure("one slow follower, loaded: mean latency grown", one[1], "%", 5, True),
            Figure("one slow follower: commands in memory", 100 * in_memory, "%", 99),
            Figure("two slow, to two dead, saturated: puts lost", two[0], "%", 5, True),
            Figure("two slow, to two dead, loaded: mean latency grown", two[1], "%", 5, True),
            Figure(
                "two dead, to disk-durable, saturated: puts lost",
                self._lost(dead, disk),
                "%",
                10,
                True,
            ),
            Figure(
                "two dead, to disk-durable, loaded: mean latency grown",
                self._grown(dead, disk),
                "%",
                10,
                True,
            ),
        ]

    def _lost(self, ours: Mapping[int, Run], theirs: Mapping[int, Run]) -> float:
        return 100 * (1 - self._middle("per_second", ours[SATURATED], theirs[SATURATED]))

    def _grown(self, ours: Mapping[int, Run], theirs: Mapping[int, Run]) -> float:
        return 100 * (self._middle("mean_us", ours[LATENCY], theirs[LATENCY]) - 1)

    def _deaths(self) -> list[Figure]:
        runs = self.lines[_failures(self.seeds.failures)]
        quarter = len(runs[0]["slots"]) // 4
        after = min(
            fmean(each["slots"][quarter + SETTLED : 2 * quarter]) / fmean(each["slots"][:quarter])
            for each in runs
        )

        def last(name: str) -> float:
            times = [each[name] for each in runs]
            return NEVER_MS if min(times) < 0 else max(times)

        of = f"{len(runs)} seeds"
        return [
            Figure(f"one dead, {of}: puts from 100 ms on, least", 100 * after, "%", 95),
            Figure(f"a second, {of}: slow mode after", last("slow_after_ms"), "ms", 45, True),
            Figure(f"both back, {of}: fast mode after", last("fast_after_ms"), "ms", 300, True),
        ]

    def _by_beat(self) -> list[Figure]:
        found = {beat: self.lines[_beats(beat, 1)][0] for beat in BEATS_US}
        best = max(each["per_second"] for each in found.values())
        usual = [each for beat, each in found.items() if beat >= 10_000]
        least = min(each["per_second"] for each in usual) / best
        slow = max(each["slow"] / (each["slow"] + each["fast"]) for each in usual)
        rows = [
            Figure("beats of 10 ms and more: puts, to the best", 100 * least, "%", 95),
            Figure("beats of 10 ms and more: commands in slow mode", 100 * slow, "%", 1, True),
        ]
        for beat, each in found.items():
            name = f"figure 10, beats of {beat / 1000:g} ms"
            rows += [
                Figure(f"{name}: puts", each["per_second"], "/s"),
                Figure(f"{name}: in slow mode", each["slow"] / WINDOW_S, "/s"),
                Figure(f"{name}: flushes of a follower", each["flushes"] / WINDOW_S / 4, "/s"),
            ]
        return rows

    def _by_gap(self) -> list[Figure]:
        rows = []
        for order, enough in ENOUGH_FROM_MS.items():
            found = {
                gap: [each["flushed"] for each in self.lines[_gap(order, gap, self.seeds.gap)]]
                for gap in GAPS_MS
            }
            least = min(min(flushed) for gap, flushed in found.items() if gap >= enough)
            name = f"{order}, gaps of {enough} ms and more, {self.seeds.gap} seeds: flushed, least"
            rows.append(Figure(name, least, "replicas", MINORITY))
            rows += [
                Figure(f"figure 11, {order}, {gap} ms: flushed, mean", fmean(flushed), "replicas")
                for gap, flushed in found.items()
            ]
        return rows

    def _table_1(self) -> list[Figure]:
        rows = []
        for profile, printed in RATIOS.items():
            disk, memory = (
                self.lines[_closed(system, 1, profile, 1)][0]["mean_us"]
                for system in (DISK, MEMORY)
            )
            name = f"{profile}, 1 client: mean latency"
            rows += [
                Figure(f"{name}, memory-durable", memory, "us"),
                Figure(f"{name}, disk-durable, to memory-durable", disk / memory, "x"),
                Figure(
                    f"{name}: difference of that ratio from {printed}",
                    100 * abs(disk / memory / printed - 1),
                    "%",
                    20,
                    True,
                ),
            ]
        return rows

    def _workload(self, profile: str, name: str, system: str) -> float:
        return float(self.lines[_workload(system, profile, name)][0]["per_second"])

    def _to_memory(self) -> list[Figure]:
        """The lower one of the two profiles."""
        rows = []
        for name, least in LEAST_TO_MEMORY.items():
            found = min(
                self._workload(profile, name, SAUCR) / self._workload(profile, name, MEMORY)
                for profile in RATIOS
            )
            rows.append(Figure(f"workload {name}: to memory-durable", 100 * found, "%", least))
        return rows

    def _ycsb(self, profile: str) -> Plot:
        return Plot(
            f"Figure 8, {profile}: 8 clients of lab 3's store",
            "per second",
            [f"workload {name}" for name in WORKLOADS],
            {
                SYSTEMS[system]: [self._workload(profile, name, system) for name in WORKLOADS]
                for system in RUN
            },
        )

    def _updates(self, profile: str) -> Plot:
        return Plot(
            f"Figure 7, {profile}: updates",
            "per second",
            [f"{clients} client{'s' * (clients > 1)}" for clients in CLIENTS],
            {
                SYSTEMS[system]: [
                    self.lines[_closed(system, 1, profile, clients)][0]["per_second"]
                    for clients in CLIENTS
                ]
                for system in RUN
            },
        )
