"""Wrong input on the command line, and the public tests in simulation."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.build.recipe import load_recipe
from failslow.cli import main
from failslow.extras.commands import replay
from failslow.lab.labs import load_labs
from fakes import write_program, write_reply, write_submission
from running import Expect

Mine = Callable[..., Path]


@pytest.mark.parametrize(
    "arguments",
    [
        "replay lab1",
        "test",
        "grade . --key nowhere",
        "bench sim",
        "cluster frobnicate",
        "cluster up nowhere",
        "cluster up --replicas 4",
        "cluster up --port many",
    ],
)
def test_wrong_input_is_one_line_and_exit_2(expect: Expect, arguments: str) -> None:
    said = expect(2, *arguments.split())
    assert said.out == ""
    assert said.err == f"{said.reason}\n"


@pytest.mark.parametrize(
    ("arguments", "meant"), [("tset lab2", "test"), ("release studens out", "students")]
)
def test_a_word_that_is_nearly_right_is_suggested(
    expect: Expect, arguments: str, meant: str
) -> None:
    assert f"did you mean '{meant}'?" in expect(2, *arguments.split()).reason


def test_a_test_of_no_lab_names_the_labs(expect: Expect) -> None:
    reason = expect(2, "test").reason
    assert "lab1 (" in reason


def test_without_a_word_the_commands_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "run a lab's public tests" in capsys.readouterr().out


def test_the_version_is_a_commit(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert re.fullmatch(r"Failslow Labs, (commit [0-9a-f]+ of [\d-]+|without its history)\n", said)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_the_caller_ignores_stays_ignored(
    expect: Expect, number: signal.Signals
) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        expect(2, "frobnicate")
        assert signal.getsignal(number) is signal.SIG_IGN
        signal.signal(number, signal.SIG_DFL)
        expect(2, "frobnicate")
        assert callable(signal.getsignal(number))
    finally:
        signal.signal(number, before)


@pytest.fixture
def mine(simulated: Kit, tmp_path: Path) -> Mine:
    """Writes a submission that behaves as told in simulation."""
    return lambda behaviour="": write_submission(tmp_path / "mine", behaviour)


def test_a_failure_tells_what_happened_and_how_to_replay(expect: Expect, mine: Mine) -> None:
    out = expect(1, "test", "lab1", mine("FAIL:Quorum.Late")).out.replace("\n", " ")
    assert "happened: 1 vote" in out
    assert "2 vote" in out
    assert "./kit replay lab1 Quorum.Late --seed 7" in out
    assert "1 of 2 public tests passed" in out


def test_a_failure_shows_the_last_steps_with_what_stands_below_each(
    expect: Expect, mine: Mine
) -> None:
    out = expect(1, "test", "lab1", mine("FAIL:Quorum.Late STALLS:Quorum.Late")).out
    assert out.count("coroutine 1 waits") == 20
    assert "#6  1.0 s  replica 0 stalls:\n  coroutine 1 waits" in out
    assert "#5 " not in out


@pytest.fixture
def sources(kit: Kit) -> None:
    """The sources of lab 1's public tests: the kit reads their names."""
    tests = kit.labs / load_labs(kit).get("lab1").directory / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "quorum_test.cc").write_text(
        'GRADED_TEST(Quorum, Votes, "a", 1, "b") {}\n'
        'GRADED_TEST(\n    Quorum, Late, "a", 1, "b") {}\n'
    )


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("Quorum.Late", 1), ("Quorum", 2), ("Quorum.*", 2), ("*.V*", 1), ("A", 2)],
)
def test_a_filter_chooses_tests(
    expect: Expect, mine: Mine, sources: None, pattern: str, count: int
) -> None:
    out = expect(0, "test", "lab1", pattern, mine()).out
    assert f"{count} of {count} public tests passed" in out


@pytest.mark.parametrize("command", ["test", "replay"])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Quorum.Lat", "did you mean 'Quorum.Late' or 'Quorum.Votes'?"),
        ("quorum.late", "did you mean 'Quorum.Late'?"),
        ("Votes", "did you mean 'Quorum.Votes'?"),
        ("Quorom", "did you mean 'Quorum'?"),
        ("quorum.*", "did you mean 'Quorum'?"),
        ("Xyz", "it has Quorum, a"),
        ("Secret.Nestin", "it has Quorum, a"),
    ],
)
def test_a_misspelt_test_is_refused_before_compiling(
    expect: Expect, mine: Mine, sources: None, command: str, name: str, says: str
) -> None:
    said = expect(2, command, "lab1", name, mine("SYNTAX"))
    assert said.reason.endswith(says)
    assert f"no public test '{name}'" in said.reason


def test_a_directory_that_is_missing_is_no_misspelt_test(
    expect: Expect, mine: Mine, sources: None, tmp_path: Path
) -> None:
    missing = tmp_path / "nowhere"
    assert "no such directory" in expect(2, "test", "lab1", missing).reason
    assert "no such directory" in expect(2, "test", "lab1", "Quorum.Late", missing).reason


