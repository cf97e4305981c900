"""The diagnosis: labels of a course, answers line by line, points field by field."""

import itertools
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import recordings
from demands import some
from failslow import cli
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build import cmake
from failslow.extras.check import diagnosis
from failslow.extras.diagnosis import material
from failslow.grade import policy
from failslow.grade.diagnosis import course, runs, scoring
from failslow.grade.diagnosis.answers import BYTES_MAX, FIELDS, Answers, as_text, read
from failslow.grade.diagnosis.course import Subject, subjects
from failslow.grade.diagnosis.runs import Observed, Run, numbered
from failslow.grade.diagnosis.vocabulary import NONE, labels
from failslow.grade.model import TestRow
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import AnswerFile

KIT = this_kit()
LAB = load_labs(KIT).get("lab4")
COURSES = [
    course_key.DEVELOPMENT,
    *(CourseKey(sha256(f"course {n}".encode()).digest()) for n in range(20)),
]


def warning(kind: str, replica: int) -> dict[str, object]:
    names = {"kind": kind, "replica": replica, "coroutine": "", "wait": "quorum 2/3", "text": kind}
    return names | {"begin_ns": 5 * 10**9, "end_ns": 10**10}


def edge(color: str, start: int, coroutine: str, event: str) -> dict[str, object]:
    return recordings.edge(start, [1], color, coroutine=coroutine, event=event)


def own_wait(replica: int, coroutine: str, event: str) -> dict[str, object]:
    on_path = 0 if coroutine == "progress" else 5
    times = {"count": 5, "on_path": on_path, "mean_ns": 1000, "worst_ns": 2000}
    return {"replica": replica, "coroutine": coroutine, "event": event} | times


def as_observed(subject: Subject) -> Observed:
    """Every kind of observation, of every replica: one must choose."""
    kinds = (
        "background-tasks",
        "repeated-entries",
        "not-finalized",
        "transient-performance",
        "stalled-wait",
    )
    events = ("disk", "timeout")
    coroutines = ("replicate", "progress", "AppendEntries")
    seen = {
        "leader": subject.leader,
        "slow": subject.slow,
        "clients": {"offered": 9, "unanswered": 0, "mean_ns": 10, "p50_ns": 9, "p99_ns": 30},
        "calls": 4,
        "warnings": [warning(kind, r) for kind in kinds for r in range(3)],
        "graph": {
            "replicas": 3,
            "edges": [
                edge(color, r, name, "AppendEntries")
                for color in ("red", "green")
                for r in range(3)
                for name in coroutines
            ],
        },
        "own_waits": [
            own_wait(r, *each) for r in range(3) for each in itertools.product(coroutines, events)
        ],
    }
    run = Run("slow", seen, numbered(f"{subject.label}/slow", seen))
    return Observed(subject, (run,))


def observed_of(key: CourseKey = course_key.DEVELOPMENT) -> tuple[Observed, ...]:
    return tuple(map(as_observed, subjects(KIT, LAB, key)))


def right_text() -> str:
    return material.right_answers(observed_of())


def parse(text: str | bytes, lab: Lab = LAB) -> Answers:
    return read(text if isinstance(text, bytes) else text.encode(), "diagnosis.yaml", lab)


def score(text: str, observed: tuple[Observed, ...] | None = None) -> float:
    judged = scoring.judge(parse(text), observed or observed_of())
    return sum(each.score for each in judged)


ALL = scoring.points(LAB)


def test_labels_are_permuted_by_the_key() -> None:
    orders = {tuple(each.truth.variant for each in subjects(KIT, LAB, key)) for key in COURSES}
    assert len(orders) > len(COURSES) / 2
    for position in some(range(len(labels(LAB)))):
        assert len({order[position] for order in orders}) == len(labels(LAB))
    assert LAB.diagnosis is not None
    assert all(set(order) == set(LAB.diagnosis.variants) for order in orders)


def test_leaders_take_turns_and_the_slow_replica_follows() -> None:
    for key in COURSES:
        found = subjects(KIT, LAB, key)
        assert sorted(each.leader for each in found) == [0, 0, 1, 1, 2, 2]
        assert all(each.slow != each.leader and each.slow in range(3) for each in found)
        assert len({each.seed for each in found}) == len(found)


def test_the_words_of_lab_yaml_are_those_of_the_variants() -> None:
    assert LAB.diagnosis is not None
    truths = [each.truth for each in subjects(KIT, LAB, course_key.DEVELOPMENT)]
    assert {each.cause for each in truths} == {*LAB.diagnosis.causes, NONE}


