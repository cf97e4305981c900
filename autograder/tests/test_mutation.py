"""Mutation by machine: the changes of the tool, their verdicts, and the report."""

from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.build import gtest
from failslow.build.gtest import Crashed, Outcome
from failslow.extras.mutation import changes
from failslow.extras.mutation.changes import Change, applied, shuffled
from running import Expect

CODE = """namespace depfast {
void Count(int votes) {
  assert(votes > 0);
  if (votes > needed) Decide("by votes");
  Log(votes);
}
}  // namespace depfast
"""


def changed_by_tool(file: str, text: str) -> list[Change]:
    """A few changes as the tool makes them, and one that does not compile."""
    lines = text.splitlines(keepends=True)
    pairs = [
        (lines[3], lines[3].replace(">", ">=")),
        (lines[3], lines[3].replace("Decide", "SYNTAX")),
        (lines[4], "  /*Log(votes);*/\n"),
        (lines[4], lines[4]),
    ]
    return [Change(file, lines.index(before) + 1, before, after) for before, after in pairs]


@pytest.fixture
def reference(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """A reference whose tests look for words in the program."""
    source = kit.reference / "lab1-quorum-event"
    (source / "quorum_event.cc").write_text(CODE)
    (source / "quorum_event.h").write_text("")

    def run(binary: Path, test: str, options: gtest.Options) -> Outcome:
        assert options.replica is not None
        program = options.replica.read_text()
        if test == "Quorum.Late" and "HANGS" in program:
            raise Crashed("it hangs", "", "no result in time", "", timed_out=True)
        if "DIES" in program:
            raise Crashed("it died", "", "killed by SIGSEGV", "")
        holds = {"Quorum.Votes": "Decide" in program, "Secret.Nesting": "votes > n" in program}
        return Outcome(() if holds.get(test, True) else ("expected: another",))

    def found(file: str, text: str) -> list[Change]:
        return changed_by_tool(file, text) if text else []

    monkeypatch.setattr(gtest, "run_test", run)
    monkeypatch.setattr("failslow.extras.mutation.trial.changes_of", found)
    return kit


@pytest.mark.parametrize(
    ("after", "code", "said"),
    [("HANGS();", 0, "score 100.0 %: 1 killed"), ("DIES();", 2, "it died")],
)
def test_a_hang_is_noticed_and_a_death_is_no_verdict(
    reference: Kit,
    expect: Expect,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
    code: int,
    said: str,
) -> None:
    def found(file: str, text: str) -> list[Change]:
        """One change alone, of the call of Log."""
        return [Change(file, 5, "  Log(votes);\n", f"  {after}\n")] if text else []

    monkeypatch.setattr("failslow.extras.mutation.trial.changes_of", found)
    done = expect(code, "check", "--mutate", "lab1")
    assert said in done.out + done.err


def test_the_tool_changes_code_but_no_comment_assertion_or_namespace() -> None:
    found = changes.changes_of("a.cc", CODE)
    assert {each.line for each in found} == {2, 4, 5, 6}
    assert '  if (votes >= needed) Decide("by votes");\n' in {each.after for each in found}
    assert all(each.before != each.after for each in found)


def test_a_change_replaces_its_line() -> None:
    change = Change("a.cc", 2, "b\n", "c\nbreak;\n")
    assert applied("a\nb\nb\n", change) == "a\nc\nbreak;\nb\n"


def test_a_sample_is_the_beginning_of_each_larger_one() -> None:
    drawn = [Change("a.cc", number, "x\n", "y\n") for number in range(20)]
    assert shuffled(drawn[::-1], 1) == shuffled(drawn, 1) != shuffled(drawn, 2)


def test_a_survivor_is_listed_with_its_line(reference: Kit, expect: Expect) -> None:
    said = expect(1, "check", "--mutate", "lab1").out.splitlines()
    assert said == [
        "quorum_event.cc:5",
        "    - Log(votes);",
        "    + /*Log(votes);*/",
        "lab1: score 50.0 %: 1 killed, 1 survived, of 4 changes",
        "Not counted: 1 that do not compile, 1 that change no program",
    ]


def test_a_reference_that_fails_a_test_is_no_measure(reference: Kit, expect: Expect) -> None:
    code = CODE.replace("votes > needed", "needed < votes")
    (reference.reference / "lab1-quorum-event" / "quorum_event.cc").write_text(code)
    assert "the reference fails Secret.Nesting" in expect(2, "check", "--mutate", "lab1").err


def test_a_sample_counts_only_changes_that_compile_and_differ(
    reference: Kit, expect: Expect
) -> None:
    for sample in (1, 2):
        said = expect(None, "check", "--mutate", "lab1", "--sample", sample).out
        counted = said[said.index("score") :]
        assert counted.count("1 killed") + counted.count("1 survived") == sample
        assert expect(None, "check", "--mutate", "lab1", "--sample", sample).out == said


def test_options_of_other_checks_are_refused(expect: Expect) -> None:
    assert "go with --mutate" in expect(2, "check", "--sample", 3).err
    assert "exclude each other" in expect(2, "check", "--mutate", "lab1", "--full").err
    assert "unknown lab" in expect(2, "check", "--mutate", "lab9").err
