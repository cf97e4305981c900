"""The commands of instructors and maintainers. A student's kit has no such file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.batch import command as grade_batch
from failslow.extras.batch import machines, similar
from failslow.extras.check import command as check
from failslow.extras.commands import (
    bench,
    convert,
    demo,
    diagnosis_material,
    grade,
    parsers,
    questions,
    rebase,
    release,
    reproduce,
    site,
)
from failslow.extras.commands.parsers import Commands, Parser, add, add_group
from failslow.extras.new_lab import command as new_lab
from failslow.extras.release import ai_rules, assignment
from failslow.lab import course_key


def add_to(commands: Commands) -> None:
    """Requires: the commands of students are there."""
    _add_grade(commands)
    _add_questions(commands)
    _add_similar(commands)
    convert.add_to(commands)
    _extend_diagnose(commands.choices["diagnose"])
    _add_check(commands)
    _add_mutants(commands)
    made = add(
        commands, "new-lab", "write the skeleton of a lab: built, graded, a page", new_lab.run
    )
    made.add_argument("name", metavar="NAME", help="labNUMBER-WORDS: lab9-gossip, for example")
    bench.add_to(add(commands, "bench", "measure speed on this machine", bench.run))
    _add_reproduce(commands)
    shown = add(commands, "demo", "show in three minutes what a slow replica costs", demo.run)
    shown.add_argument("--out", type=Path, default=Path("out/demo"), help="(out/demo)")
    _add_site(commands)
    _add_release(commands)
    built = add(commands, "build", "build the kit itself and nothing else", _build)
    built.add_argument("targets", nargs="*", metavar="TARGET", help="of CMake: grading, say (all)")
    built.add_argument("--preset", default="release", help="a CMake preset (release)")


def _add_grade(commands: Commands) -> None:
    parser = add(
        commands, "grade", "grade a submission, or a folder of them", _grade, _GradeOptions
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="a submission, or the patch of a mutant or alternative; with --batch their folder",
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="for the results (out)")
    parser.add_argument("--lab", help="grade this lab only")
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="print results.json, no tables"
    )
    text = "print each test and all figures, also where no points were lost"
    parser.add_argument("--verbose", action="store_true", help=text)
    parser.add_argument(
        "--seeds",
        type=parsers.positive,
        help="seeds of most measured runs (as many as a row needs, up to 2 or 3)",
    )
    text = "end after this time with what is graded by then (never)"
    parser.add_argument("--minutes", type=parsers.minutes, help=text)
    _add_key(parser)
    text = "DIR holds a directory or a zip file for each student; writes summary.csv and .html"
    parser.add_argument("--batch", action="store_true", help=text)
    text = "by the file of an assignment, in a container of its smallest size, or a plain tree"
    parser.add_argument("--as", choices=["gradescope"], dest="platform", help=text)
    text = "of a batch: gradings side by side, each on its share of the cores (1)"
    parser.add_argument("--jobs", type=parsers.positive, default=1, metavar="N", help=text)
    text = "of a batch: CLASS:N, workers of a class of Dask's, or a scheduler's address (here)"
    parser.add_argument("--on", default=machines.HERE, metavar="WHERE", help=text)


@dataclass(frozen=True)
class _GradeOptions(grade.Options):
    """`batch`: the directory holds one submission for each student. `platform`: see --as.
    `jobs` and `on`: see batch.command."""

    batch: bool = False
    platform: str | None = None
    jobs: int = 1
    on: str = machines.HERE


def _grade(kit: Kit, options: _GradeOptions) -> int:
    if options.platform:
        if options.batch or options.seeds is not None:
            raise CannotDo("--as is of one submission, with all seeds: no --batch, no --seeds")
        return grade.as_gradescope(kit, options)
    if not options.batch:
        if options.jobs != 1 or options.on != machines.HERE:
            raise CannotDo("--jobs and --on are of a batch: add --batch")
        return grade.run(kit, options)
    if options.as_json:
        raise CannotDo("--json is of one submission: a batch has summary.csv, and its results")
    batch = grade_batch.Options(
        options.lab, options.seeds, options.minutes, options.jobs, options.on
    )
    return grade_batch.run(kit, options.directory, options.out, options.key, batch)


def _add_key(parser: Parser) -> None:
    parser.add_argument(
        "--key",
        type=lambda text: course_key.read(Path(text)),
        metavar="FILE",
        help=f"the course key (${course_key.ENVIRONMENT}, then course.key)",
    )


def _add_questions(commands: Commands) -> None:
    text = "make oral questions on a submission, from its own runs"
    parser = add(commands, "questions", text, questions.run)
    parser.add_argument("lab", metavar="LAB")
    text = "a submission, or the patch of a mutant or alternative"
    parser.add_argument("directory", type=Path, metavar="DIR", help=text)
    text = "another number gives other runs and questions (1)"
    parser.add_argument(
        "--set", type=parsers.positive, default=1, metavar="N", dest="number", help=text
    )
    parser.add_argument("--out", type=Path, default=questions.OUT, help=f"({questions.OUT})")


def _add_similar(commands: Commands) -> None:
    text = "find submissions that are too much alike, and draw them side by side"
    parser = add(commands, "similar", text, similar.run)
    text = "holds a directory or a zip file for each student, as of grade --batch"
    parser.add_argument("directory", type=Path, metavar="DIR", help=text)
    parser.add_argument("--lab", required=True, help="compare the files of this lab")
    default = Path("out/similar")
    parser.add_argument("--out", type=Path, default=default, help=f"for the pages ({default})")
    text = f"per cent of the structure that a pair shares at least ({similar.THRESHOLD})"
    parser.add_argument(
        "--threshold",
        type=parsers.whole(1, 100),
        default=similar.THRESHOLD,
        metavar="N",
        help=text,
    )


def _extend_diagnose(parser: Parser) -> None:
    """Instructors make the material, too."""
    parser.description = "make the material of lab 4's diagnosis"
    parser.set_defaults(command=diagnosis_material.run)
    default = Path("out/diagnosis")
    parser.add_argument("--out", type=Path, default=default, metavar="DIR", help=f"({default})")
    _add_key(parser)


def _add_check(commands: Commands) -> None:
    parser = add(commands, "check", "check the kit itself", check.run, check.Options)
    parser.add_argument("--quick", action="store_true", help="for each commit, after a build")
    parser.add_argument("--full", action="store_true", help="more seeds; takes longer")
    parser.add_argument("--mutants", action="store_true", help="grade the mutants, nothing else")
    text = "grade the submissions that attack the grader, nothing else"
    parser.add_argument("--attacks", action="store_true", dest="only_attacks", help=text)
    text = "with --mutants: print JSON"
    parser.add_argument("--json", action="store_true", dest="as_json", help=text)


def _add_mutants(commands: Commands) -> None:
    text = "keep mutants and alternatives of the reference"
    what = add_group(commands, "mutants", text)
    text = "carry them over a change of the reference"
    parser = add(what, "rebase", text, rebase.run)
    parser.add_argument(
        "--from",
        default="HEAD",
        metavar="REV",
        dest="revision",
        help="whose reference they fit (HEAD)",
    )


def _add_reproduce(commands: Commands) -> None:
    text = "repeat the documents' experiments in the simulator"
    parser = add(commands, "reproduce", text, reproduce.run)
    text = "what a lab reproduces alone, with bars: saucr has document 003's crash sequences"
    parser.add_argument("name", nargs="?", metavar="NAME", help=text)
    text = "one run of each, and one seed; a small part of what a lab reproduces"
    parser.add_argument("--quick", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no tables")


def _add_site(commands: Commands) -> None:
    what = add_group(commands, "site", "build the handbook")
    built = add(what, "build", "build the handbook's pages", site.build)
    text = "their address on a server, such as https://course.example/failslow/"
    built.add_argument("--url", type=site.address, help=text)
    text = "without the pages of instructors and maintainers, into build/site-for-students"
    built.add_argument("--for-students", action="store_true", help=text)
    served = add(what, "serve", "serve the handbook to its authors, on this machine", site.serve)
    served.add_argument("--port", type=parsers.port, default=site.PORT, help=f"({site.PORT})")


def _add_choice(parser: Parser) -> None:
    text = "these labs alone, with those that they need: lab1,lab2 (all)"
    parser.add_argument("--labs", type=lambda text: text.split(","), metavar="LABS", help=text)
    text = "leave kit cluster and kit faults out, and what only they need"
    parser.add_argument("--without-clusters", action="store_false", dest="with_clusters", help=text)


def _add_release(commands: Commands) -> None:
    text = "make what a course needs of its own"
    what = add_group(commands, "release", text)
    made = add(what, "key", "make the secret from which hidden seeds derive", release.key)
    made.add_argument("--out", type=Path, metavar="FILE", help="must not exist (course.key)")
    text = "write the kit that students get: a git repository without any answer"
    given = add(what, "students", text, release.students)
    given.add_argument("out", type=Path, metavar="OUT", help="new, or an earlier release")
    _add_choice(given)
    text = "leave the handbook out"
    given.add_argument("--without-handbook", action="store_false", dest="with_handbook", help=text)
    text = "the image of its dev container (one that each student builds)"
    given.add_argument("--image", type=release.image_name, metavar="NAME", help=text)
    text = "the rule for AI helpers, in AGENTS.md and in files that name it (no such file)"
    given.add_argument("--ai", choices=[*ai_rules.TEXTS], help=text)
    text = "make the image of students' containers, with the kit compiled"
    made = add(what, "image", text, release.image)
    text = "its name, such as ghcr.io/course/failslow:2026"
    made.add_argument("--tag", type=release.image_name, metavar="NAME", required=True, help=text)
    text = "send it to the registry of that name; for several processors where buildx can"
    made.add_argument("--push", action="store_true", help=text)
    _add_choice(made)
    text = "write the zip file of a Gradescope assignment's autograder"
    zipped = add(what, "gradescope", text, release.gradescope)
    zipped.add_argument("out", type=Path, metavar="OUT.zip", help="is replaced if it exists")
    zipped.add_argument("--lab", help="the assignment's lab (all)")
    text = "the assignment's time limit on Gradescope; the grading ends a minute earlier"
    zipped.add_argument(
        "--minutes",
        type=parsers.whole(assignment.MINUTES_MIN, assignment.MINUTES_MAX),
        default=assignment.MINUTES,
        metavar="N",
        help=f"{text} ({assignment.MINUTES}; at most {assignment.MINUTES_MAX})",
    )
    text = "a student's graded submissions a day; others keep the last result (no limit)"
    zipped.add_argument("--runs-a-day", type=parsers.positive, metavar="N", help=text)
    _add_key(zipped)
    _add_platforms(what)
    text = "write the right answers of lab 4's diagnosis, for instructors"
    right = add(what, "answers", text, diagnosis_material.answers_of)
    right.add_argument("--out", type=Path, metavar="FILE", required=True, help="must not exist")
    _add_key(right)


def _add_platforms(what: Commands) -> None:
    question = add(what, "prairielearn", "write a question of PrairieLearn", release.prairielearn)
    assessment = add(what, "autolab", "write an assessment of Autolab", release.autolab)
    tests = add(what, "classroom50", "write public tests for Classroom 50", release.classroom50)
    for parser in (question, assessment, tests):
        parser.add_argument("out", type=Path, metavar="OUT", help="a directory; must not exist")
        parser.add_argument("--lab", required=True, help="the assignment's lab")
    text = "the image in which it is graded"
    question.add_argument(
        "--image", type=release.image_name, metavar="NAME", required=True, help=text
    )
    text = "the image of students' containers (each grade compiles the kit)"
    tests.add_argument("--image", type=release.image_name, metavar="NAME", help=text)
    for parser, most in ((question, 10), (assessment, assignment.MINUTES_MAX)):
        parser.add_argument(
            "--minutes",
            type=parsers.whole(assignment.MINUTES_MIN, most),
            default=assignment.MINUTES,
            metavar="N",
            help=f"the platform's time limit ({assignment.MINUTES}; at most {most})",
        )
        _add_key(parser)


def _build(kit: Kit, preset: str, targets: Sequence[str]) -> int:
    """All targets, if none is named."""
    cmake.build(kit, preset, targets)
    return 0
