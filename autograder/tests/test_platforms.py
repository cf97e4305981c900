"""Other platforms: their formats, their gradebooks, and assignments for them."""

import json
import shutil
import tarfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from demands import some
from failslow import cli
from failslow.base.kit import Kit, this_kit
from failslow.extras.batch import summary
from failslow.extras.batch.summary import Row
from failslow.extras.commands import platform
from failslow.extras.release import convert, platforms
from failslow.extras.release.assignment import Assignment
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from fakes import write_submission
from running import Expect, Said

RECORDED = Path(__file__).parent / "recorded" / "platforms"
CASES = ("good", "broken", "cheating")
ENDINGS = {"prairielearn": "prairielearn.json", "autolab": "autolab.txt", "junit": "junit.xml"}


def _result(case: str) -> dict[str, Any]:
    return json.loads((RECORDED / f"{case}.json").read_text())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("platform_name", ENDINGS)
def test_a_result_is_as_the_documents_have_it(
    case: str, platform_name: str, tmp_path: Path
) -> None:
    golden = RECORDED / f"{case}.{ENDINGS[platform_name]}"
    assert _converted(_result(case), platform_name) == golden.read_text()


def _converted(content: dict[str, Any], platform_name: str) -> str:
    labs = load_labs(this_kit())
    if platform_name == "autolab":
        return convert.autolab(content, labs, [labs.get("lab1")])
    return getattr(convert, platform_name)(content, labs)


def _totals(content: dict[str, Any]) -> dict[str, Decimal]:
    """The points of all lines by platform, from what the platform reads."""
    exact = {"parse_float": Decimal}
    prairielearn = json.loads(_converted(content, "prairielearn"), **exact)
    autolab = json.loads(_converted(content, "autolab").splitlines()[-1], **exact)
    junit = ElementTree.fromstring(_converted(content, "junit")).iter("property")
    return {
        "prairielearn": sum((each["points"] for each in prairielearn["tests"]), Decimal(0)),
        "autolab": sum(autolab["scores"].values(), Decimal(0)),
        "junit": sum((Decimal(each.attrib["value"].split()[0]) for each in junit), Decimal(0)),
    }


@pytest.mark.parametrize("case", CASES)
def test_totals_are_equal_to_the_last_digit(case: str) -> None:
    content = _result(case)
    assert {*_totals(content).values()} == {Decimal(repr(content["score"]))}
    shown = json.loads(_converted(content, "prairielearn"))
    if case == "broken":
        assert "score" not in shown, "PrairieLearn takes no attempt from it"
    else:
        assert shown["score"] * content["extra_data"]["max_score"] == content["score"]


def test_fractions_of_points_are_kept_and_hidden_lines_are_one_line_of_their_part() -> None:
    content = _result("cheating")
    content["extra_data"]["max_score"] = 100.0
    graded = [each for each in content["tests"] if each.get("max_score")]
    for test, score in zip(graded, (0.1, 0.2, 0.7, 2.35), strict=False):
        test["score"] = score
    for test in graded[1:4]:
        test |= {"visibility": "hidden", "output": "a secret"}
        test["extra_data"]["detail"] = "a secret"
        test.pop("tags", None)  # a long result has none
    content["score"] = round(sum(each["score"] for each in graded), 2)
    assert {*_totals(content).values()} == {Decimal(repr(content["score"]))}
    for name in ENDINGS:
        text = _converted(content, name)
        assert "lab1 children: 3 lines that are not shown" in text
        assert "a secret" not in text
        assert not [each for each in graded[1:4] if each["name"] in text]