def test_the_right_answers_have_all_points() -> None:
    for key in COURSES:
        observed = observed_of(key)
        text = material.right_answers(observed)
        assert parse(text).complaints == []
        assert score(text, observed) == ALL == 15
        assert all(each.passed for each in some(scoring.judge(parse(text), observed)))


def test_the_template_earns_nothing_and_names_every_label() -> None:
    template = as_text([(label, {}) for label in labels(LAB)])
    assert score(template) == 0
    assert len(parse(template).complaints) == len(labels(LAB))
    starter = (KIT.labs / LAB.directory / "src" / "diagnosis.yaml").read_text()
    _, *words = [line for line in starter.splitlines() if line and line[0] != "#"]
    assert words == [line for line in template.splitlines() if line]


def wrong(name: str, value: str, label: str) -> str:
    """Another answer of good form."""
    other = {
        "variant": ("no-finalize", "reference"),
        "replica": ("0", "1"),
        "coroutine": ("confirm", "election"),
        "wait": ("and", "or"),
        "cause": ("no-spare", "none"),
        "evidence": (f"{label}/slow/w99", f"{label}/healthy/e99"),
    }[name]
    return next(each for each in other if each != value)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("label", labels(LAB))
def test_a_wrong_field_loses_just_itself(name: str, label: str) -> None:
    answers = parse(right_text()).by_label
    answers[label][name] = wrong(name, answers[label][name], label)
    text = as_text(list(answers.items()))
    assert parse(text).complaints == []
    assert score(text) == ALL - scoring.POINTS[name]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("variant", "*a", "not a plain word"),
        ("variant", "&a reference", "not a plain word"),
        ("variant", "[reference]", "not a plain word"),
        ("variant", "{a: b}", "not a plain word"),
        ("variant", "!!python/object:os.system x", "not a plain word"),
        ("variant", "| ", "not a plain word"),
        ("variant", "'reference", "not a plain word"),
        ("variant", "the reference", "not a plain word"),
        ("variant", "raft", "none of reference, "),
        ("variant", "Reference", "none of reference, "),
        ("variant", "12", "none of reference, "),
        ("variant", "~", "not a plain word"),
        ("variant", "x" * 5000, "none of reference, "),
        ("variant", "\x1b[2J\x00", "not a plain word"),
        ("replica", "3", "none of 0, 1, 2, none"),
        ("replica", "-1", "not a plain word"),
        ("replica", "1.0", "none of 0, 1, 2, none"),
        ("replica", "01", "none of 0, 1, 2, none"),
        ("coroutine", "1", "not a name"),
        ("wait", "a/b", "not a name"),
        ("wait", "w" * 41, "not a name"),
        ("cause", "bad-luck", "none of repeated-work"),
        ("evidence", "w1", "not the number of an observation of A"),
        ("evidence", "B/slow/w1", "not the number of an observation of A"),
        ("evidence", "A/slow/w0", "not the number of an observation of A"),
        ("evidence", "A/slow/w12345", "not the number of an observation of A"),
    ],
)
def test_a_malformed_field_is_named_in_one_line_and_loses_itself(
    name: str, value: str, says: str
) -> None:
    number = 1 + FIELDS.index(name)
    lines = right_text().split("\n")
    lines[number] = f"  {name}: {value}"
    (complaint,) = parse("\n".join(lines)).complaints
    assert complaint.startswith(f"diagnosis.yaml:{number + 1}: {name}: ")
    assert says in complaint
    assert len(complaint) < 250
    assert complaint.isprintable()
    assert score("\n".join(lines)) == ALL - scoring.POINTS[name]


def test_yaml_that_means_the_same_is_read() -> None:
    plain = right_text()
    first = plain.split("\n")[1]
    value = first.split(": ")[1]
    for line in (
        f"  variant: '{value}'",
        f'  variant: "{value}"',
        f"      variant:   {value}   # sure",
        f"  # a comment\n{first}",
    ):
        text = "\ufeff---\n" + plain.replace(first, line, 1)
        assert parse(text).complaints == []
        assert score(text) == ALL
        assert score(text.replace("\n", "\r\n")) == ALL


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("  colour: red", "'colour' is no field"),
        ("what is this", "neither"),
        ("? x", "neither"),
        ("variant: reference", "neither"),
        ("<<: *x", "neither"),
        ("- A", "neither"),
        ("\t", None),
        ("A:", "A begins again; line 1 has begun it"),
        ("G:", "'G' is no label (A to F)"),
        ("Z:\n  variant: reference\n  variant: reference", "'Z' is no label"),
    ],
)
def test_an_odd_line_costs_nothing_else(line: str, says: str | None) -> None:
    text = right_text() + line + "\n"
    complaints = parse(text).complaints
    assert score(text) == ALL
    if says is None:
        assert complaints == []
    else:
        (complaint,) = complaints
        number = right_text().count("\n") + 1
        assert complaint.startswith(f"diagnosis.yaml:{number}: ")
        assert says in complaint


