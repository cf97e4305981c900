"""Mutation by machine: the operators, the equivalents, and what a survivor looks like."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from failslow import gtest
from failslow.check.step import Context
from failslow.errors import CannotDo
from failslow.gtest import Crashed, GradedTest, Outcome
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.mutants import load_mutants
from failslow.mutation import (
    command,
    declarations,
    equivalents,
    grading,
    nearest,
    operators,
    page,
    syntax,
)
from failslow.mutation.change import Change, applied, shuffled
from failslow.mutation.grading import Graded, Population, Verdict
from failslow.mutation.report import Report, document, lines
from fakes import write_patch
from running import Expect

HEADER = """
enum class Vote { kYes, kNo, kLost };
class Raft {
 public:
  explicit Raft(int term) : term_(term) {}
  int commit() const { return commit_; }
 private:
  int term_ = 0;
  int commit_ = 0;
  bool leads_ = false;
};
struct Request { long term = 0; long index = 0; };
constexpr Duration kShort = 10ms;
constexpr Duration kLong = 20ms;
"""


def changes(code: str) -> dict[str, set[str]]:
    """By operator, the lines that it makes of the code, which stands in a function's body."""
    source = syntax.parse("a.cc", f"void Raft::Step() {{\n{code}\n  Last();\n}}\n".encode())
    declared = declarations.collect([source, syntax.parse("a.h", HEADER.encode())], [])
    found: dict[str, set[str]] = {}
    for each in operators.changes_of([source], declared):
        assert applied(source.text, each).count(b"\n") == source.text.count(b"\n")
        if 1 < each.line < 2 + len(code.splitlines()):
            found.setdefault(each.operator, set()).add(each.after)
    found.pop(operators.EARLY_RETURN, None)
    return found


def test_a_condition_is_negated_fixed_shifted_and_loses_an_operand() -> None:
    assert changes("if (a < b && c) F();") == {
        operators.NEGATED: {"if (!(a < b && c)) F();"},
        operators.FIXED: {"if (true) F();"},
        operators.DROPPED_OPERAND: {"if (a < b) F();", "if (c) F();"},
        operators.SHIFTED: {"if (a <= b && c) F();"},
        operators.REMOVED: {"", "if (a < b && c) ;"},
    }


def test_a_part_of_a_condition_is_negated() -> None:
    found = changes("return a == b || !c;")
    assert found[operators.NEGATED] == {"return a != b || !c;", "return a == b || c;"}


def test_both_ways_of_a_choice_are_fixed() -> None:
    assert changes("x = a ? b : c;")[operators.FIXED] == {"x = true ? b : c;", "x = false ? b : c;"}
    assert "if (false) F(); else G();" in changes("if (a) F(); else G();")[operators.FIXED]


def test_a_condition_that_declares_is_left_alone() -> None:
    found = changes("if (const auto x = F()) G();")
    assert set(found) == {operators.REMOVED}


@pytest.mark.parametrize(
    ("statement", "operator"),
    [
        ("votes.clear();", operators.DROPPED_RESET),
        ("leader = nullptr;", operators.DROPPED_RESET),
        ("vote = Vote::kLost;", operators.DROPPED_RESET),
        ("quorum->Wait(10);", operators.DROPPED_WAIT),
        ("runtime.Sleep(10);", operators.DROPPED_WAIT),
        ("runtime.storage().Remove(file);", operators.REMOVED_PERSISTENCE),
        ("count = other;", operators.REMOVED),
        ("break;", operators.REMOVED),
        ("runtime.Spawn(name, [] { event->Wait(); });", operators.REMOVED),
    ],
)
def test_a_removed_statement_is_named_after_what_is_lost(statement: str, operator: str) -> None:
    assert "" in changes(statement)[operator]


def test_waiting_and_writing_are_inherited_from_the_functions_called() -> None:
    code = """
void Raft::Persist() { runtime.storage().Append(x); }
bool Raft::Durable() { return write->Wait() == Outcome::kReady; }
void Raft::Vote() {
  Persist();
  const bool durable = Durable();
}
"""
    source = syntax.parse("a.cc", code.encode())
    declared = declarations.collect([source], [])
    found = {each.after: each.operator for each in operators.changes_of([source], declared)}
    assert declared.waiting == {"Durable": "bool", "Vote": "void"}
    assert found["const bool durable = true;"] == operators.DROPPED_WAIT
    at_once = "bool Raft::Durable() { return Outcome::kReady == Outcome::kReady; }"
    assert found[at_once] == operators.DROPPED_WAIT
    lost = [e for e in operators.changes_of([source], declared) if e.before == "Persist();"]
    assert operators.REMOVED_PERSISTENCE in {each.operator for each in lost}


