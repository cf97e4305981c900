"""Verdicts and pages of experiments on real processes, with invented slices."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import recordings
from demands import some
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.commands import demo, experiments, fault_experiments
from failslow.extras.faults import (
    catalogue,
    experiment,
    experiment_page,
    probe,
    targets,
    verdict,
    waits,
)
from failslow.extras.faults.bench import Bench, LabBench
from failslow.extras.faults.experiment import (
    CONDITIONS,
    DEAD,
    HEALTHY,
    ORDER,
    SLOW,
    Experiment,
    HeldFault,
    Run,
)
from failslow.extras.faults.experiment_page import Shown
from failslow.extras.faults.targets import Place
from failslow.extras.faults.verdict import FAIL, INCONCLUSIVE, PASS, TOLERANT, Cost, Costs, Verdict
from failslow.extras.slowness.graph import Edge, merged
from failslow.lab.labs import load_labs
from failslow.measurement.settings import Loss
from running import Expect

COMMANDS = 200


def slices(mean_us: float, noise: float = 0.02, commands: int = COMMANDS, count: int = 50) -> list:
    """Slices whose means are spread about the mean by a share."""
    draws = random.Random(f"{mean_us} {noise} {commands}")
    return [[round(mean_us * draws.gauss(1, noise))] * commands for _ in range(count)]


def judged(slow: list, healthy: list | None = None) -> Verdict:
    return verdict.judge(verdict.costs(healthy or slices(5000), slow), [])


STALLED = [[] if number % 5 == 0 else each for number, each in enumerate(slices(5000))]
FEW_STALLS = [
    [80_000] * COMMANDS if at in (3, 30) else each for at, each in enumerate(slices(5000))
]
FEWER = slices(5000, commands=150)


@pytest.mark.parametrize(
    ("slow", "healthy", "word", "reason"),
    [
        (slices(5000, commands=180), None, FAIL, "10.0 % (10.0 to 10.0) of throughput"),
        (slices(5000, commands=194), None, PASS, ""),
        (STALLED, None, FAIL, ""),
        ([[] for _ in range(50)], None, FAIL, ""),
        (FEW_STALLS, None, PASS, ""),
        (slices(6000), slices(6000), PASS, ""),
        (slices(6000), None, FAIL, ""),
        (FEWER, FEWER, PASS, ""),
        (slices(4000), None, INCONCLUSIVE, "the healthy runs were slower by 20 %"),
        (slices(5100, noise=0.2), None, INCONCLUSIVE, "this machine is too noisy"),
    ],
)
def test_slow_runs_are_compared_with_healthy_ones(
    slow: list, healthy: list | None, word: str, reason: str
) -> None:
    found = judged(slow, healthy)
    assert (found.word, reason in found.reason) == (word, True)


def test_one_of_two_proposers_may_gain_more() -> None:
    def word(slow_us: float, disturbed: float) -> str:
        measured = verdict.costs(slices(5000), slices(slow_us))
        return verdict.judge(measured, [], disturbed=disturbed).word

    assert [word(4300, each) for each in (0.1, 0.2)] == [INCONCLUSIVE, PASS]
    assert word(3900, 0.2) == INCONCLUSIVE


@pytest.mark.parametrize(
    ("slow_us", "word"), [(4600, PASS), (5000, PASS), (5150, PASS), (5400, FAIL), (23000, FAIL)]
)
def test_five_percent_of_latency_is_the_limit(slow_us: float, word: str) -> None:
    assert judged(slices(slow_us)).word == word


@pytest.mark.parametrize(
    ("limits", "latency_word", "throughput_word"),
    [
        (TOLERANT, FAIL, FAIL),
        (Loss(throughput=0.05, latency=0.1), PASS, FAIL),
        (Loss(throughput=0.1, latency=0.05), FAIL, PASS),
    ],
)
def test_latency_and_throughput_have_limits_of_their_own(
    limits: Loss, latency_word: str, throughput_word: str
) -> None:
    def word(slow: list) -> str:
        return verdict.judge(verdict.costs(slices(5000), slow), [], limits=limits).word

    assert word(slices(5400)) == latency_word
    assert word(slices(5000, commands=184)) == throughput_word


def test_noise_is_compared_with_the_limit_in_force() -> None:
    limits = Loss(throughput=0.1, latency=0.15)
    found = verdict.judge(verdict.costs(slices(5000), slices(5700, noise=0.2)), [], limits=limits)
    assert found.word == INCONCLUSIVE
    assert "of mean latency is on both sides of 15 %" in found.reason


@pytest.mark.parametrize(
    ("lab", "target", "role", "limits", "disturbed"),
    [
        ("lab2", "follower", "follower", TOLERANT, 0.1),
        ("lab2", "leader", "leader", TOLERANT, 0.1),
        ("lab5", "follower", "follower", Loss(throughput=0.05, latency=0.1), 0.1),
        ("lab5", "copilot", "copilot", Loss(throughput=0.15, latency=0.25), 0.2),
        ("lab5", "0", "pilot", Loss(throughput=0.15, latency=0.25), 0.2),
        ("lab5", "2", "dead", TOLERANT, 0.1),
    ],
)
def test_a_replica_may_cost_and_gain_what_its_role_allows(
    monkeypatch: pytest.MonkeyPatch,
    lab: str,
    target: str,
    role: str,
    limits: Loss,
    disturbed: float,
) -> None:
    asked = []

    def known(_place: object, _lab: object, word: str) -> tuple[int, str]:
        asked.append(word)
        return 0, role

    monkeypatch.setattr(targets, "target", known)
    kit = this_kit()
    bench = LabBench(kit=kit, place=cast(Place, None), lab=load_labs(kit).get(lab))
    assert bench.limits(target) == limits
    assert bench.disturbed(target) == disturbed
    assert asked == [target, target]


def test_a_cost_is_named_with_its_interval() -> None:
    reason = judged(slices(5500)).reason
    match = re.fullmatch(
        r"the slow replica costs (\S+) % \((\S+) to (\S+)\) of mean latency", reason
    )
    assert match is not None
    value, low, high = (float(each) for each in match.groups())
    assert low < value < high
    assert value == pytest.approx(10, abs=1)


def test_the_same_slices_have_the_same_costs() -> None:
    data = slices(5000), slices(5100, noise=0.1)
    assert verdict.costs(*data) == verdict.costs(*data)


def test_trouble_fails_whatever_the_costs() -> None:
    measured = verdict.costs(slices(5000), slices(5000))
    assert verdict.judge(measured, ["it never caught up", "it grew"]) == Verdict(
        FAIL, "it never caught up; it grew"
    )


def test_a_machine_that_others_use_is_no_judge() -> None:
    same, slower, far = (
        verdict.costs(slices(5000), slices(latency)) for latency in (5000, 6000, 9000)
    )
    for healthy, slow in ((0.0, 0.16), (0.16, 0.0)):
        for measured in (same, slower):
            judged = verdict.judge(measured, [], (healthy, slow))
            assert judged.word == INCONCLUSIVE
            assert f"{100 * slow:.0f} % of a processor beside the slow runs" in judged.reason
        assert verdict.judge(far, [], (healthy, slow)).word == FAIL, "no browser costs so much"
        assert verdict.judge(same, ["it grew"], (healthy, slow)).word == FAIL
    assert verdict.judge(same, [], (1.0, 1.14)).word == PASS, "it was there all the time"
    assert verdict.judge(slower, [], (1.0, 1.14)).word == FAIL


def test_others_are_compared_between_healthy_and_slow_runs() -> None:
    used = {HEALTHY: [0.1, 0.3], SLOW: [0.5, 0.7], DEAD: [9.0, 9.0]}
    runs = [run(each, others_cores=used[each].pop()) for each in experiment.ORDER]
    measured = verdict.costs(slices(5000), slices(5000))
    done = Experiment(
        "cpu-slow 5%", "follower", 2000, runs, measured, TOLERANT, Verdict(PASS), 30.0
    )
    found = [done.others_cores(each) for each in (HEALTHY, SLOW)]
    assert found == pytest.approx([0.2, 0.6])


# ---- runs ----


CRASH = HeldFault(
    kind=catalogue.FaultKind(0, "crash", "none", 0, 0, "", True, False),
    amount=0,
    target="follower",
    hold_s=2.0,
)


def run(condition: str, hold_s: float = 2.0, began_s: float = 1.0, **changes: object) -> Run:
    """A run of 40 slices, each with its number as the latency."""
    content: dict[str, Any] = {
        "leader_changes": 0,
        "others_cores": 0.0,
        "held_bytes": 5000,
        "leader_grew_bytes": 0,
        "caught_up_s": 1.0,
    }
    content |= changes
    all_slices = [[number * 1000] * 3 for number in range(40)] + [[]]
    content |= {"hold_s": hold_s, "began_s": began_s, "fault_ns": 10**9}
    return Run(**({"condition": condition, "slices": all_slices} | content))


def test_slices_count_while_the_fault_holds() -> None:
    latencies = [each[0] // 1000 for each in run(SLOW).held]
    assert latencies == list(range(14, 30))  # 0.3 s after its begin, to its end
    assert run(SLOW, began_s=1.07).held[0][0] == 15_000
    assert run(SLOW).span == (10**9, 3 * 10**9)


def troubles(slow: Run, healthy: Run | None = None) -> list[str]:
    return experiment._troubles([healthy or run(HEALTHY), slow])


def stalled(condition: str, first: int, count: int) -> Run:
    """Nothing ends in these slices, and nothing is otherwise wrong."""
    there = [[] if first <= number < first + count else [1] * 3 for number in range(40)]
    return replace(run(condition), slices=there)


def test_a_slow_replica_must_catch_up_and_leave_the_leader_alone() -> None:
    assert troubles(run(SLOW)) == []
    assert troubles(run(SLOW, caught_up_s=None)) == [
        "the replica has not caught up 15 s after the fault"
    ]
    assert troubles(run(SLOW, leader_grew_bytes=64 << 20)) == []
    assert troubles(run(SLOW, leader_grew_bytes=65 << 20)) == [
        "the proposer's memory grew by 65 MiB"
    ]


def test_a_new_leader_is_no_trouble_by_itself() -> None:
    assert troubles(run(SLOW, leader_changes=1)) == []
    changed = replace(stalled(SLOW, 12, 5), leader_changes=1)
    assert troubles(changed) == ["for 0.5 s less than half of the commands ended"]


def test_a_long_stall_under_the_fault_fails() -> None:
    assert troubles(stalled(SLOW, 12, 4)) == []
    assert troubles(stalled(SLOW, 12, 5)) == ["for 0.5 s less than half of the commands ended"]
    assert troubles(stalled(SLOW, 31, 8)) == [], "the fault is over"
    assert troubles(stalled(SLOW, 12, 5), stalled(HEALTHY, 12, 5)) == [], "the disk does it, too"


def test_the_fault_is_placed_in_the_measured_window() -> None:
    told = {"slices": [[1]], "window_began_ns": 9 * 10**9, "leader_changes": 2}
    assert experiment._measured(json.dumps(told), 10 * 10**9) == ([[1]], 1.0, 2)


@pytest.mark.parametrize(
    ("condition", "changes", "broken", "late", "others", "reason"),
    [
        (HEALTHY, 0, "", False, 0.5, ""),
        (HEALTHY, 0, "", False, 0.6, "other programs used 60 % of a processor"),
        (SLOW, 1, "", False, 0.6, "other programs used 60 % of a processor"),
        (SLOW, 1, "", False, 0.0, ""),
        (SLOW, 0, "it is full", False, 0.0, "the load has ended: it is full"),
        (HEALTHY, 1, "", False, 0.0, "the cluster has changed its proposer without a fault"),
        (SLOW, 0, "", True, 0.0, "the fault did not begin in time: the machine is too busy"),
    ],
)
def test_a_busy_machine_or_an_election_without_a_fault_disturbs_a_run(
    condition: str, changes: int, broken: str, late: bool, others: float, reason: str
) -> None:
    assert experiment._disturbance(condition, changes, broken, late, others) == reason


def made(monkeypatch: pytest.MonkeyPatch, made_runs: list[Run]) -> Experiment:
    """An experiment whose runs are these, as long as they last, and then undisturbed ones."""
    left = iter(made_runs)
    even = [[5000] * 3] * 40
    monkeypatch.setattr(experiment, "_delay_links", lambda _bench: None)
    monkeypatch.setattr(experiment, "_await_caught_up", lambda _bench: 0.0)
    monkeypatch.setattr(experiment, "rate_of", lambda _bench: 1000)
    monkeypatch.setattr(
        experiment,
        "_run",
        lambda _bench, each, *_: next(left, None) or replace(run(each), slices=even),
    )
    bench = cast(
        Bench,
        SimpleNamespace(limits=lambda _target: TOLERANT, disturbed=lambda _target: 0.1),
    )
    return experiment.run(bench, CRASH, lambda _text: None)


def test_a_disturbed_run_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = run(HEALTHY, disturbed="the machine is busy")  # 2 repeats are enough for 2 of these
    for times, word in ((2, PASS), (3, INCONCLUSIVE)):
        found = made(monkeypatch, [busy] * times)
        assert len(found.runs) == len(ORDER)
        assert found.verdict.word == word
    assert found.verdict.reason == "the machine is busy, 3 times"


def test_an_experiment_without_a_leader_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def disturbed(*_: object) -> Experiment:
        raise experiment.Disturbed("no replica has led within 15 s")

    monkeypatch.setattr(experiment, "run", disturbed)
    told: list[str] = []
    found = experiments._experiment(cast(Bench, None), CRASH, told.append)
    assert found == Verdict(INCONCLUSIVE, "no replica has led within 15 s, 3 times")
    assert len(told) == 3


# ---- waits ----


def edge(mean_ns: int, event: str = "quorum") -> dict[str, object]:
    times = {"count": 2, "total_ns": 2 * mean_ns, "worst_ns": mean_ns}
    return recordings.edge(0, [1], "red", coroutine="replicate", event=event, **times)


def window(begin: int, edges: list[dict[str, object]]) -> dict[str, object]:
    graph = {"replicas": 3, "edges": edges}
    return {"begin_ns": begin, "end_ns": begin + 100, "graph": graph, "warnings": []}


def test_waits_that_grew_with_the_fault_are_named_the_largest_first() -> None:
    windows = [
        window(0, [edge(10), edge(10, "and"), edge(10, "disk")]),
        window(100, [edge(35), edge(90, "and"), edge(20, "disk"), edge(20, "new")]),
        window(200, [edge(10_000)]),
    ]
    found = waits.grown(windows, slow=[(110, 190)], others=[(200, 220)])
    assert [(each.edge.event, each.healthy, each.edge.worst_ns) for each in found] == [
        ("and", one(edge(10, "and")), 90),
        ("quorum", one(edge(10)), 35),
        ("new", None, 20),
    ]


def one(value: dict[str, object]) -> Edge:
    (found,) = merged([{"replicas": 3, "edges": [value]}]).edges
    return found


def test_clients_are_one_waiting_node() -> None:
    few = [edge(10) | {"from": 1000}]
    many = [edge(30) | {"from": 1000 + number} for number in range(6)]
    (found,) = waits.grown([window(0, few), window(100, many)], [(100, 200)], [])
    assert found.healthy == one(few[0])
    assert found.edge.count == 12


def test_a_window_with_little_of_the_fault_is_not_its_own() -> None:
    windows = [window(0, [edge(10)]), window(100, [edge(30)])]
    assert waits.slow_graph(windows, [(80, 129)]).edges == ()
    assert len(waits.slow_graph(windows, [(80, 131)]).edges) == 1


# ---- the page ----


def shown(word: str = PASS) -> Shown:
    costs = Costs(Cost(0.012, -0.003, 0.02), Cost(-0.001, -0.002, 0.0))
    runs = [run(condition) for condition in ORDER]
    done = Experiment(
        "net-slow <40> ms", "follower", 2000, runs, costs, TOLERANT, Verdict(word, "why"), 33.0
    )
    windows = [window(0, [edge(10)]), window(100, [edge(30)])]
    graph = waits.slow_graph(windows, [(100, 200)])
    return Shown(done, graph, waits.grown(windows, [(100, 200)], []))


def test_the_page_says_verdict_and_costs() -> None:
    page = experiment_page.render("mine", [shown(), shown(FAIL)])
    assert "+1.2 % (-0.3 to +2.0)" in page
    assert page.count("may cost 5 % of mean latency and 5 % of throughput") == 2
    assert page.count("PASS</b>") == 1
    assert page.count("FAIL</b>") == 1
    assert "net-slow &lt;40&gt; ms" in page
    assert "<40>" not in page


def test_the_page_draws_every_condition_and_requests_nothing() -> None:
    page = experiment_page.render("mine", [shown()])
    for name in some(CONDITIONS):
        assert page.count(f"<title>{name}</title>") == 3
    assert "0.00" in page
    assert "replicate waits on quorum" in page
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_the_page_of_a_cluster_that_stood_still() -> None:
    empty = run(SLOW, slices=[[] for _ in range(40)], leader_changes=1, caught_up_s=None)
    done = shown(FAIL).experiment
    runs = [empty if each.condition == SLOW else each for each in done.runs]
    still = Experiment(done.fault, "follower", 2000, runs, done.costs, TOLERANT, done.verdict, 33.0)
    page = experiment_page.render("mine", [Shown(still, merged([]), [])])
    assert "caught up never" in page
    assert "<p>None.</p>" in page


# ---- wrong input ----


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "one of the arguments --fault --all is required"),
        ("--fault net-slo", "there is no fault 'net-slo'; is it net-slow?"),
        ("--fault power-cut", "power-cut is for ./kit faults inject alone"),
        ("--fault fs-delay", "fs-delay needs a --strength"),
        ("--fault net-slow --all", "not allowed with argument"),
        ("--fault net-slow --replicas 4", "invalid choice: 4"),
        ("--fault net-slow --lab lab9", "lab9"),
        ("nowhere --fault net-slow --strength 1ms", "no such directory: nowhere"),
    ],
)
def test_wrong_words_are_one_line(
    expect: Expect, words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert reason in expect(2, "faults", "run", *words.split()).reason


def test_the_demo_needs_the_reference(expect: Expect, tmp_path: Path) -> None:
    reason = expect(2, "demo", "--out", tmp_path / "demo").reason
    assert "the demo needs the reference solutions" in reason


def test_the_demo_says_why() -> None:
    moral = demo._moral([shown(), shown(FAIL)])
    assert "made every command 1 times as slow" in moral
    assert "- s0: replicate waits on quorum, at worst 0 ms before, 0 ms with the fault" in moral
    assert "none was seen" in demo._moral([shown(), replace(shown(FAIL), grown=[])])


def test_an_experiment_that_cannot_end_loses_none_before_it(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_one(_bench: object, fault: HeldFault, *_: object) -> Experiment:
        if fault.amount == 40:
            raise CannotDo("the machine is too busy")
        return shown().experiment

    @contextmanager
    def cluster(*_: object) -> Iterator[object]:
        yield SimpleNamespace(
            place=SimpleNamespace(replicas=[]),
            lab=SimpleNamespace(id="lab2", directory="lab2-raft"),
        )

    faults = [("net-slow-10ms", None, 10), ("net-slow-40ms", None, 40)]
    known = SimpleNamespace(load=lambda _: None, PROGRAM=catalogue.PROGRAM)
    for name, fake in {
        "cmake": SimpleNamespace(build=lambda *_, **__: None),
        "catalogue": known,
        "cluster_of": cluster,
        "_named": lambda *_: faults,
        "_name": lambda *_: "mine",
        "with_waits": lambda _, done: [replace(shown(), experiment=each) for each in done],
    }.items():
        monkeypatch.setattr(experiments, name, fake)
    monkeypatch.setattr(experiments.experiment, "run", run_one)
    with pytest.raises(CannotDo, match="too busy"):
        experiments.run(
            kit,
            experiments.Options(
                directory=None,
                fault="net-slow",
                every=False,
                target="follower",
                strength=None,
                lab=None,
                replicas=None,
                docker=False,
                quick=True,
                out=tmp_path,
                as_json=True,
            ),
        )
    assert len(json.loads((tmp_path / experiments.RESULTS).read_text())) == 1
    assert (tmp_path / experiments.PAGE).is_file()


def test_a_fault_that_is_not_faithful_names_a_busy_machine() -> None:
    kind = catalogue.FaultKind(0, "net-slow", "nanoseconds", 0, 0, "", True, False)
    known = catalogue.Catalogue({"net-slow": kind}, {})
    (trial,) = (each for each in probe.TRIALS if each.kind == "net-slow")
    busy = probe.Effect(trial, 1e6, 90e6, 1e6, others_cores=1.8)
    words = "NOT FAITHFUL (the machine is busy: others used 180 % of a processor)"
    assert fault_experiments._measured(known, busy).endswith(words)
    assert fault_experiments._measured(known, replace(busy, others_cores=0.1)).endswith(
        "NOT FAITHFUL"
    )