def test_a_line_before_the_labels_or_one_that_is_no_text_is_named() -> None:
    text = "  variant: reference\n" + right_text()
    assert parse(text).complaints == ["diagnosis.yaml:1: 'variant' belongs to no label"]
    assert score(text) == ALL
    (complaint,) = parse(right_text().encode() + b"\xff\xfe\n").complaints
    assert complaint.endswith(": not UTF-8")


def test_a_field_answered_twice_is_lost() -> None:
    right = right_text()
    line = right.split("\n")[1]
    twice = right.replace(line, f"{line}\n{line}", 1)
    assert parse(twice).complaints == [
        "diagnosis.yaml:3: variant is answered in line 2, too: both are lost"
    ]
    assert score(twice) == ALL - scoring.POINTS["variant"]
    thrice = right.replace(line, f"{line}\n{line}\n{line}", 1)
    assert score(thrice) == ALL - scoring.POINTS["variant"]


def test_missing_labels_and_answers_are_named_once() -> None:
    blocks = right_text().split("\n\n")
    text = "\n\n".join(block for block in blocks if not block.startswith("C:"))
    assert parse(text).complaints == ["diagnosis.yaml: there is no 'C:'"]
    assert score(text) == ALL - scoring.LABEL_POINTS
    short = "\n".join(line for line in right_text().split("\n") if "wait:" not in line)
    assert parse(short).complaints[0] == "diagnosis.yaml:1: A has no answer to wait"
    assert score(short) == ALL - 6 * scoring.POINTS["wait"]


def test_a_huge_file_is_not_read() -> None:
    text = right_text() + "#" * BYTES_MAX
    assert parse(text).complaints == [
        "diagnosis.yaml: larger than 16 KiB, so nothing of it is read"
    ]
    assert score(text) == 0


def test_many_complaints_are_cut_short() -> None:
    complaints = parse("?\n" * 1000).complaints
    assert len(complaints) == 21
    assert complaints[-1] == "diagnosis.yaml: and 986 more such lines"


@pytest.mark.parametrize("key", COURSES, ids=lambda key: key.fingerprint[:4])
def test_the_same_answer_for_every_label_earns_little(key: CourseKey) -> None:
    # Even if its author knows the best answer to each field.
    observed = observed_of(key)
    right = parse(material.right_answers(observed)).by_label
    best = 0.0
    for name in FIELDS:
        values = {fields[name] for fields in right.values()}
        best += max(
            score(as_text([(label, {name: value}) for label in labels(LAB)]), observed)
            for value in values
        )
    assert best <= ALL / 4


def test_feedback_does_not_tell_the_answer() -> None:
    observed = observed_of()
    for each in some(observed):
        truth = each.subject.truth
        given = {name: wrong(name, getattr(truth, name), each.subject.label) for name in FIELDS}
        text = as_text(
            [(label, given if label == each.subject.label else {}) for label in "ABCDEF"]
        )
        judged = scoring.judge(parse(text), observed)[labels(LAB).index(each.subject.label)]
        assert judged.score == 0
        feedback = "\n".join(judged.lines)
        for secret in (truth.variant, truth.cause, truth.coroutine):
            if secret != NONE:
                assert secret not in feedback


def test_evidence_must_show_the_fault() -> None:
    for each in some(observed_of()):
        truth = each.subject.truth
        shown = [found for found in each.evidence.values() if scoring.shows(found, each)]
        assert shown
        assert all(found.kind in truth.evidence for found in shown)
        assert len(shown) < len(each.evidence) / 4


def test_a_wait_for_a_quorum_shows_the_reference() -> None:
    (healthy,) = [each for each in observed_of() if each.subject.truth.variant == "reference"]
    for found in some(healthy.evidence.values()):
        given = Answers({healthy.subject.label: {"evidence": found.id}})
        shown = found.kind == "green-edge" and found.replica == healthy.subject.leader
        assert bool(scoring.judge(given, (healthy,))[0].score) == shown