def test_names_are_replaced_by_others_of_their_type() -> None:
    assert changes("F(term_, leads_);")[operators.OTHER_FIELD] == {"F(commit_, leads_);"}
    assert changes("F(request.term);")[operators.OTHER_FIELD] == {"F(request.index);"}
    assert changes("F(Vote::kLost, kShort);")[operators.SWAPPED_CONSTANT] == {
        "F(Vote::kYes, kShort);",
        "F(Vote::kLost, kLong);",
    }
    assert operators.OTHER_FIELD not in changes("request.term();"), "a function is no field"


def test_private_fields_of_given_classes_are_out_of_reach() -> None:
    source = syntax.parse("a.cc", b"void F() { Use(term_, request.term); }")
    declared = declarations.collect([source], [syntax.parse("a.h", HEADER.encode())])
    found = operators.changes_of([source], declared)
    others = [each.text for each in found if each.operator == operators.OTHER_FIELD]
    assert others == ["index"]


def test_a_write_may_become_unsynced() -> None:
    header = b"struct Storage { enum class Sync { kNo, kYes }; };"
    source = syntax.parse("a.cc", b"void F() { Append(Storage::Sync::kYes); }")
    declared = declarations.collect([source], [syntax.parse("a.h", header)])
    found = [each for each in operators.changes_of([source], declared) if "kNo" in each.after]
    assert [each.operator for each in found] == [operators.REMOVED_PERSISTENCE]


def test_numbers_are_off_by_one_unless_they_only_tune() -> None:
    assert changes("F(x + 1);")[operators.OFF_BY_ONE] == {"F(x + 0);", "F(x + 2);"}
    assert changes("F(x + 1);")[operators.SWAPPED_OPERATOR] == {"F(x - 1);"}
    assert operators.OFF_BY_ONE not in changes("constexpr int kMany = 64;")
    assert changes("F(std::max(a, b));")[operators.SWAPPED_OPERATOR] == {"F(std::min(a, b));"}


def test_a_function_returns_early() -> None:
    code = b"void F() {\n  A();\n  B();\n}\nint G() { return A(); }\nX::X() { A(); }\n"
    source = syntax.parse("a.cc", code)
    declared = declarations.collect([source], [])
    found = operators.changes_of([source], declared)
    early = {each.after for each in found if each.operator == operators.EARLY_RETURN}
    assert early == {"return; A();", "return; B();", "int G() { return {}; return A(); }"}


def test_assertions_and_comments_are_no_part_of_the_program() -> None:
    assert changes("assert(a < b && !c);  // a < b") == {}


def test_a_change_is_shown_in_its_line() -> None:
    source = syntax.parse("a.cc", b"void F() {\n  if (a &&\n      b) Go(1);  // why\n}\n")
    found = operators.changes_of([source], declarations.collect([source], []))
    shown = {each.shown for each in found}
    assert "if ([-a && b-]{+!(a && b)+}) Go(1); // why" in shown
    assert "if (a && b) Go([-1-]{+2+}); // why" not in shown, "its own line is enough"
    assert "b) Go([-1-]{+2+}); // why" in shown
    assert "void F() {" not in shown
    assert "{+return; +}if (a &&" not in shown, "spaces at its ends are left out"
    assert "{+return;+}if (a &&" in shown
    assert "[-if (a && b) Go(1);-] // why" in shown


def test_a_change_of_several_lines_keeps_the_numbers_of_those_below() -> None:
    assert changes("while (a) {\n  F();\n}")[operators.REMOVED] >= {""}


# ---- samples ----


def a_change(number: int, **other: object) -> Change:
    change = Change(
        "a.cc", "F", "o", number, number + 1, "x", number, f"b{number}", f"a{number}", "s"
    )
    return replace(change, **other)


def test_a_sample_is_the_same_wherever_the_lines_are() -> None:
    every = [a_change(number) for number in range(50)]
    moved = [replace(each, line=each.line + 7, start=each.start + 99) for each in every[::-1]]
    first = [each.before for each in shuffled(every, 1)]
    assert [each.before for each in shuffled(moved, 1)] == first
    assert [each.before for each in shuffled(every, 2)] != first
    assert sorted(first) == sorted(each.before for each in every)


