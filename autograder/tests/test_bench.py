"""`kit bench`: its reading of the programs' output, and its file of results."""

import json
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.bench import core, load, programs, raft, results, rpc, sim
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.extras.bench.load import Load, Result


def result(puts_per_second: float, p99: float) -> Result:
    return Result(puts_per_second, 1.0, {500: 1.0, 990: p99}, 0.1)


def rpc_times(alone_ns: float, kernel_ns: float) -> dict[str, float]:
    times = {f"kernel_ping_pong/cores:{cores}": kernel_ns for cores in rpc.CORES}
    for cores in rpc.CORES:
        times[f"rpc/outstanding:1/cores:{cores}"] = alone_ns
        times[f"rpc/outstanding:16/cores:{cores}"] = 2e3
        times[f"rpc/outstanding:128/cores:{cores}"] = 1e3
    return times


def verdicts(figures: list[Figure]) -> dict[str, bool]:
    return {figure.name: figure.passed for figure in figures if figure.bar is not None}


def test_google_times_are_nanoseconds_by_name() -> None:
    text = json.dumps(
        {"benchmarks": [{"name": "rpc/real_time", "real_time": 2.5, "time_unit": "us"}]}
    )
    assert programs.google_times("bench", text, "real_time") == {"rpc": 2500.0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"benchmarks": [{"name": "a"}]}',
        '{"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "no"}]}',
    ],
)
def test_google_output_that_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(CannotDo, match=r"^bench's output is malformed|^bench: a failed: no$"):
        programs.google_times("bench", text, "cpu_time")


@pytest.mark.parametrize("text", ["", "{}", '{"name": "x", "value": "y"}', "{"])
def test_simulator_output_that_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(CannotDo, match=r"^bench_sim(?:'s output is malformed| printed no figure)"):
        sim.parse(text)


def test_a_switch_is_compared_with_boosts() -> None:
    slow = core.figures({"coroutine_switch": 30.0, "boost_switch": 10.0})
    assert verdicts(slow) == {"switch, ours to Boost's": False}
    with pytest.raises(CannotDo, match="does not tell of both switches"):
        core.figures({"coroutine_switch": 30.0})


def test_one_call_at_a_time_need_not_beat_the_kernel() -> None:
    name = "calls, 1 outstanding, one core for both"
    rates = rpc.parse(rpc_times(alone_ns=50e3, kernel_ns=50e3))
    assert verdicts(rpc.figures(rates))[name]  # 20,000/s, and so does the kernel
    rates = rpc.parse(rpc_times(alone_ns=50e3, kernel_ns=20e3))
    assert not verdicts(rpc.figures(rates))[name]  # the kernel makes 50,000/s: 30,000 it must be


def test_a_missing_benchmark_is_noticed() -> None:
    times = rpc_times(1e4, 1e4)
    del times["rpc/outstanding:128/cores:2"]
    with pytest.raises(CannotDo, match="128 outstanding on 2 cores"):
        rpc.parse(times)


@pytest.mark.parametrize(("clients", "puts_at_least"), [(64, 100_000), (256, 140_000)])
def test_raft_has_a_bar_beside_etcd_for_many_clients(clients: int, puts_at_least: int) -> None:
    def verdict(puts: int, p99: float) -> dict[str, bool]:
        results = {("etcd", Load(n)): result(10_000, 10.0) for n in (64, 256)}
        results |= {("raft", Load(n)): result(1_000_000, 1.0) for n in (64, 256)}
        results["raft", Load(clients)] = result(puts, p99)
        return verdicts(raft._ratios(results))

    at_the_bar = verdict(puts_at_least, 5.0)
    assert all(at_the_bar.values())
    puts, p99 = (f"{what}, {clients} clients, ours to etcd's" for what in ("puts", "p99"))
    assert verdict(puts_at_least - 100, 5.0) == at_the_bar | {puts: False}
    assert verdict(puts_at_least, 5.1) == at_the_bar | {p99: False}


def test_the_median_round_counts() -> None:
    rounds = [result(puts, p99) for puts, p99 in ((1, 9.0), (5, 2.0), (3, 4.0))]
    median = load.median(rounds)
    assert (median.puts_per_second, median.percentiles[990]) == (3, 4.0)


def test_a_lost_measurement_is_no_result() -> None:
    told = {
        "puts_per_second": 5.0,
        "mean_us": 1.0,
        "client_cpu_share": 0.1,
        "percentiles_us": [[500, 1.0], [990, 2.0]],
        "leader_changes": 0,
    }
    assert load.parse(json.dumps(told)) == Result(5.0, 1.0, {500: 1.0, 990: 2.0}, 0.1)
    lacking = [{key: value for key, value in told.items() if key != name} for name in told]
    for broken in (*lacking, told | {"percentiles_us": [[500, 1.0]]}):
        with pytest.raises(CannotDo, match="malformed"):
            load.parse(json.dumps(broken))
    with pytest.raises(CannotDo, match="the leader changed"):
        load.parse(json.dumps(told | {"leader_changes": 1}))


def section(key: str, value: float = 2.0) -> Section:
    plot = Plot("A plot", "ms", ["p50", "p99"], {"a": [1.0, 2.0], "b": [3.0, 4.0]})
    return Section(key, f"Section {key}", "Text.", [Figure("speed", value, "x", 3.0)], [plot])


def test_the_latest_results_of_each_benchmark_are_kept(tmp_path: Path) -> None:
    for each in (section("one"), section("two"), section("one", 4.0)):
        where = results.write(tmp_path / "out", each)
    found = json.loads(where.read_text())
    values = {key: [each["value"] for each in kept["figures"]] for key, kept in found.items()}
    assert values == {"one": [4.0], "two": [2.0]}
    assert found["two"]["plots"][0]["series"] == {"a": [1.0, 2.0], "b": [3.0, 4.0]}


def test_results_that_are_not_ours_are_kept(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"mine": 1}')
    with pytest.raises(CannotDo, match="remove it"):
        results.write(tmp_path, section("one"))
    assert (tmp_path / "results.json").read_text() == '{"mine": 1}'