def test_observations_are_numbered_by_kind() -> None:
    each = observed_of()[0]
    names = [*each.evidence]
    assert names[0] == "A/slow/w1"
    assert {"A/slow/e1", "A/slow/o1"} <= {*names}
    other = replace(each, runs=())
    assert other.evidence == {}


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> tuple[Observed, ...]:
    """The observations that every command and grade sees, instead of those of runs."""
    found = observed_of()
    monkeypatch.setattr(runs, "observe", lambda *_: found)
    monkeypatch.setattr(cmake, "build", lambda *_, **__: None)
    return found


def record(*_: object, record: Path, **__: object) -> None:
    world = {"do": "world", "w": 1, "t": 0, "seed": 7, "replicas": 3}
    record.write_text(json.dumps(world) + "\n")


def test_the_material_names_labels_and_no_variants(
    observed: tuple[Observed, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "perform", record)
    out = tmp_path / "material"
    assert cli.main(["diagnose", "--out", str(out)]) == 0
    files = sorted(path for path in out.rglob("*") if path.is_file())
    names = [str(path.relative_to(out)) for path in files]
    assert {"index.html", "diagnosis.yaml", "A/slow.html", "A/slow.json", "F/replay.html"} <= {
        *names
    }
    assert LAB.diagnosis is not None
    secrets = {*LAB.diagnosis.variants, *LAB.diagnosis.causes} - {
        "reference",
        "transient-performance",  # a kind of warning, too
    }
    for path, name in some(zip(files, names, strict=True)):
        text = path.read_text()
        assert not [secret for secret in secrets if secret in text or secret in name], name
    page = (out / "B" / "slow.html").read_text()
    assert all(each.id in page for each in some(observed[1].evidence.values()))
    assert "from 5.0 s to 10 s" in page
    numbers = [
        each["number"] for each in json.loads((out / "B/slow.json").read_text())["observations"]
    ]
    assert numbers == [*observed[1].evidence]


def test_the_command_keeps_answers_that_are_there(
    observed: tuple[Observed, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "perform", record)
    assert cli.main(["diagnose", "--out", str(tmp_path)]) == 0
    template = (tmp_path / "diagnosis.yaml").read_text()
    assert score(template, observed) == 0
    (tmp_path / "diagnosis.yaml").write_text("A:\n")
    assert cli.main(["diagnose", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "diagnosis.yaml").read_text() == "A:\n"


def test_a_kit_without_variants_refers_to_the_course(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labs = tmp_path / "labs"
    (labs / LAB.directory).mkdir(parents=True)
    for lab in load_labs(KIT).by_id.values():
        (labs / lab.directory).mkdir(exist_ok=True)
        (labs / lab.directory / "lab.yaml").write_bytes(
            (KIT.labs / lab.directory / "lab.yaml").read_bytes()
        )
    assert cli.main(["diagnose", "--out", str(tmp_path / "out")], Kit(tmp_path)) == 2
    assert "the course hands out the material" in capsys.readouterr().err


def test_the_form_of_answers_is_checked(
    observed: tuple[Observed, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(material.right_answers(observed))
    assert cli.main(["diagnose", "--check", str(path)]) == 0
    path.write_text(path.read_text().replace("A:", "A", 1))
    capsys.readouterr()
    assert cli.main(["diagnose", "--check", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:1: 'A' is neither")
    assert cli.main(["diagnose", "--check", str(tmp_path / "none.yaml")]) == 2


def test_teachers_get_the_right_answers(observed: tuple[Observed, ...], tmp_path: Path) -> None:
    path = tmp_path / "answers.yaml"
    assert cli.main(["release", "answers", "--out", str(path)]) == 0
    assert score(path.read_text(), observed) == ALL
    assert cli.main(["release", "answers", "--out", str(path)]) == 2


def graded(content: AnswerFile) -> list[TestRow]:
    return [*policy.diagnosis_rows(KIT, LAB, content, course_key.DEVELOPMENT)]


def test_a_grade_has_a_row_for_each_label(observed: tuple[Observed, ...]) -> None:
    rows = graded(material.right_answers(observed).encode())
    assert [row.test_id for row in rows] == [f"diagnosis/{label}" for label in labels(LAB)]
    assert all(row.earned and row.part == "4b" and row.output == "" for row in rows)
    assert sum(row.max_score for row in rows) == ALL


def test_answers_to_the_material_of_another_course_are_told_in_one_line(
    observed: tuple[Observed, ...],
) -> None:
    ours = course.fingerprint(course_key.DEVELOPMENT)
    assert all(row.earned for row in some(graded(material.right_answers(observed, ours).encode())))
    rows = graded(material.right_answers(observed, "12ab").encode())
    assert all(row.score == 0 for row in some(rows))
    said = f"the answers are to material 12ab, and this course's is {ours}"
    assert {row.output.splitlines()[0] for row in rows} == {said}


def test_a_grade_names_what_is_lost(observed: tuple[Observed, ...]) -> None:
    answers = parse(material.right_answers(observed)).by_label
    answers["B"]["replica"] = "7"
    rows = graded(as_text(list(answers.items())).encode())
    assert [row.earned for row in rows] == [True, False, True, True, True, True]
    assert rows[1].score == scoring.LABEL_POINTS - scoring.POINTS["replica"]
    assert "diagnosis.yaml:11: replica: '7' is none of 0, 1, 2, none" in rows[0].output
    assert "replica: no answer that can be read" in rows[1].output


def test_without_a_file_the_diagnosis_has_no_points(observed: tuple[Observed, ...]) -> None:
    rows = graded("lab4-finalize/diagnosis.yaml is missing")
    assert [row.score for row in rows] == [0.0] * len(observed)
    assert "is missing" in rows[0].output
    assert "is missing" not in rows[1].output


def in_its_own_way(subject: Subject) -> Observed:
    """The subject shows its fault, and nothing else but what all show."""
    truth, leader = subject.truth, subject.leader
    own = [kind for kind in truth.evidence if kind not in ("path-wait", "own-wait", "red-edge")]
    waits = [own_wait(leader, "progress", "or")]
    if truth.variant in ("evicted-entries", "transient-performance", "background-catch-up"):
        waits.append(own_wait(int(truth.replica), truth.coroutine, truth.wait))
    edges = [edge("green", leader, "replicate", "quorum"), edge("red", 1001, "", "KvRequest")]
    if truth.variant == "waits-in-turn":
        edges.append(edge("red", leader, "replicate", "AppendEntries"))
    p99 = 90 if truth.variant == "transient-performance" else 30
    seen = {
        "leader": leader,
        "slow": subject.slow,
        "clients": {"p99_ns": p99},
        "warnings": [warning(kind, leader) for kind in {*own, "transient-performance"}],
        "graph": {"replicas": 3, "edges": edges},
        "own_waits": waits,
    }
    return Observed(subject, (Run("slow", seen, numbered(f"{subject.label}/slow", seen)),))


def clean() -> list[Observed]:
    return [in_its_own_way(each) for each in subjects(KIT, LAB, course_key.DEVELOPMENT)]


def changed(variant: str, **items: object) -> list[Observed]:
    """Clean observations, but this variant has others."""
    found = clean()
    for index, each in enumerate(found):
        if each.subject.truth.variant == variant:
            seen = each.runs[0].observed | items
            evidence = numbered(f"{each.subject.label}/slow", seen)
            found[index] = Observed(each.subject, (Run("slow", seen, evidence),))
    return found


def test_the_check_accepts_variants_that_show_their_own_faults() -> None:
    counts = diagnosis.judge(LAB, clean())
    assert counts.problems == []
    assert counts.passed == 6 * 4 + 2


def test_the_check_refuses_a_symptom_of_another_variant() -> None:
    leader = next(each.leader for each in subjects(KIT, LAB, course_key.DEVELOPMENT))
    first = subjects(KIT, LAB, course_key.DEVELOPMENT)[0].truth.variant
    kind = "not-finalized" if first != "no-finalize" else "repeated-entries"
    problems = diagnosis.judge(LAB, changed(first, warnings=[warning(kind, leader)])).problems
    assert any(
        problem.startswith(f"{first} (seed") and " shows " in problem for problem in problems
    )


def test_the_check_wants_hiccups_that_clients_notice() -> None:
    found = changed("transient-performance", clients={"p99_ns": 59})
    (problem,) = diagnosis.judge(LAB, found).problems
    assert problem.startswith("the p99 of transient-performance")


def test_a_course_without_evidence_has_no_answers() -> None:
    with pytest.raises(CannotDo, match="no observation of"):
        diagnosis.judge(LAB, changed("no-finalize", warnings=[]))