def test_equal_lines_are_both_drawn() -> None:
    twins = [a_change(1), a_change(2, before="b1", after="a1")]
    assert len(shuffled(twins, 1)) == 2


# ---- equivalents ----


def record(kit: Kit, *entries: dict[str, str], lab: str = "lab1") -> None:
    kit.mutation.mkdir(exist_ok=True)
    (kit.mutation / "equivalents.yaml").write_text(json.dumps({lab: entries}))


def entry(number: int, **other: str) -> dict[str, str]:
    fields = {"file": "a.cc", "function": "F", "before": f"b{number}", "after": f"a{number}"}
    return {**fields, "reason": "It cannot be seen from outside.", **other}


def test_an_equivalent_is_left_out_wherever_it_is(kit: Kit) -> None:
    record(kit, entry(1))
    given = [a_change(1, line=77), a_change(2)]
    assert equivalents.without(kit, "lab1", given, equivalents.load(kit, "lab1")) == [given[1]]
    assert equivalents.load(kit, "lab2") == []


def test_an_equivalent_without_lines_stands_for_its_function(kit: Kit) -> None:
    whole = {"file": "a.cc", "function": "F", "reason": "It cannot be seen from outside."}
    record(kit, whole)
    given = [a_change(1), a_change(2), a_change(3, function="G")]
    assert equivalents.without(kit, "lab1", given, equivalents.load(kit, "lab1")) == [given[2]]
    record(kit, {**whole, "function": "H"})
    with pytest.raises(CannotDo, match=r"lab1: a.cc: H: there is no such change"):
        equivalents.without(kit, "lab1", given, equivalents.load(kit, "lab1"))
    for half in ("before", "after"):
        record(kit, {**whole, half: "x"})
        with pytest.raises(CannotDo, match=r"equivalents\.yaml"):
            equivalents.load(kit, "lab1")


def test_an_equivalent_of_a_line_that_changed_is_an_error(kit: Kit) -> None:
    for stale in (entry(1, after="other"), entry(1, function="G"), entry(1, file="b.cc")):
        record(kit, stale)
        with pytest.raises(CannotDo, match=r"equivalents.yaml: lab1: .*: there is no such change"):
            equivalents.without(kit, "lab1", [a_change(1)], equivalents.load(kit, "lab1"))


def test_an_equivalent_has_a_reason_and_stands_once(kit: Kit) -> None:
    record(kit, entry(1, reason="no"))
    with pytest.raises(CannotDo, match="reason"):
        equivalents.load(kit, "lab1")
    record(kit, entry(1), entry(1, before="  b1 "))
    with pytest.raises(CannotDo, match="an earlier entry is the same"):
        equivalents.load(kit, "lab1")


# ---- the nearest test ----


def test_the_nearest_test_is_that_of_the_nearest_mutant(kit: Kit) -> None:
    diff_text = (
        "--- a/lab/a.cc\n+++ b/lab/a.cc\n@@ -10,3 +10,3 @@\n x\n-y\n+z\n x\n@@ -30 +30 @@\n+n\n"
    )
    assert nearest.changed_lines(diff_text) == {"a.cc": [11, 12, 30]}
    tests = [GradedTest("s", name, "p", 1, "d", False) for name in ("T.None", "T.Far", "T.Near")]
    known = {"T.Far": {"a.cc": [50]}, "T.Near": {"a.cc": [1, 12]}}
    found = nearest.ordered(a_change(14), tests, known)
    assert [test.name for test in found] == ["T.Near", "T.Far", "T.None"]


def test_a_quick_test_runs_before_one_that_is_a_little_nearer() -> None:
    tests = [GradedTest("s", name, "p", 1, "d", False) for name in ("T.Near", "T.Far", "T.Slow")]
    known = {"T.Near": {"a.cc": [14]}, "T.Slow": {"a.cc": [14]}}
    seconds = {"T.Near": 0.1, "T.Far": 0.01, "T.Slow": 5.0}
    found = nearest.soonest(a_change(14), tests, known, seconds)
    assert [test.name for test in found] == ["T.Near", "T.Far", "T.Slow"]


def test_only_mutants_of_the_lab_count(kit: Kit) -> None:
    write_patch(kit.mutants / "lab1" / "m.patch", "Description: d\nCaught-by: A.B\n", "x")
    assert nearest.watched("lab1", load_mutants(kit)) == {"A.B": {"quorum_event.cc": [1, 2]}}
    assert nearest.watched("lab2", load_mutants(kit)) == {}


