"""Lab 5's `kit bench copilot`: what its figures say of a replica that stops."""

from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras import lab_kits
from failslow.extras.bench import load, servers
from failslow.lab.labs import load_labs
from test_bench import verdicts

KIT = this_kit()
copilot = lab_kits.load(KIT, load_labs(KIT).get("lab5"))
assert copilot is not None
FOLLOWER, PILOT, Window = copilot.FOLLOWER, copilot.PILOT, copilot.Window

HEALTHY = Window([[100, 200, 300, 400]] * 10)


def window(*puts: int, us: int = 250) -> Window:
    """A window with these numbers of puts in its seconds, each of `us` microseconds."""
    return Window([[us] * count for count in puts])


def stops(pilot: Window = HEALTHY, follower: Window = HEALTHY) -> dict[str, bool]:
    windows = {None: [HEALTHY] * 3, PILOT: [pilot] * 3, FOLLOWER: [follower] * 3}
    return verdicts(copilot._stops(windows))


def test_a_window_counts_what_ended_in_it() -> None:
    uneven = Window([[10, 30], [20]])
    assert (uneven.puts, uneven.mean, uneven.p99, uneven.worst_second) == (3, 20, 30, 1)


def test_replicas_are_told_to_keep_their_log_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, str]] = []

    def replicas(_kit: Kit, _target: str, _program: Path, setup: servers.Setup) -> None:
        told.append({**setup.environment})

    monkeypatch.setattr(servers, "replicas_of", replicas)
    copilot.in_memory(KIT)
    assert told == [{"COPILOT_LOG": "in-memory"}]


def test_equal_windows_pass() -> None:
    assert all(stops().values())


@pytest.mark.parametrize(
    ("pilot", "failing"),
    [
        (window(*[4] * 8, 2, 2), []),
        (window(*[3] * 10), ["a pilot stops for 5 s: puts lost"]),
        (window(*[4] * 9, 1), ["a pilot stops: the worst second"]),
    ],
)
def test_a_stopped_pilot_has_two_bars(pilot: Window, failing: list[str]) -> None:
    assert [name for name, passed in stops(pilot=pilot).items() if not passed] == failing


def test_a_stopped_follower_has_three_bars() -> None:
    failing = [
        name for name, passed in stops(follower=window(*[3] * 10, us=900)).items() if not passed
    ]
    assert failing == [
        "a follower stops: puts lost",
        "a follower stops: mean latency",
        "a follower stops: p99",
    ]


def test_the_ratio_to_raft_and_the_rate_have_bars() -> None:
    def result(rate: float) -> load.Result:
        return load.Result(rate, 1.0, {500: 1.0, 990: 2.0}, 0.1)

    rates = {"raft in memory": 200_000, "copilot in memory": 79_000, "raft": 9, "copilot": 3}
    figures = copilot._speed({name: result(rate) for name, rate in rates.items()})
    assert verdicts(figures)["in memory: puts, Copilot's"]
    assert not verdicts(figures)["in memory: puts, to Raft's"]
