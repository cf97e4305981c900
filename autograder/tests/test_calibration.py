"""`kit bench calibrate`: fits, models and verdicts, from numbers with a known result."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from failslow.bench import clocks, load, page
from failslow.calibration import command, device, fit, load_run, predict, profile, section
from failslow.calibration.compare import Comparison
from failslow.calibration.device import Disk, Samples, Wakeup
from failslow.calibration.fit import Fit
from failslow.calibration.load_run import Replica, Row
from failslow.calibration.predict import Prediction
from failslow.calibration.profile import Costs
from failslow.calibration.workloads import FITTED, VALIDATED, Workload
from failslow.errors import CannotDo
from failslow.kit import Kit

SAMPLE_MACHINE = Path(__file__).resolve().parents[2] / "tools/prediction/tests/machine.json"

COUNTERS = (
    "steps",
    "reads",
    "writes",
    "frames_in",
    "frames_out",
    "client_frames_in",
    "client_frames_out",
    "disk_operations",
    "disk_batches",
    "disk_bytes",
    "disk_directory_syncs",
    "bytes_in",
    "bytes_out",
    "observations",
)


def replica(loop: float = 0.1, disk: float = 0.1, **counters: float) -> Replica:
    return Replica(loop, disk, dict.fromkeys(COUNTERS, 0.0) | counters)


def row(
    workload: Workload | None = None,
    puts: float = 1000.0,
    mean: float = 500.0,
    foreign: float = 0.1,
    replicas: tuple[Replica, ...] | None = None,
) -> Row:
    return Row(
        workload=workload or Workload(64),
        puts_per_second=puts,
        mean=mean,
        p50=mean,
        p99=2 * mean,
        client_cpu=0.1,
        client_turns=2000.0,
        replicas=replicas or (replica(client_frames_in=puts), replica(), replica()),
        foreign=foreign,
        overhead=0.05,
    )


DISK = Disk(100_000, 100, 1, 10, 10**9, 3, 3, 40_000, 900_000)


def costs() -> Costs:
    loop = Fit(dict.fromkeys(fit.LOOP, 1e-6), 0.05)
    disk = Fit(dict.fromkeys(fit.DISK, 2e-6), 0.1)
    client = Fit({"per_turn": 3e-5, "per_operation": 4e-7}, 0.1)
    return Costs(loop, disk, client, DISK, Wakeup(0, 5000), 0.5)


# ---- least squares ----


def test_costs_are_found_again() -> None:
    amounts = [
        {"a": 1.0, "b": 10.0, "c": 0.0},
        {"a": 2.0, "b": 1.0, "c": 3.0},
        {"a": 5.0, "b": 5.0, "c": 1.0},
        {"a": 0.5, "b": 7.0, "c": 9.0},
    ]
    truth = {"a": 3e-6, "b": 0.5e-6, "c": 2e-6}
    times = [sum(each[name] * cost for name, cost in truth.items()) for each in amounts]
    found = fit.explain(amounts, times, ["a", "b", "c"])
    assert found.costs == pytest.approx(truth, rel=1e-4)
    assert found.error == pytest.approx(0, abs=1e-5)


def test_no_cost_is_negative() -> None:
    # The best line through these would fall.
    amounts = [{"each": 1.0, "more": value} for value in (1.0, 2.0, 3.0)]
    found = fit.explain(amounts, [3.0, 2.0, 1.0], ["each", "more"])
    assert found.costs["more"] == 0.0
    assert found.costs["each"] > 0.0


def test_large_and_small_samples_count_alike() -> None:
    amounts = [{"a": 1.0}, {"a": 1.0}, {"a": 1000.0}]
    found = fit.explain(amounts, [1.0, 1.0, 4000.0], ["a"])
    assert found.costs["a"] < 2.0, "two say 1, and one says 4, however large it is"
    assert found.error > 0.1


def test_an_unused_cost_is_zero() -> None:
    found = fit.explain([{"a": 1.0, "never": 0.0}], [5.0], ["a", "never"])
    assert found.costs == pytest.approx({"a": 5.0, "never": 0.0})


# ---- bursts ----


def test_the_leader_reads_what_clients_and_followers_wrote() -> None:
    leader = replica(client_frames_in=500.0, reads=100.0, writes=999.0)
    followers = [replica(reads=70.0, writes=40.0), replica(reads=80.0, writes=50.0)]
    each = row(puts=500.0, replicas=(followers[0], leader, followers[1]))
    assert fit.bursts(each, followers[0]) == 70.0
    assert fit.bursts(each, leader) == 500.0 + 40.0 + 50.0, "no client writes without a put"
    busy = replica(client_frames_in=500.0, reads=9000.0)
    assert fit.bursts(row(replicas=(busy, *followers)), busy) == 9000.0


# ---- the disk ----


def disk_samples(nanoseconds: float, sleeps: float = 3.0) -> Samples:
    return Samples([round(nanoseconds * (0.9 + 0.02 * i)) for i in range(11)] * 100, sleeps)


def sync_ns(size: int) -> float:
    return 100_000 + 40_000 * min(1, size / 4096) + 2 * size


def disk_model(company: float = 1.5, alone: dict[int, Samples] | None = None) -> Disk:
    samples = alone or {size: disk_samples(sync_ns(size)) for size in device.BYTES}
    together = disk_samples(company * sync_ns(device.COMMON))
    replaced = disk_samples(sync_ns(device.REPLACED) + 900_000)
    return device.model(samples, together, replaced)


def test_a_sync_has_parts() -> None:
    disk = disk_model()
    assert disk.sync_ns == pytest.approx(100_000, rel=0.02)
    assert disk.growth_ns == pytest.approx(40_000, rel=0.05)
    assert disk.bytes_per_second == pytest.approx(5e8, rel=0.05)
    assert disk.waits_per_batch == 3
    assert disk.directory_ns == pytest.approx(900_000, rel=0.01)
    # Uniform within 10 %.
    assert disk.sync_spread_permille == pytest.approx(100, abs=15)
    assert disk.sync_tail_permille == 0


@pytest.mark.parametrize(("company", "parallel"), [(0.9, 3), (1.5, 3), (3.0, 1)])
def test_company_tells_whether_syncs_take_turns(company: float, parallel: int) -> None:
    assert disk_model(company).parallel_batches == parallel


def test_stragglers_are_told_apart() -> None:
    alone = {size: disk_samples(sync_ns(size)) for size in device.BYTES}
    for size, each in alone.items():
        each.asleep.extend([round(20 * sync_ns(size))] * 11)  # 1 in 101
    disk = disk_model(alone=alone)
    assert disk.sync_tail_permille == 10
    assert disk.sync_tail_factor == pytest.approx(19, abs=1)
    assert disk.sync_ns == pytest.approx(100_000, rel=0.02)


def test_a_batch_as_large_as_a_block_begins_one() -> None:
    assert fit.growths(100.0, 100.0 * 1024) == 25.0
    assert fit.growths(100.0, 100.0 * 4096) == 100.0
    assert fit.growths(100.0, 100.0 * 65536) == 100.0


def test_a_wake_up_is_what_is_left_of_half_a_round_trip() -> None:
    assert device.on_the_way({"mean_ns": 50_000, "cpu_ns": 40_000}) == 5000
    assert device.on_the_way({"mean_ns": 40_000, "cpu_ns": 41_000}) == 0
    with pytest.raises(CannotDo):
        device.on_the_way({"mean_ns": 40_000})


# ---- rows ----


def test_counters_become_rates() -> None:
    lines = [
        b'{"uptime_ms": 1000, "steps": 10, "held_bytes": [1]}',
        b'{"uptime_ms": 2000, "steps": 500, "held_bytes": [1]}',
        b'{"uptime_ms": 3000, "steps": 1010, "held_bytes": [1]}',
    ]
    assert load_run.rates(lines)["steps"] == 500.0
    with pytest.raises(CannotDo, match="too seldom"):
        load_run.rates(lines[:1])


def test_other_work_is_what_neither_replicas_nor_clients_did() -> None:
    first = clocks.Instant(10.0, {7: (0, 0)}, {"cpu0": 0, "cpu1": 0}, {"cpu0": 0, "cpu1": 0})
    last = clocks.Instant(
        12.0,
        {7: (600_000_000, 400_000_000)},
        {"cpu0": 120, "cpu1": 80},
        {"cpu0": 200, "cpu1": 200},
    )
    achieved = load.Result(5.0, 1.0, {500: 1.0, 990: 2.0}, client_cpu_share=0.1, client_turns=3.0)
    found = load_run.row_of(Workload(1), achieved, [{}], first, last)
    assert found.replicas[0].loop == pytest.approx(0.3)
    assert found.replicas[0].disk == pytest.approx(0.2)
    assert found.foreign == pytest.approx(0.6 + 0.4 - 0.5 - 0.1)
    assert found.overhead == pytest.approx(0.2)


def test_only_other_work_is_a_reason_to_measure_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def attempts(rows: list[Row]) -> tuple[Row, int]:
        left = list(rows)
        monkeypatch.setattr(load_run, "_measure_once", lambda *_: left.pop(0))
        return load_run.measure(Kit(Path()), Workload(1)), len(rows) - len(left)

    quiet, slow, disturbed = row(), row(mean=1e6), row(foreign=0.9)
    assert attempts([quiet, quiet]) == (quiet, 1)
    assert attempts([slow, quiet]) == (slow, 1)
    assert attempts([disturbed, disturbed, quiet, quiet]) == (quiet, 3)
    assert attempts([disturbed] * 10) == (disturbed, load_run.ATTEMPTS)


def test_this_process_has_a_clock() -> None:
    first = clocks.read([os.getpid()])
    while clocks.read([os.getpid()]).threads[os.getpid()][0] <= first.threads[os.getpid()][0]:
        sum(range(100_000))
    own, _ = clocks.shares(first, clocks.read([os.getpid()]))[os.getpid()]
    assert own > 0.0
    with pytest.raises(CannotDo):
        clocks.read([2**22 + 1])


# ---- loads ----


def test_no_load_is_both_fitted_and_validated() -> None:
    assert not set(FITTED.closed) & set(VALIDATED.closed)
    assert len(FITTED.open_loops(1e5)) + len(FITTED.closed) == len(FITTED)
    assert [each.rate for each in VALIDATED.open_loops(10_000.0)] == [5001, 7001]
    assert all(each.rate for each in FITTED.open_loops(1.0)), "put_load takes no rate of 0"


def test_fitted_and_validated_loads_take_turns() -> None:
    a, b, c = Workload(1), Workload(2), Workload(3)
    assert command.alternate([a, c], [b]) == [(0, a), (1, b), (0, c)]


# ---- profile and verdict ----


def test_the_profile_has_what_predict_raft_reads() -> None:
    built = profile.build(costs())
    sample = json.loads(SAMPLE_MACHINE.read_text())
    assert {name: set(part) for name, part in built.items()} == {
        name: set(part) for name, part in sample.items()
    }
    assert all(isinstance(value, int) for part in built.values() for value in part.values())


def test_a_step_pays_for_both_threads_and_for_the_kernel() -> None:
    cpu = profile.build(costs())["cpu"]
    assert cpu["per_step_ns"] == 1500
    assert cpu["per_io_ns"] == 1500 + 3000
    assert cpu["per_io_kib_ns"] == 1500 + 3000
    assert cpu["per_batch_ns"] == 3000
    assert cpu["per_directory_ns"] == 3000


def test_costs_are_found_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "disk", lambda _: costs().disk)
    monkeypatch.setattr(device, "wakeup", lambda _: costs().wakeup)
    rows = [
        row(
            puts=puts,
            replicas=(
                replica(
                    loop=10e-6 * steps,
                    disk=20e-6 * batches,
                    steps=steps,
                    disk_batches=batches,
                    client_frames_in=1.0,
                ),
            ),
        )
        for puts, steps, batches in ((1e3, 2e3, 1e3), (2e3, 9e3, 2e3), (4e3, 5e3, 5e3))
    ]
    found = command.find_costs(Kit(Path()), rows)
    assert found.loop.costs["per_step"] == pytest.approx(10e-6, rel=1e-3)
    assert found.disk_thread.costs["per_batch"] == pytest.approx(20e-6, rel=1e-3)
    assert found.overhead == 0.05


@pytest.mark.parametrize(
    ("puts", "mean", "passed"),
    [(1.0, 1.0, True), (1.25, 0.75, True), (1.26, 1.0, False), (1.0, 1.26, False), (0.5, 1, False)],
)
def test_a_prediction_passes_within_a_quarter(puts: float, mean: float, passed: bool) -> None:
    each = Comparison(row(puts=1000.0, mean=500.0), Prediction(1000.0 * puts, 500.0 * mean, 1, 1))
    assert each.passed == passed


# ---- the command ----


@pytest.fixture
def calibrate(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[float, float], int]:
    """Runs the command. The model is wrong by a factor, and other work takes `foreign` cores."""

    def run(factor: float, foreign: float, json: bool = False) -> int:
        def measured(_: Kit, workload: Workload) -> Row:
            return row(workload, foreign=foreign)

        def predicted(_: Kit, path: Path, workload: Workload) -> Prediction:
            assert path.is_file()
            return Prediction(1000.0 * factor, 500.0, 400.0, 900.0)

        monkeypatch.setattr(load_run, "measure", measured)
        monkeypatch.setattr(command, "find_costs", lambda *_: costs())
        monkeypatch.setattr(command, "predict", predicted)
        return command.run(kit, tmp_path / "out", json)

    return run


def test_calibration_says_how_close_it_comes(
    calibrate: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(1.1, 0.1) == 0
    printed = capsys.readouterr().out
    assert "passed" in printed and "FAILED" not in printed
    assert json.loads((tmp_path / "out" / "machine.json").read_text()) == profile.build(costs())
    assert calibrate(1.5, 0.1) == 1
    assert "FAILED" in capsys.readouterr().out


def test_the_median_of_three_rounds_is_compared(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    means = {}

    def measured(_: Kit, workload: Workload) -> Row:
        number = means[workload] = means.get(workload, 0) + 1
        return row(workload, mean=[700.0, 500.0, 100.0][number - 1], foreign=0.9 * (number == 3))

    monkeypatch.setattr(load_run, "measure", measured)
    monkeypatch.setattr(command, "find_costs", lambda *_: costs())
    monkeypatch.setattr(command, "predict", lambda *_: Prediction(1000.0, 700.0, 400.0, 900.0))
    assert command.run(kit, tmp_path) == 0, "the third was disturbed"
    assert sorted(means.values()) == [1] * len(FITTED) + [3] * len(VALIDATED)


def test_the_page_of_results_tells_how_far_each_prediction_is_off(
    calibrate: Callable[..., int], tmp_path: Path
) -> None:
    assert calibrate(1.1, 0.1) == 0
    results = json.loads((tmp_path / "out" / page.RESULTS).read_text())
    figures = {each["name"]: each for each in results[section.KEY]["figures"]}
    load = VALIDATED.closed[0].describe()
    assert figures[f"{load}: puts a second, off by"]["value"] == pytest.approx(10.0)
    assert figures[f"{load}: mean latency, off by"]["value"] == pytest.approx(0.0)
    assert len(figures) == len(results[section.KEY]["figures"]), "no name is there twice"
    assert figures["event loop: step of the event loop"]["value"] == pytest.approx(1.0)
    assert (tmp_path / "out" / page.PAGE).read_text().count("<svg") == 2


def test_calibration_as_json(
    calibrate: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(1.1, 0.1, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["profile"] == profile.build(costs())
    assert len(told["comparisons"]) == len(VALIDATED)
    assert told["comparisons"][0]["throughput_ratio"] == pytest.approx(1.1)


def test_a_busy_machine_gets_no_verdict(
    calibrate: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CannotDo, match=r"other work takes 0\.9 of the two cores"):
        calibrate(1.0, 0.9)
    printed = capsys.readouterr().out
    assert "disturbed" in printed and "passed" not in printed
    assert not (tmp_path / "out" / page.RESULTS).exists()


def test_output_that_is_no_prediction_is_refused(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("", "{}", '{"puts_per_second": "many"}'):
        done = predict.process.Completed(0, text, "", False)
        monkeypatch.setattr(predict.process, "run", lambda *_, done=done, **__: done)
        with pytest.raises(CannotDo, match="malformed"):
            predict.predict(kit, tmp_path, Workload(1))