# ---- the whole command ----

CODE = """void Count(int votes) {
  if (votes > needed) Decide(Kind::kGood);
  Log(votes);
}
"""

Run = Callable[[Path, str, gtest.Options], Outcome]


@pytest.fixture
def reference(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """A reference whose tests look for words in the program."""
    source = kit.reference / "lab1-quorum-event"
    (source / "quorum_event.cc").write_text(CODE)
    (source / "quorum_event.h").write_text("enum class Kind { kGood, kSYNTAX };\n")
    record(kit)

    def run(binary: Path, test: str, options: gtest.Options) -> Outcome:
        assert options.replica is not None
        program = options.replica.read_text()
        if test == "Quorum.Late" and "return;" in program:
            raise Crashed("it hangs", "", "no result in time", "", timed_out=True)
        if "DIES" in program:
            raise Crashed("it died", "", "killed by SIGSEGV", "")
        holds = {"Quorum.Votes": "Decide" in program, "Secret.Nesting": "if (votes > " in program}
        return Outcome(() if holds.get(test, True) else ("expected: another",))

    monkeypatch.setattr(gtest, "run_test", run)
    return kit


def test_a_planted_survivor_is_listed(reference: Kit, expect: Expect) -> None:
    said = expect(1, "check", "--mutate", "lab1").out.splitlines()
    assert said[:2] == [
        "quorum_event.cc:3 removed statement: [-Log(votes);-]",
        "    in Count; the nearest test is Quorum.Votes",
    ]
    assert " 1 survived" in said[2]
    result = json.loads(expect(1, "check", "--mutate", "lab1", "--json").out)
    assert [each["before"] for each in result["survivors"]] == ["Log(votes);"]
    assert result["not_compiled"] == 1, "kSYNTAX"
    assert result["killed"] + result["survived"] == result["population"] - 1
    assert result["score"] == round(100 * result["killed"] / (result["population"] - 1), 1)


def test_a_recorded_equivalent_is_no_survivor(reference: Kit, expect: Expect) -> None:
    fields = {"file": "quorum_event.cc", "function": "Count", "before": "Log(votes);", "after": ""}
    record(reference, entry(0, **fields))
    result = json.loads(expect(0, "check", "--mutate", "lab1", "--json").out)
    assert (result["equivalent"], result["survivors"]) == (1, [])


def test_a_test_process_that_dies_is_no_verdict(reference: Kit, expect: Expect) -> None:
    header = reference.reference / "lab1-quorum-event" / "quorum_event.h"
    header.write_text("enum class Kind { kGood, kDIES };\n")
    said = expect(1, "check", "--mutate", "lab1").out
    assert "Decide([-Kind::kGood-]{+Kind::kDIES+})" in said
    assert re.search(r"    in Count; no verdict: \S+ died", said)


def test_a_reference_that_fails_a_test_is_no_measure(reference: Kit, expect: Expect) -> None:
    code = CODE.replace("if (votes > needed)", "if (needed < votes)")
    (reference.reference / "lab1-quorum-event" / "quorum_event.cc").write_text(code)
    assert "the reference fails Secret.Nesting" in expect(2, "check", "--mutate", "lab1").err


def test_a_program_is_tested_once(reference: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    labs = load_labs(reference)
    grader = grading.Grader(reference, labs, labs.get("lab1"))
    run, tested = gtest.run_test, []
    monkeypatch.setattr(
        gtest, "run_test", lambda *args: (tested.append(args[2].replica), run(*args))[1]
    )
    original, *_, last = grader.population().changes
    unchanged = replace(original, text=CODE[original.start : original.end])
    found = grader.grade([unchanged, last, replace(last, operator="another")], None)
    same = Verdict.SAME_PROGRAM
    assert [each.verdict for each in found] == [same, Verdict.SURVIVED, same]
    replicas = [each for each in tested if each.name == "lab1_replica"]
    assert len(set(replicas)) == 2, "the reference's, and the survivor's"
    assert all(replicas.count(each) == len(replicas) / 2 for each in replicas)


def test_a_survivor_may_be_killed_by_a_later_lab(
    reference: Kit, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = gtest.run_test

    def run_later(binary: Path, test: str, options: gtest.Options) -> Outcome:
        assert options.replica is not None
        if options.replica.name == "lab2_replica" and "Log" not in options.replica.read_text():
            return Outcome(("lab 2 needs the log",))
        return run(binary, test, options)

    monkeypatch.setattr(gtest, "run_test", run_later)
    result = json.loads(expect(0, "check", "--mutate", "lab1", "--json").out)
    assert (result["killed_later"], result["survivors"]) == (1, [])
    assert result["score"] == 100.0


def test_a_sample_counts_only_changes_that_compile(reference: Kit, expect: Expect) -> None:
    for sample in (1, 3, 5):
        said = expect(None, "check", "--mutate", "lab1", "--sample", sample, "--json").out
        result = json.loads(said)
        assert result["killed"] + result["survived"] == sample
        again = expect(None, "check", "--mutate", "lab1", "--sample", sample, "--json").out
        assert again == said


def test_the_check_reads_the_equivalents(reference: Kit, tmp_path: Path) -> None:
    context = Context(reference, False, tmp_path)
    fields = {"file": "quorum_event.cc", "function": "Count", "before": "Log(votes);", "after": ""}
    record(reference, entry(0, **fields))
    assert command.recorded_equivalents(context).passed == 3, "two labs, one entry"
    record(reference, entry(0, **fields), entry(1))
    with pytest.raises(CannotDo, match="there is no such change"):
        command.recorded_equivalents(context)


def test_options_of_other_checks_are_refused(expect: Expect) -> None:
    assert "go with --mutate" in expect(2, "check", "--sample", 3).err
    assert "neither --full" in expect(2, "check", "--mutate", "lab1", "--full").err
    assert "unknown lab" in expect(2, "check", "--mutate", "lab9").err


def test_a_program_counts_once() -> None:
    found = [
        Graded(a_change(1), Verdict.KILLED, "T.A", "p1"),
        Graded(a_change(2), Verdict.SURVIVED, "T.A", "reference"),
        Graded(a_change(3), Verdict.KILLED, "T.A", "p1"),
        Graded(a_change(4), Verdict.NOT_COMPILED),
    ]
    once = grading._without_repeats(found, "reference")
    verdicts = [each.verdict for each in once]
    same = Verdict.SAME_PROGRAM
    assert verdicts == [Verdict.KILLED, same, same, Verdict.NOT_COMPILED]
    assert grading._without_repeats(once, "reference") == once


def test_the_score_is_of_the_changes_that_count() -> None:
    found = (
        Graded(a_change(1), Verdict.KILLED, "T.A", "p1"),
        Graded(a_change(2), Verdict.KILLED, "T.A", "p2"),
        Graded(a_change(3), Verdict.SURVIVED, "T.Near", "p3"),
        Graded(a_change(4), Verdict.NOT_COMPILED),
    )
    report = Report("lab1", 1, 3, Population((), 5), found)
    assert lines(report) == [
        "a.cc:3 o: s",
        "    in F; the nearest test is T.Near",
        "lab1: score 66.7 %: 2 killed, 0 of them by later labs, 1 survived",
        "Not counted: 1 that do not compile, 0 that change no program, 5 recorded as equivalent",
    ]
    assert document(report)["operators"] == {"o": {"killed": 2, "survived": 1}}


# ---- the handbook's tables ----


def test_the_handbook_shows_what_the_command_printed(kit: Kit) -> None:
    kit.mutation.mkdir()
    found = (
        Graded(a_change(1), Verdict.KILLED, "T.A", "p1"),
        Graded(a_change(2, operator="other field"), Verdict.SURVIVED, "T.A", "p2"),
    )
    population = Population((a_change(1), a_change(2), a_change(3)), 4)
    for lab in ("lab1", "lab2"):
        report = Report(lab, 1, 2, population, found[: 1 if lab == "lab2" else 2])
        (kit.mutation / f"{lab}.json").write_text(json.dumps(document(report)))
    assert page.table(kit.mutation).splitlines()[2:] == [
        "| lab1 | 7 | 2 | 1 | 0 | 1 | 4 | 50.0 % |",
        "| lab2 | 7 | 1 | 1 | 0 | 0 | 4 | 100.0 % |",
    ]
    assert page.operators(kit.mutation).splitlines() == [
        "| operator | lab1 | lab2 |",
        "| --- | ---: | ---: |",
        "| o | 1 of 1 | 1 of 1 |",
        "| other field | 0 of 1 | - |",
    ]