def test_every_test_runs_with_every_seed(expect: Expect, mine: Mine, sources: None) -> None:
    tree = mine("FAILS_WITH_SEED_2:Quorum.Late")
    out = expect(0, "test", "lab1", "Quorum.Votes", tree, "--seeds", 3).out
    assert "1 of 1 public tests passed, each with 3 seeds" in out
    expect(0, "test", "lab1", tree, "--seeds", 1)
    out = expect(1, "test", "lab1", tree, "--seeds", 3).out
    assert "./kit replay lab1 Quorum.Late --seed 2" in out.replace("\n", " ")
    assert "1 of 2 public tests passed, each with 3 seeds" in out
    expect(2, "test", "lab1", tree, "--seeds", 0)


@pytest.mark.parametrize("at", range(4))
def test_an_option_may_stand_anywhere(expect: Expect, mine: Mine, sources: None, at: int) -> None:
    words = ["lab1", "Quorum.Votes", mine()]
    out = expect(0, "test", *words[:at], "--seeds", 3, *words[at:]).out
    assert "1 of 1 public tests passed, each with 3 seeds" in out


@pytest.fixture
def own(kit: Kit) -> Path:
    """A test of the student's own, beside the public ones of lab 1."""
    names = ["lab1_public_sim", "lab1_hidden_sim", "lab1_own_sim"]
    write_reply(kit, load_recipe(kit).compiler, "-O2", {name: {} for name in names})
    tests = kit.labs / load_labs(kit).get("lab1").directory / "tests"
    tests.mkdir()
    file = tests / "mine_test.cc"
    file.write_text('OWN_TEST(Mine, Holds, "It holds.") {}\n')
    return file


def test_own_tests_run_beside_the_public_ones(expect: Expect, mine: Mine, own: Path) -> None:
    tree = mine()
    out = expect(0, "test", "lab1", tree).out
    assert "2 of 2 public tests passed" in out
    assert "1 of 1 own tests passed" in out
    out = expect(0, "test", "lab1", "Mine.Holds", tree).out
    assert "public" not in out
    assert "1 of 1 own tests passed" in out


def test_an_own_test_fails_like_any_other(expect: Expect, mine: Mine, own: Path) -> None:
    own.write_text(own.read_text() + "// FAIL:Mine.Holds\n")
    tree = mine()
    out = expect(1, "test", "lab1", tree).out.replace("\n", " ")
    assert "./kit replay lab1 Mine.Holds --seed 7" in out
    assert "0 of 1 own tests passed" in out
    expect(1, "replay", "lab1", "Mine.Holds", tree, "--out", own.parent / "out")


def test_an_own_test_that_does_not_compile_is_named(expect: Expect, mine: Mine, own: Path) -> None:
    own.write_text(own.read_text() + "SYNTAX\n")
    assert "mine_test.cc:3:1: error" in expect(2, "test", "lab1", mine()).reason


def test_the_public_sources_are_no_own_tests(kit: Kit, own: Path) -> None:
    lab, recipe = load_labs(kit).get("lab1"), load_recipe(kit)
    assert recipe.own(kit, lab) is not None
    assert replace(recipe, public_tests=frozenset([own])).own(kit, lab) is None
    assert replace(recipe, programs={}).own(kit, lab) is None


