"""`kit check` itself: it counts right, and its checks can fail."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build.gtest import GradedTest
from failslow.extras import lab_kits
from failslow.extras.check import (
    command,
    grades,
    junit,
    matrix,
    mutants,
    mutants_report,
    sample,
    seeds,
)
from failslow.extras.check.mutants import Judged, Verdict
from failslow.extras.check.points_kept import Kept, kept_of
from failslow.extras.check.step import Context, Counts, Step
from failslow.grade.model import Grade, LabGrade, Scope, TestRow
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import Keeps, Mutant, load_alternatives, load_mutant
from failslow.lab.submission import Submission
from fakes import SUITES, graded, write_patch, write_test_binary
from running import Expect


def row(test_id: str, passed: bool) -> TestRow:
    return TestRow("lab1", test_id, test_id, "p", float(passed), 1.0, passed, False, "")


def grade_of(*rows: TestRow) -> Grade:
    return Grade((LabGrade(load_labs(this_kit()).get("lab1"), rows),))


def context(kit: Kit, tmp_path: Path) -> Context:
    return Context(kit, False, tmp_path)


def test_counts_every_step_whatever_fails(kit: Kit, tmp_path: Path) -> None:
    def breaks(_: Context) -> Counts:
        raise ValueError("a defect")

    def refuses(_: Context) -> Counts:
        raise CannotDo("no compiler")

    steps = [
        Step("good", lambda _: Counts(passed=3)),
        Step("refuses", refuses),
        Step("needs it", lambda _: Counts(passed=9), needs="refuses"),
        Step("breaks", breaks),
        Step("empty", lambda _: Counts()),
    ]
    total = command.run_steps(steps, context(kit, tmp_path))
    assert (total.passed, total.failed) == (3, 4)
    assert total.problems[0] == "no compiler"
    assert "not run" in total.problems[1]
    assert "a defect" in total.problems[2]
    assert "checked nothing" in total.problems[3]


def test_junit_counts_a_skipped_test_as_failed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase name="a" status="run"/><testcase name="b"><failure>why</failure>'
        '</testcase><testcase name="c"><skipped/></testcase>'
        '<testcase name="d" status="notrun"/></testsuite>'
    )
    counts = junit.read(report)
    assert (counts.passed, counts.failed) == (1, 3)
    assert "why" in counts.problems[0]


def test_junit_takes_an_excuse_that_was_agreed_on(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    skipped = '<testcase name="{}"><skipped message="{}"/></testcase>'
    cases = [skipped.format("a", "no net"), skipped.format("b", "no net"), skipped.format("c", "")]
    report.write_text(f'<testsuite>{"".join(cases)}<testcase name="d"/></testsuite>')
    counts = junit.read(report, excuses=["no net"])
    assert counts.problems == ["c was not run"]
    assert (counts.passed, counts.remarks) == (1, ["2 tests were not run: no net"])
    assert junit.read(report).failed == 3


@pytest.mark.parametrize("text", ["", "<testsuite/>", "nonsense"])
def test_junit_without_tests_is_refused(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.xml"
    report.write_text(text)
    with pytest.raises(CannotDo, match=r"no usable test report|holds no test"):
        junit.read(report)


def _suites_json(**hashes: str) -> str:
    cases = [{"name": name, "trace_hash": value} for name, value in hashes.items()]
    return json.dumps({"testsuites": [{"name": "Raft", "testsuite": cases}]})


def test_matrix_sees_a_changed_and_a_missing_test() -> None:
    expected = matrix.parse(_suites_json(Elects="aa", Commits="bb"))
    assert expected == {"Raft.Elects": "aa", "Raft.Commits": "bb"}
    assert matrix.compare("clang", expected, dict(expected)).failed == 0
    changed = matrix.parse(_suites_json(Elects="aa", Commits="cc"))
    assert matrix.compare("clang", expected, changed).failed == 1
    assert matrix.compare("clang", expected, {"Raft.Elects": "aa"}).failed == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        '{"testsuites": []}',
        '{"testsuites": [{"name": "Raft", "testsuite": [{"name": "Elects"}]}]}',
    ],
)
def test_matrix_refuses_results_without_hashes(text: str) -> None:
    with pytest.raises(CannotDo, match=r"recorded no trace hash|^no test ran$"):
        matrix.parse(text)


def mutant(caught_by: list[str], passes: list[str]) -> Mutant:
    return Mutant(Path("m.patch"), "lab1", "", tuple(caught_by), tuple(passes))


def test_a_mutant_must_be_caught_and_pass_as_it_says() -> None:
    slow = [row("measurement/3/cpu-slow", False), row("measurement/5/cpu-slow", False)]
    graded = grade_of(row("A.Good", True), row("A.Bad", False), *slow)
    caught = mutants.judge(mutant(["A.Bad", "measurement"], ["A.Good"]), graded)
    assert (caught.counts.failed, caught.verdict) == (0, Verdict.CAUGHT)
    assert caught.failed == ("A.Bad", *(each.test_id for each in slow))
    survives = mutants.judge(mutant(["A.Good"], ["A.Bad"]), graded)
    assert (survives.counts.failed, survives.verdict) == (2, Verdict.SURVIVED)
    assert mutants.judge(mutant(["A.Bad"], ["A.Bad"]), graded).verdict is Verdict.BROKE
    assert mutants.judge(mutant(["A.Good"], []), graded).failed == ()
    assert mutants.judge(mutant(["No.Such"], []), graded).counts.problems == [
        "mutant lab1/m is not caught by No.Such, which does not exist"
    ]
    half = grade_of(row("measurement/3/cpu-slow", True), slow[1])
    assert mutants.judge(mutant(["measurement"], []), half).counts.failed == 1


def test_a_mutant_must_trip_the_invariant_it_names() -> None:
    bad = replace(row("A.Bad", False), detail="durability violated at 0.1 s: too early")
    other = replace(row("A.Other", False), detail="log matching violated at 0.1 s: odd")
    graded = grade_of(bad, other)
    trips = replace(mutant(["A.Bad"], []), trips="durability")
    assert mutants.judge(trips, graded).counts.failed == 0
    trips = replace(trips, trips="log matching")
    assert mutants.judge(trips, graded).counts.problems == [
        "mutant lab1/m: no failure says 'log matching violated'"
    ]


def test_a_mutant_must_be_explained_by_a_test_that_catches_it() -> None:
    bad = replace(row("A.Bad", False), detail="fell by 9 %. It slept while clients waited.")
    other = replace(row("A.Other", False), detail="a full pipe")
    graded = grade_of(bad, other)
    says = replace(mutant(["A.Bad"], []), says=("fell by", "slept while"))
    assert mutants.judge(says, graded).verdict is Verdict.CAUGHT
    says = replace(says, says=("fell by", "a full pipe"))
    judged = mutants.judge(says, graded)
    assert judged.verdict is Verdict.SURVIVED
    assert judged.counts.problems == ["mutant lab1/m: no failure says 'a full pipe'"]


def test_a_mutant_keeps_no_more_than_it_says() -> None:
    bad = replace(row("A.Bad", False), part="quorum", score=0.0, max_score=60.0)
    graded = grade_of(bad)
    keeps = replace(mutant(["A.Bad"], []), keeps=(Keeps(40, "lab1"),))
    assert mutants.judge(keeps, graded).verdict is Verdict.CAUGHT
    keeps = replace(keeps, keeps=(Keeps(39, "lab1"), Keeps(99, "slow-follower")))
    judged = mutants.judge(keeps, graded)
    assert judged.verdict is Verdict.SURVIVED
    assert judged.counts.problems == [
        "mutant lab1/m may keep 39 % of lab1, and keeps 40 of 100",
        "mutant lab1/m may keep 99 % of slow-follower, and keeps points that were not graded",
    ]


def test_a_void_part_is_lost_with_the_tests_that_were_not_graded(kit: Kit) -> None:
    lab = load_labs(kit).get("lab2")
    bad = replace(row("A.Bad", False), part="raft", score=0.0, max_score=1.0)
    for part, points in (("slow-follower", 9.0), ("raft", 100.0)):
        (kept,) = kept_of(Grade((LabGrade(lab, (bad,), void=frozenset({part})),)))
        assert kept == Kept("lab2", points, 110.0)


def test_a_mutant_is_graded_by_what_it_names_only() -> None:
    scope = mutants.scope_of(mutant(["A.Bad"], ["A.Good"]), full=False)
    assert scope.tests == {"A.Bad", "A.Good"}
    assert not scope.measurement
    assert not scope.determinism
    few = mutants.scope_of(mutant(["measurement"], []), full=False)
    assert few.measurement
    assert few.rows == ("measurement/3/cpu-slow",)
    one = mutants.scope_of(mutant(["measurement/5/cpu-slow"], []), full=False)
    assert one.rows == ("measurement/5/cpu-slow",)
    assert mutants.scope_of(mutant(["measurement"], []), full=True).rows is None


def test_enough_mutants_name_every_test_and_all_that_are_measured() -> None:
    both = mutant(["A.One", "A.Two"], [])
    one, again = mutant(["A.One"], []), mutant(["A.One"], ["A.Two"])
    other = replace(mutant(["A.One"], []), lab="lab2")
    measured = [mutant(["measurement"], []), mutant(["measurement"], ["A.One"])]
    assert mutants.enough([both, one, again, other, *measured]) == [both, one, other, *measured]
    assert mutants.enough([again, both]) == [again, both]
    assert mutants.enough([mutant(["A.Two"], []), one, both]) == [mutant(["A.Two"], []), one]


def test_a_check_grades_another_part_of_the_mutants_after_a_change(kit: Kit) -> None:
    found = [load_mutant(write_mutant(kit, f"m{i}", f"A.T{i}", "x")) for i in range(120)]
    first = sample.drawn(kit, found)
    assert 1 < len(first) < 20
    assert sample.drawn(kit, found) == first
    hidden = kit.hidden / "lab1-quorum-event" / "new_test.cc"
    hidden.parent.mkdir(parents=True, exist_ok=True)
    hidden.write_text("// another test\n")
    assert sample.drawn(kit, found) != first


def test_a_part_has_one_item_at_least() -> None:
    contents = [(number, bytes([number])) for number in range(5)]
    assert not any(sample.is_drawn(content) for _, content in contents)
    assert len(sample.part(contents)) == 1
    assert sample.part(contents[::-1]) == sample.part(contents)
    assert sample.part([]) == []


def test_the_handbook_says_which_part_is_graded() -> None:
    page = this_kit().site / "docs" / "maintainers" / "checking.md"
    assert f"one in {sample.PARTS} of the mutants" in page.read_text()


def test_each_change_draws_a_lab_and_each_lab_has_its_turn(kit: Kit) -> None:
    labs = [*load_labs(kit).by_id]
    changed = kit.root / "framework" / "scheduler.cc"
    changed.parent.mkdir(exist_ok=True)
    drawn = []
    for change in range(30):
        changed.write_text(f"// {change}\n")
        drawn.append(sample.drawn_lab(kit, labs))
        assert sample.drawn_lab(kit, labs) == drawn[-1]
        assert sample.drawn_labs(kit, labs, len(labs))[0] == drawn[-1]
        assert set(sample.drawn_labs(kit, labs, len(labs))) == set(labs)
    assert set(drawn) == set(labs)


def in_lab1(*names: str) -> dict[str, list[GradedTest]]:
    return {"lab1": [GradedTest("s", name, "p", 1, "", "Hidden" in name) for name in names]}


def test_a_hidden_test_that_no_mutant_names_is_named() -> None:
    tests = in_lab1("A.HiddenBad", "A.HiddenIdle", "A.Public")
    other_lab = replace(mutant(["A.HiddenIdle"], []), lab="lab2")
    named = [mutant(["A.HiddenBad"], ["A.HiddenIdle"]), other_lab]
    counts = mutants.every_hidden_test_is_named(tests, named)
    assert (counts.passed, counts.problems) == (1, ["no mutant names A.HiddenIdle"])


def test_a_mutant_passes_the_tests_of_public_suites_that_it_does_not_name() -> None:
    """B has hidden tests, too."""
    names = ("A.One", "A.Two", "A.Three", "B.Public", "B.HiddenOne", "B.HiddenTwo")
    tests = in_lab1(*names)
    caught = replace(mutant(["A.One", "B.HiddenOne"], []), may_fail=("A.Three",))
    assert mutants.in_full(caught, tests).passes == ("A.Two",)
    more = replace(caught, passes=("B.HiddenTwo", "B.Public", "A.Two"))
    assert mutants.in_full(more, tests).passes == ("A.Two", "B.HiddenTwo", "B.Public")
    assert mutants.in_full(replace(caught, passes=("all",)), tests).passes == (
        "A.Two",
        "B.Public",
        "B.HiddenTwo",
    )
    assert mutants.in_full(replace(more, may_fail=("all",)), tests).passes == more.passes
    assert mutants.in_full(replace(caught, lab="lab2"), tests).passes == ()


def test_grades_and_mutants_of_fakes(kit: Kit, tmp_path: Path) -> None:
    counts = grades.reference(context(kit, tmp_path))
    assert counts.failed == 0
    assert counts.passed > 20
    with pytest.raises(CannotDo, match="there is no mutant"):
        mutants.run(context(kit, tmp_path))
    with pytest.raises(CannotDo, match="there is no alternative"):
        grades.alternatives(context(kit, tmp_path))


def test_a_starter_with_another_result_beside_busy_processes_is_named(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, again = row("A.Bad", False), replace(row("A.Bad", False), output="1.3 s late")
    made = iter([grade_of(bad), grade_of(bad), grade_of(bad), grade_of(again)])
    monkeypatch.setattr(grades, "_grade", lambda *_: next(made))
    assert grades.starter(Context(kit, True, tmp_path)).failed == 0
    said = "the starter's 'lab1: A.Bad' differs between two grades"
    assert grades.starter(Context(kit, True, tmp_path)).problems == [said]


def test_a_hidden_test_that_catches_no_mutant_is_named() -> None:
    bad, idle = "A.HiddenBad", "A.HiddenIdle"
    tests = in_lab1(bad, idle, "A.Public")
    survives = Judged(mutant([bad, idle], []), Verdict.SURVIVED, (bad,), Counts())
    counts = mutants.every_hidden_test_catches(tests, [survives])
    assert (counts.passed, counts.problems) == (1, ["no mutant is caught by A.HiddenIdle"])
    broke = Judged(mutant([bad], [idle]), Verdict.BROKE, (bad, idle), Counts())
    assert mutants.every_hidden_test_catches(tests, [broke]).failed == 1


def write_mutant(kit: Kit, name: str, caught_by: str, behaviour: str) -> Path:
    header = f"Description: Does [wrong] {name}.\nCaught-by: {caught_by}\n"
    return write_patch(
        kit.reference / "lab1-quorum-event/mutants" / f"{name}.patch", header, behaviour
    )


def test_mutants_as_a_table(kit: Kit, expect: Expect) -> None:
    write_mutant(kit, "nests", "Secret.Nesting", "FAIL:Secret.Nesting")
    out = expect(0, "check", "--mutants").out
    assert "Does [wrong] nests." in out
    assert "1 mutants, 1 caught" in out
    assert "Every hidden test is failed by a mutant." in out

    write_mutant(kit, "lives", "Quorum.Late", "")
    write_mutant(kit, "ruins", "Quorum.Late", "FAIL:Quorum.Late FAIL:Quorum.Votes")
    write_mutant(kit, "stale", "Quorum.Late", "")
    stale = kit.reference / "lab1-quorum-event/mutants" / "stale.patch"
    stale.write_text(stale.read_text().replace("-// ", "-// other"))
    out = expect(1, "check", "--mutants").out
    for line in (
        "- mutant lab1/lives is not caught by Quorum.Late",
        "- mutant lab1/ruins does not pass Quorum.Votes",
        "- mutant lab1/stale: lab1/stale: the patch does not apply",
        "4 mutants, 1 caught",
    ):
        assert line in out


def test_mutants_as_json(kit: Kit, expect: Expect) -> None:
    write_mutant(kit, "late", "Quorum.Late", "FAIL:Quorum.Late")
    said = expect(1, "check", "--mutants", "--json")
    assert json.loads(said.out) == {
        "mutants": [
            {
                "name": "lab1/late",
                "lab": "lab1",
                "description": "Does [wrong] late.",
                "caught_by": ["Quorum.Late"],
                "failed": ["Quorum.Late"],
                "kept": {"lab1": {"points": 90.0, "of": 100}},
                "verdict": "caught",
                "problems": [],
            }
        ],
        "caught": 1,
        "problems": ["no mutant is caught by Secret.Nesting"],
    }


def test_the_table_names_the_first_of_the_failed_tests() -> None:
    caught_by = [f"A.Test{i}" for i in range(5)]
    long = f"A.{40 * 'x'}"
    shown = [
        Judged(mutant(caught_by, []), Verdict.CAUGHT, tuple(caught_by), Counts()),
        Judged(mutant(["A.Test0"], []), Verdict.BROKE, tuple(caught_by), Counts()),
        Judged(mutant([long], []), Verdict.SURVIVED, (), Counts()),
    ]
    columns = [list(column.cells) for column in mutants_report.table(shown).columns]
    assert columns[1] == ["\n".join(caught_by), "A.Test0", f"A.\n{40 * 'x'}"]
    assert columns[2] == ["5: these", "5:\nA.Test0\nA.Test1\nA.Test2\n...", "none"]


def write_alternative(kit: Kit, directory: str, name: str, behaviour: str) -> Path:
    path = kit.reference / directory / "alternatives" / f"{name}.patch"
    return write_patch(path, "Description: d\n", behaviour)


def test_an_alternative_must_get_full_marks(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "PARTS", 1)
    write_alternative(kit, "lab1-quorum-event", "other", "correct, and different")
    assert grades.alternatives(context(kit, tmp_path)).failed == 0
    path = write_alternative(kit, "lab1-quorum-event", "other", "FAIL:Quorum.Late")
    counts = grades.alternatives(context(kit, tmp_path))
    assert counts.failed == 1
    assert "alternative lab1/other loses" in counts.problems[0]
    path.write_text(path.read_text().replace("-// ", "-// other"))
    counts = grades.alternatives(context(kit, tmp_path))
    assert counts.problems[0].startswith("alternative lab1/other: lab1/other: the patch does not")


Graded = tuple[str, Scope, CourseKey]
"""A grade that a check asked for: the behaviour of the submission, and how it was graded."""


@pytest.fixture
def grades_asked(monkeypatch: pytest.MonkeyPatch) -> list[Graded]:
    """Instead of grades: one row, which is lost by a submission that says LOSES, or that says
    CLOSE if the grade has one seed."""
    asked: list[Graded] = []

    def fake(kit: Kit, labs: Labs, submission: Submission, scope: Scope, key: CourseKey) -> Grade:
        text = next(value for name, value in submission.files.items() if name.endswith("event.cc"))
        behaviour = text.decode().removeprefix("// ").strip()
        asked.append((behaviour, scope, key))
        lost = "LOSES" in behaviour or ("CLOSE" in behaviour and scope.seeds == 1)
        only = row("measurement/3/slow", not lost)
        return Grade((LabGrade(labs.get("lab2"), (only,)),), key)

    monkeypatch.setattr(grades, "grade", fake)
    return asked


def test_an_alternative_is_graded_in_full_only_with_full(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grades_asked: list[Graded]
) -> None:
    monkeypatch.setattr(grades, "LONG_TESTS", {"Quorum.Late"})
    monkeypatch.setattr(sample, "PARTS", 1)
    write_alternative(kit, "lab2-raft", "other", "different")
    for full in (False, True):
        assert grades.alternatives(replace(context(kit, tmp_path), full=full)).failed == 0
    scopes = [scope for _, scope, _ in grades_asked]
    assert [scope.rows for scope in scopes] == [grades.ROW_OF_EACH, None]
    assert [scope.seeds for scope in scopes] == [1, None]
    short = {"Quorum.Votes", "Secret.Nesting", "Raft.Elects"}
    assert [scope.tests for scope in scopes] == [short, None]


def test_the_shapes_that_are_measured_in_all_courses_exist() -> None:
    assert {each.name for each in load_alternatives(this_kit())} >= grades.SHAPES


def test_measured_labs_are_measured_with_many_keys(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grades_asked: list[Graded]
) -> None:
    monkeypatch.setattr(grades, "MEASURED_KEYS", 2)
    monkeypatch.setattr(grades, "OTHERS_KEYS", 1)
    monkeypatch.setattr(grades, "SHAPES", {"lab2/bad"})
    write_alternative(kit, "lab1-quorum-event", "unmeasured", "no lab 2")
    for name, behaviour in (("good", "good"), ("bad", "LOSES"), ("close", "CLOSE")):
        write_alternative(kit, "lab2-raft", name, behaviour)
    counts = grades.with_other_keys(context(kit, tmp_path))
    assert (counts.passed, counts.failed) == (4, 2)
    asked = Counter((behaviour, scope.seeds) for behaviour, scope, _ in grades_asked)
    assert asked == {
        ("", 1): 2,
        ("good", 1): 1,
        ("LOSES", 1): 2,
        ("LOSES", None): 2,
        ("CLOSE", 1): 1,
        ("CLOSE", None): 1,
    }
    assert [scope.rows for _, scope, _ in grades_asked if scope.seeds is None] == [None] * 3
    keys = {key.fingerprint for _, _, key in grades_asked}
    assert len(keys) == 2
    for fingerprint in keys:
        lost = f"alternative lab2/bad loses 'measurement/3/slow' (course {fingerprint})"
        assert any(problem.startswith(lost) for problem in counts.problems)


def test_an_alternative_must_pass_with_other_seeds(kit: Kit, tmp_path: Path) -> None:
    write_alternative(kit, "lab1-quorum-event", "other", "different")
    assert seeds.alternatives(context(kit, tmp_path)).failed == 0
    write_alternative(kit, "lab1-quorum-event", "other", "FAIL:Quorum.Late")
    counts = seeds.alternatives(context(kit, tmp_path))
    assert counts.failed == len(seeds.FULL_SEEDS)
    assert counts.problems[0].startswith(
        f"Quorum.Late of alternative lab1/other fails with --seed={seeds.FULL_SEEDS[0]}"
    )


def test_the_reference_must_pass_with_other_seeds(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = {suite: kit.binary(f"{suite}_sim") for suite in SUITES}
    for suite, tests in SUITES.items():
        write_test_binary(binaries[suite], tests)
    assert seeds.run(context(kit, tmp_path)).failed == 0
    with binaries["lab2_public"].open("a") as program:
        program.write("# FAIL:Raft.Elects\n")
    shows = r"Raft.Elects of the reference fails with --seed=(\d+): expected: 2 votes"
    for limit, runs in ((60.0, seeds.NEW_SEEDS), (0.0, seeds.NEW_SEEDS_MIN)):
        monkeypatch.setattr(seeds, "LONG_S", limit)
        counts = seeds.run(context(kit, tmp_path))
        shown = [match[1] for each in counts.problems if (match := re.match(shows, each))]
        assert counts.failed == len(set(shown)) == runs
    with binaries["lab2_public"].open("a") as program:
        program.write("# SEGFAULT:Raft.Elects\n")
    assert "gave no verdict" in seeds.run(context(kit, tmp_path)).problems[0]


@pytest.fixture
def three_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "MANY_SEEDS", range(1, 4))


SWARMS = ("KvChaos.ThreeReplicas", "KvChaos.FiveReplicas")


def write_swarms(kit: Kit, *names: str) -> Path:
    for suite, tests in SUITES.items():
        write_test_binary(kit.binary(f"{suite}_sim"), tests)
    swarms = [graded(name, 10, part="raft") for name in (*names, "Raft.Elects")]
    own = f"MANY_SEEDS = {SWARMS!r}\n"
    (kit.labs / load_labs(kit).get("lab2").directory / lab_kits.FILE).write_text(own)
    return write_test_binary(kit.binary("lab2_public_sim"), swarms)


@pytest.mark.usefixtures("three_seeds")
def test_histories_must_be_linearizable_with_many_seeds(kit: Kit, tmp_path: Path) -> None:
    program = write_swarms(kit, *SWARMS)
    counts = seeds.many(context(kit, tmp_path))
    assert counts.problems == ["no operation of any history was checked"]
    with program.open("a") as file:
        file.writelines(f"# CHECKS:{name}\n" for name in SWARMS)
    counts = seeds.many(context(kit, tmp_path))
    assert (counts.passed, counts.failed) == (7, 0)
    assert counts.remarks == ["3 seeds of 2 tests: 126 operations were checked"]
    with program.open("a") as file:
        file.write(f"# FAIL:{SWARMS[0]}\n")
    counts = seeds.many(context(kit, tmp_path))
    assert counts.failed == 3
    assert "with --seed=1: expected" in counts.problems[0]


def test_a_missing_test_of_many_seeds_is_noticed(kit: Kit, tmp_path: Path) -> None:
    write_swarms(kit, SWARMS[0])
    with pytest.raises(CannotDo, match="a test that needs many seeds is missing"):
        seeds.many(context(kit, tmp_path))