def test_a_result_is_converted_by_the_command(
    expect: Expect, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "good.xml"
    words = ["convert", RECORDED / "good.json", "--to", "junit", "--out", out]
    assert cli.main([*map(str, words)], this_kit()) == 0
    assert ElementTree.parse(out).getroot().tag == "testsuites"
    words = ["convert", RECORDED / "broken.json", "--to", "autolab", "--lab", "lab1"]
    assert cli.main([*map(str, words)], this_kit()) == 0
    scores = json.loads(capfd.readouterr().out.splitlines()[-1])["scores"]
    assert [*scores.values()] == [0.0] * 3
    for path, reason in (
        (RECORDED / "good.json", "of another kit"),
        (tmp_path / "none", "is no result"),
        (RECORDED.parent / "measured_run.json", "invalid"),
    ):
        assert reason in expect(2, "convert", path, "--to", "prairielearn").reason


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 2 (77),Final Score
    Points Possible,,,,,200,(read only)
"Ng, Ann",11,s1,ann,A,,
"Li, Ben",12,s2,Ben,A,5,
"""
MOODLE = "First name,Email address,Lab 2\nAnn,ann,-\nBen,ben,-\nDan,dan,-\n"


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    rows = [Row("ann", 187.35, 200.0), Row("ben", 15.0, 200.0), Row("cem"), Row("dan", 0.0, 200.0)]
    summary.write(tmp_path / "graded", rows)
    (tmp_path / "late.csv").write_text("name,days\nann,1\nben,2\n")
    (tmp_path / "book.csv").write_text(CANVAS)
    return tmp_path


def _fill(
    expect: Expect, batch: Path, code: int, *more: object, column: str = "Lab 2 (77)"
) -> Said:
    book = ("--gradebook", batch / "book.csv", "--column", column)
    return expect(code, "convert", batch / "graded", "--to", "csv", *book, *more)


def test_a_batch_fills_a_column_of_the_gradebook(kit: Kit, expect: Expect, batch: Path) -> None:
    said = _fill(expect, batch, 1, "--late", batch / "late.csv")
    assert said.out == CANVAS.replace("ann,A,,", "ann,A,167.35,").replace("Ben,A,5", "Ben,A,0")
    assert said.err == "dan: in no row of the gradebook\n"
    (batch / "book.csv").write_text(MOODLE, "utf-8-sig")
    late = ("--late", batch / "late.csv", "--per-day", 1)
    said = _fill(expect, batch, 0, *late, column="Lab 2 (new)")
    assert [line.rsplit(",", 1)[1] for line in said.out.splitlines()] == [
        "Lab 2 (new)",
        "185.35",
        "11",
        "0",
    ]


def test_a_gradebook_that_is_unclear_is_not_filled(kit: Kit, expect: Expect, batch: Path) -> None:
    (batch / "book.csv").write_text(CANVAS.replace("Ben", "ann"))
    assert "two rows with a cell 'ann'" in _fill(expect, batch, 2).reason
    (batch / "book.csv").write_text("Student,ID\nann\n")
    assert "is no table" in _fill(expect, batch, 2).reason
    for text, reason in (("name,days\neve,1\n", "late days of eve"), ("name,day\n", "columns are")):
        (batch / "late.csv").write_text(text)
        (batch / "book.csv").write_text(CANVAS)
        assert reason in _fill(expect, batch, 2, "--late", batch / "late.csv").reason
    assert (
        "holds no summary.csv"
        in expect(
            2,
            *("convert", batch, "--to", "csv", "--gradebook", batch / "book.csv", "--column", "x"),
        ).reason
    )
    assert "name it by --gradebook" in expect(2, "convert", batch, "--to", "csv").reason


@pytest.fixture
def released(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[Path, str]]:
    """Runs `kit release PLATFORM` with this kit. Returns the directory, and what was said."""

    def run(platform_name: str, lab: str, *more: object) -> tuple[Path, str]:
        out = tmp_path / platform_name / lab
        words = ("release", platform_name, out, "--lab", lab, *more)
        assert cli.main([*map(str, words)], this_kit()) == 0
        return out, "".join(capfd.readouterr())

    return run


Released = Callable[..., tuple[Path, str]]


def test_a_question_of_prairielearn(released: Released, expect: Expect, tracked: Kit) -> None:
    out, _ = released("prairielearn", "lab2", "--image", "course/lab2:1", "--minutes", 9)
    info = json.loads((out / "question/info.json").read_text())
    options = info["externalGradingOptions"]
    assert (info["type"], info["gradingMethod"]) == ("v3", "External")
    assert (options["image"], options["timeout"]) == ("course/lab2:1", 540)
    assert options["entrypoint"][3] == platform.__name__
    assert options["entrypoint"][5] == f"/grade/student/{platforms.HANDED_IN}"
    page = (out / "question/question.html").read_text()
    assert f'file-names="{platforms.HANDED_IN}"' in page
    assert (out / "image/course.key").read_text() == course_key.DEVELOPMENT.file_text
    assert (out / f"image/autograder/{platform.__name__.replace('.', '/')}.py").is_file()
    assert (out / "image/setup.sh").stat().st_mode & 0o777 == 0o700
    assert "setup.sh" in (out / "image/Dockerfile").read_text()
    words = ("release", "prairielearn", out, "--lab", "lab1", "--image", "x")
    assert "exists" in expect(2, *words).reason


def test_an_assessment_of_autolab(released: Released) -> None:
    out, said = released("autolab", "lab1")
    assert platforms.HANDED_IN in (out / "assessment/autograde-Makefile").read_text()
    scores = json.loads((RECORDED / "good.autolab.txt").read_text().splitlines()[-1])["scores"]
    for name, score in some(scores.items()):
        assert f"{name}: {score:g} points\n" in said
    with tarfile.open(out / "assessment/autograde.tar") as archive:
        assert archive.getnames() == ["assignment.json", "course.key"]
    assert not (out / "image/course.key").exists(), "the archive brings it"
    assert "FROM ${BASE}" in (out / "image/Dockerfile").read_text()


def test_public_tests_for_classroom_50(released: Released) -> None:
    for lab in some(load_labs(this_kit()).by_id.values()):
        out, said = released("classroom50", lab.id, "--image", "course/kit:1")
        assert "Students read all that runs in their repository" in said
        setup, *tests = json.loads((out / "tests.json").read_text())
        assert (setup["points"], setup["timeout"]) == (0, 600)
        assert 0 < len({each["name"] for each in tests}) == len(tests) < 100
        for each in tests:
            assert len(each["name"].encode()) <= 100
            assert each["run"] == f"./kit test {lab.id} {each['name']}"
        assert sum(each["points"] for each in tests) <= sum(part.points for part in lab.parts)
        assert "course/kit:1" in (out / "runtime.json").read_text()


def _hand_in(directory: Path, behaviour: str) -> Path:
    tree = write_submission(directory / "tree", behaviour)
    shutil.make_archive(str(directory / "submission"), "zip", tree)
    shutil.rmtree(tree)
    return directory / "submission.zip"


def test_a_submission_is_graded_in_the_image(
    kit: Kit, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kit.assignment.parent.mkdir(parents=True)
    kit.assignment.write_text(Assignment("lab1").file_text)
    handed = _hand_in(tmp_path, "FAIL:Secret.Nesting")
    assert platform.main(["prairielearn", str(handed), str(tmp_path / "results")], kit) == 0
    assert json.loads((tmp_path / "results" / "results.json").read_text())["score"] == 0.5
    assert capfd.readouterr() == ("", ""), "students read it, and the grader names hidden tests"
    assert platform.main(["autolab", str(handed)], kit) == 0
    out, err = capfd.readouterr()
    *_, feedback, last = out.splitlines()
    assert json.loads(feedback)["_presentation"] == "semantic"
    assert sum(json.loads(last)["scores"].values()) == 50
    assert err == ""
    assert "Secret" not in out
    handed.write_text("no zip file")
    assert platform.main(["prairielearn", str(handed), str(tmp_path / "results")], kit) == 0
    told = json.loads((tmp_path / "results" / "results.json").read_text())
    assert told["gradable"] is False
    assert "no zip file" in told["format_errors"][0]


def test_an_error_of_the_grader_leaves_no_result(
    kit: Kit, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kit.binary("lab1_public_sealed").unlink()
    handed = _hand_in(tmp_path, "")
    assert platform.main(["prairielearn", str(handed), str(tmp_path / "results")], kit) == 2
    assert not (tmp_path / "results").exists()
    assert capfd.readouterr().err == ""