@pytest.mark.parametrize("ends", ["SEGFAULT", "FAIL"])
def test_a_failed_test_shows_what_its_replicas_said(
    expect: Expect, mine: Mine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    tool = "print('Quorum::Take(int)\\n./lab1-quorum-event/quorum_event.cc:7')"
    write_program(tmp_path / "bin" / "addr2line", tool)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    tree = mine(f"{ends}:Quorum.Late SAYS_WHERE:Quorum.Late")
    out = expect(1, "test", "lab1", tree).out
    said = "crashed: a null pointer was followed\n    at lab1-quorum-event/quorum_event.cc:7 in"
    assert f"{said} Quorum::Take\n  the end\n" in out
    assert "  a line by printf\n" in out
    assert ("  The run printed:\n" in out) == (ends == "FAIL")  # else: the end of the process
    assert ("killed by SIGSEGV" in out) == (ends == "SEGFAULT")
    err = expect(1, "replay", "lab1", "Quorum.Late", tree, "--out", tmp_path).err
    assert "a line by printf" in err
    assert "quorum_event.cc:7 in Quorum::Take" in err
    page = (tmp_path / "replay.html").read_text(encoding="utf-8")
    assert "a line by printf" in page


def test_after_an_endless_loop_no_other_test_begins(
    expect: Expect, mine: Mine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("failslow.base.machine.jobs", lambda: 1)
    out = expect(1, "test", "lab1", mine("LOOPS:Quorum.Votes")).out
    assert "FAILED Quorum.Votes" in out
    assert "replica 1 never waits" in out
    assert "skipped Quorum.Late" in out
    assert "Skipped because of the endless loop in Quorum.Votes" in out
    assert "0 of 2 public tests passed" in out


def test_replay_prints_the_history_with_the_seed(
    expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    more = (mine(), "--out", tmp_path / "out")
    said = expect(0, "replay", "lab1", "Quorum.Votes", *more, "--seed", 42)
    assert said.out == "1 start\n2 vote\n3 end\n"
    assert "seed 42" in said.err
    expect(2, "replay", "lab1", "No.Such", *more)


@pytest.mark.parametrize("behaviour", ["FAIL:Quorum.Late", "SEGFAULT:Quorum.Late"])
def test_replay_draws_what_was_recorded_of_a_failure(
    expect: Expect, mine: Mine, tmp_path: Path, behaviour: str
) -> None:
    out = tmp_path / "out"
    said = expect(1, "replay", "lab1", "Quorum.Late", mine(behaviour), "--out", out)
    assert str(out / "replay.html") in said.err
    text = (out / "replay.html").read_text()
    assert "Quorum.Late failed" in text
    assert "\\u003c/script> votes" in text
    traced = gzip.decompress((out / "replay.trace.json.gz").read_bytes())
    assert json.loads(traced)["traceEvents"]


def test_replay_names_the_fields_of_messages(
    kit: Kit, expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    contract = kit.labs / "lab1-quorum-event" / "contract"
    contract.mkdir()
    (contract / "votes.h").write_text(
        "struct Reply {\n  DEPFAST_FIELDS(term, granted)\n};\n"
        'struct Vote {\n  using Reply = Reply;\n  static constexpr auto kName = "Vote";\n};\n'
    )
    out = tmp_path / "out"
    expect(0, "replay", "lab1", "Quorum.Votes", mine(), "--out", out)
    traced = gzip.decompress((out / "replay.trace.json.gz").read_bytes()).decode()
    for drawing in ((out / "replay.html").read_text(), traced):
        assert "term: 3, granted: true" in drawing


def test_replay_draws_nothing_of_a_test_without_a_cluster(
    expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    tree, out = mine("UNRECORDED:Quorum.Votes"), tmp_path / "out"
    assert "replay.html" not in expect(0, "replay", "lab1", "Quorum.Votes", tree, "--out", out).err
    assert not out.exists()


def test_an_instructor_replays_a_hidden_test_by_its_name(
    expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    tree, out = mine("FAIL:Secret.Nesting"), tmp_path / "out"
    expect(1, "replay", "lab1", "Secret.Nesting", tree, "--out", out)
    assert "Secret.Nesting failed" in (out / "replay.html").read_text()
    assert "Secret" not in expect(0, "test", "lab1", tree).out


def test_replay_shows_the_shortest_schedule_that_fails(
    expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    more = ("--out", tmp_path / "out", "--shrink")
    tree = mine("FAIL:Quorum.Late SHRINKS:Quorum.Late")
    shown = expect(1, "replay", "lab1", "Quorum.Late", tree, *more).err
    assert f"the shortest of {replay.SHRINK_RUNS} runs" in shown
    assert "nothing to shrink" not in shown
    shown = expect(0, "replay", "lab1", "Quorum.Votes", tree, *more).err
    assert "Quorum.Votes has no random faults, so there was nothing to shrink" in shown


def test_replay_writes_into_directories_only(expect: Expect, mine: Mine, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    said = expect(2, "replay", "lab1", "Quorum.Votes", mine(), "--out", file)
    assert said.err == f"kit: --out: {file} is not a directory\n"
    assert file.read_text() == "kept"


def test_bench_reads_the_programs(expect: Expect, kit: Kit, tmp_path: Path) -> None:
    line = {"name": "echo", "value": 2e6, "unit": "events/s", "at_least": 1e6}
    write_program(kit.binary("bench_sim"), f"print({json.dumps(line)!r})")
    times = [
        {"name": "coroutine_switch", "cpu_time": 30.0, "time_unit": "ns"},
        {"name": "boost_switch", "cpu_time": 10.0, "time_unit": "ns"},
    ]
    for name in ("bench_core", "bench_quorum"):
        write_program(kit.binary(name), f"print({json.dumps({'benchmarks': times})!r})")
    out = ("--out", tmp_path / "out")
    expect(0, "bench", "sim", *out)
    expect(2, "bench", "sim", "--versus", "etcd", *out)
    figures = json.loads(expect(1, "bench", "core", "--json", *out).out)
    assert [figure["passed"] for figure in figures] == [True, True, False]
    assert (tmp_path / "out" / "results.json").is_file()


INTERRUPTED_IMPORT = """
import runpy, sys
class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "failslow.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
runpy.run_module("failslow", run_name="__main__")
"""


def test_an_interrupt_of_the_first_second_is_one_line() -> None:
    """The command line's imports take that long on a busy machine."""
    argv = [sys.executable, "-I", "-c", INTERRUPTED_IMPORT]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 130
    assert done.stderr == "kit: interrupted; nothing was written\n"
