"""`kit test` again and again: its output in short, and `--watch`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import Kit
from failslow.extras.commands import saves
from failslow.extras.commands import test as command
from fakes import write_submission
from running import Expect

BOTH = "FAIL:Quorum.Votes FAIL:Quorum.Late"
FAILURE = "happened: 1 vote"

Looks = list[Callable[[], object]]


@pytest.fixture
def tree(simulated: Kit, tmp_path: Path) -> Path:
    return write_submission(tmp_path / "mine", BOTH)


def test_the_first_failure_is_whole_and_the_others_are_lines(expect: Expect, tree: Path) -> None:
    out = expect(1, "test", "lab1", tree).out
    lines = out.splitlines()
    assert lines[0].startswith("FAILED Quorum.Votes ")
    assert out.count(FAILURE) == 1
    assert lines[-3:] == [
        "FAILED Quorum.Late Property of Late.",
        "0 of 2 public tests passed",
        f"Another failure whole: ./kit test lab1 SUITE.NAME {tree}; all: --all",
    ]
    whole = expect(1, "test", "lab1", tree, "--all").out
    assert whole.count(FAILURE) == 2
    assert whole.endswith("0 of 2 public tests passed\n")


def test_the_output_does_not_depend_on_which_test_ends_first(
    expect: Expect, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = expect(1, "test", "lab1", tree).out

    def in_reverse(jobs: list[Any], *functions: Callable[..., object]) -> None:
        for job in reversed(jobs):
            functions[-1](job, functions[0](job))

    monkeypatch.setattr(command.parallel, "run_all", in_reverse)
    assert expect(1, "test", "lab1", tree).out == out


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """What happens between two looks at the files. Then Ctrl-C ends the command."""
    left: Looks = []

    def sleep(_: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr(saves, "sleep", sleep)
    monkeypatch.setattr(saves.process, "stop_all", lambda: None)  # it ends all later tests
    return left


def nothing() -> None:
    pass


def test_a_save_runs_the_tests_again_with_the_failed_ones_first(
    expect: Expect, tree: Path, looks: Looks
) -> None:
    source = tree / "lab1-quorum-event" / "quorum_event.cc"
    for behaviour in ("FAIL:Quorum.Late", BOTH, "SYNTAX", "well"):
        looks += [partial(source.write_text, f"// {behaviour}"), nothing, nothing]
    said = expect(0, "test", "lab1", tree, "--watch")
    runs = said.out.split(f"({saves.WAITS})\n")
    assert [run.count(FAILURE) for run in runs] == [1, 1, 1, 0, 0]
    assert "passed Quorum" not in said.out
    assert runs[2].index("FAILED Quorum.Late") < runs[2].index(FAILURE)
    assert runs[2].index(FAILURE) < runs[2].index("FAILED Quorum.Votes")
    assert f"error: expected unqualified-id\n({saves.WAITS})" in said.err
    assert runs[3] == "2 of 2 public tests passed "


def test_another_run_follows_a_save_during_a_run(tmp_path: Path, looks: Looks) -> None:
    source, found = tmp_path / "raft.cc", list[str]()
    source.write_text("first")

    def run() -> None:
        found.append(source.read_text())
        if len(found) == 1:  # many editors replace a file
            (tmp_path / "new").write_text("other")
            (tmp_path / "new").replace(source)

    looks += [nothing, nothing, (tmp_path / "raft.cc~").touch, nothing]
    saves.watch([tmp_path], run)
    assert found == ["first", "other"]
