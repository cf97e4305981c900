"""Wrong input on the command line, and the public tests in simulation."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from failslow import compile as compile_module
from failslow.kit import Kit
from fakes import write_submission

RunKit = Callable[..., int]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["grade"],
        ["grade", "nowhere"],
        ["grade", ".", "--lab", "lab9"],
        ["grade", ".", "--seeds", "0"],
        ["grade", ".", "--seeds", "many"],
        ["test"],
        ["test", "lab9"],
        ["test", "lab1", "nowhere"],
        ["replay", "lab1"],
        ["bench", "everything"],
        ["bench", "sim"],
    ],
)
def test_wrong_input_is_one_line_and_exit_2(
    run_kit: RunKit, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run_kit(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("kit: ")


@pytest.fixture
def sims(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """Makes linking a simulation write a fake test binary that holds the submission's words."""
    from fakes import SUITES, TEST_BINARY, write_program

    real = compile_module.build_submission

    def build(*arguments: object) -> Path:
        programs = real(*arguments)
        for program in programs.iterdir():
            words = "".join(f"# {line}\n" for line in program.read_text().splitlines())
            tests = SUITES[program.name.removesuffix("_sim")]
            if not program.read_text().startswith("#!"):
                write_program(program, TEST_BINARY.format(tests=repr(tests)) + words)
        return programs

    monkeypatch.setattr("failslow.commands.sims.build_submission", build)
    return kit


def test_public_tests_pass(sims: Kit, run_kit: RunKit, tmp_path: Path) -> None:
    assert run_kit("test", "lab1", write_submission(tmp_path / "mine")) == 0


def test_a_failure_tells_what_happened_and_how_to_replay(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Quorum.Late")
    assert run_kit("test", "lab1", tree) == 1
    out = capsys.readouterr().out.replace("\n", " ")
    assert "happened: 1 vote" in out
    assert "2 vote" in out
    assert "./kit replay lab1 Quorum.Late --seed 7" in out
    assert "1 of 2 public tests passed" in out


def test_a_crash_in_simulation_is_a_failed_test(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine", "SEGFAULT:Quorum.Late")
    assert run_kit("test", "lab1", tree) == 1
    assert "killed by SIGSEGV" in capsys.readouterr().out


def test_replay_prints_the_history_with_the_seed(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine")
    out = tmp_path / "out"
    assert run_kit("replay", "lab1", "Quorum.Votes", tree, "--seed", 42, "--out", out) == 0
    captured = capsys.readouterr()
    assert captured.out == "1 start\n2 vote\n3 end\n"
    assert "seed 42" in captured.err
    assert run_kit("replay", "lab1", "No.Such", tree, "--out", out) == 2


@pytest.mark.parametrize("behaviour", ["FAIL:Quorum.Late", "SEGFAULT:Quorum.Late"])
def test_replay_draws_what_was_recorded_of_a_failure(
    sims: Kit,
    run_kit: RunKit,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    behaviour: str,
) -> None:
    tree = write_submission(tmp_path / "mine", behaviour)
    out = tmp_path / "out"
    assert run_kit("replay", "lab1", "Quorum.Late", tree, "--out", out) == 1
    assert str(out / "replay.html") in capsys.readouterr().err
    text = (out / "replay.html").read_text()
    assert "Quorum.Late failed" in text
    assert "\\u003c/script> votes" in text
    assert json.loads((out / "replay.trace.json").read_text())["traceEvents"]


def test_replay_draws_nothing_of_a_test_without_a_cluster(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine", "UNRECORDED:Quorum.Votes")
    out = tmp_path / "out"
    assert run_kit("replay", "lab1", "Quorum.Votes", tree, "--out", out) == 0
    assert "replay.html" not in capsys.readouterr().err
    assert not out.exists()


def test_an_instructor_replays_a_hidden_test_by_its_name(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Secret.Nesting")
    out = tmp_path / "out"
    assert run_kit("replay", "lab1", "Secret.Nesting", tree, "--out", out) == 1
    assert "Secret.Nesting failed" in (out / "replay.html").read_text()
    assert run_kit("test", "lab1", tree) == 0
    assert "Secret" not in capsys.readouterr().out


def test_replay_writes_into_directories_only(
    sims: Kit, run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_submission(tmp_path / "mine")
    file = tmp_path / "file"
    file.write_text("kept")
    assert run_kit("replay", "lab1", "Quorum.Votes", tree, "--out", file) == 2
    assert capsys.readouterr().err == f"kit: --out: {file} is not a directory\n"
    assert file.read_text() == "kept"


def test_bench_reads_the_programs(kit: Kit, run_kit: RunKit, tmp_path: Path, capsys) -> None:  # noqa: ANN001
    from fakes import write_program

    line = {"name": "echo", "value": 2e6, "unit": "events/s", "at_least": 1e6}
    write_program(kit.binary("bench_sim"), f"print({json.dumps(line)!r})")
    times = [
        {"name": "coroutine_switch", "cpu_time": 30.0, "time_unit": "ns"},
        {"name": "boost_switch", "cpu_time": 10.0, "time_unit": "ns"},
    ]
    for name in ("bench_core", "bench_quorum"):
        write_program(kit.binary(name), f"print({json.dumps({'benchmarks': times})!r})")
    out = ("--out", tmp_path / "out")
    assert run_kit("bench", "sim", *out) == 0
    assert run_kit("bench", "sim", "--versus", "etcd", *out) == 2
    capsys.readouterr()
    assert run_kit("bench", "core", "--json", *out) == 1
    figures = json.loads(capsys.readouterr().out)
    assert [figure["passed"] for figure in figures] == [True, True, False]
    assert (tmp_path / "out" / "index.html").is_file()
