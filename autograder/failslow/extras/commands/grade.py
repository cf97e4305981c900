"""`kit grade`: builds a submission, grades it lab by lab, prints tables, writes results.json."""

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from failslow.base import console, deadline
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake, given_code, sandbox
from failslow.build.recipe import load_recipe
from failslow.extras.release import assignment, local_gradescope
from failslow.extras.release.assignment import Assignment
from failslow.extras.shared.solution import check_out, submission_in, tree_in
from failslow.grade import result_text, results
from failslow.grade.model import LabGrade, Scope
from failslow.grade.report import print_lab, print_score
from failslow.grade.runner import Steps, grade
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab, load_labs


@dataclass(frozen=True)
class Options:
    """The options of grading `directory`. `seeds`: of most measured runs; None for the settings'.

    Without a `key` the grader looks for one. `minutes`: the grading ends then, with what it has.
    `verbose`: print each test and all figures, also where no points were lost.
    """

    directory: Path
    out: Path
    lab: str | None = None
    as_json: bool = False
    seeds: int | None = None
    key: CourseKey | None = None
    minutes: float | None = None
    verbose: bool = False


def run(kit: Kit, options: Options) -> int:
    """0 for full marks, 1 for points lost. results.json is written last, in one step. An interrupt
    ends the grade with the verdicts so far, marked as partial, and raises it."""
    minutes = options.minutes
    end = deadline.NONE if minutes is None else deadline.after(minutes * 60)
    check_out(options.out)
    key = options.key or course_key.find(kit)
    labs = load_labs(kit)
    directory = options.directory
    given = given_code.load(directory) if given_code.is_given_mutant(directory) else None
    tree, only = (kit.reference, given.lab) if given else (directory, options.lab)
    session = _Session(kit, None if options.as_json else console.stdout(), options.verbose)
    with submission_in(kit, labs, tree, only) as submission:
        recipe = None
        if given:
            cmake.build_for_grading(kit, labs.get(given.lab))
            recipe = given_code.recipe_with(kit, given, load_recipe(kit))
        scope = Scope(seeds=options.seeds, isolate=True, end=end, keeps_partial=True)
        steps = Steps(session.prepare, session.show, session.is_prepared)
        graded = grade(kit, labs, submission, scope, key, recipe, steps)
    content = results.document(graded, session.seconds(), session.sandbox)
    path = results.write(options.out, content)
    if options.as_json:
        print(result_text.as_text(content), end="")
    else:
        print_score(console.stdout(), graded)
    if unknown := results.without_verdict(graded):
        console.note(unknown)
    console.note(f"Wrote {path}")
    if graded.partial:
        raise KeyboardInterrupt(f"interrupted; {path} is partial")
    return 0 if graded.full_marks else 1


class _Session:
    """Builds what each lab needs, and shows each lab's grade as it comes. `shown_on`: None to show
    nothing. `sandbox`: of this machine, once a lab is prepared."""

    def __init__(self, kit: Kit, shown_on: Console | None, verbose: bool) -> None:
        self._kit = kit
        self._shown_on = shown_on
        self._verbose = verbose
        self._started = time.monotonic()
        self._building_s = 0.0
        self.sandbox: dict[str, bool] = {}

    def prepare(self, lab: Lab) -> None:
        began = time.monotonic()
        cmake.build_for_grading(self._kit, lab)
        self._building_s += time.monotonic() - began
        if not self.sandbox:
            self.sandbox = sandbox.of_this_machine(self._kit)
            if lacking := sandbox.remark(self.sandbox):
                console.note(lacking)

    def is_prepared(self, lab: Lab) -> bool:
        return cmake.is_built_for_grading(self._kit, lab)

    def show(self, graded: LabGrade) -> None:
        if self._shown_on:
            print_lab(self._shown_on, graded, self._verbose)

    def seconds(self) -> float:
        """The time so far, but for building the kit."""
        return time.monotonic() - self._started - self._building_s


def as_gradescope(kit: Kit, options: Options) -> int:
    """Grades by the file of an assignment. Returns 1 also if a submission does not compile."""
    minutes = _whole_minutes(options.minutes or assignment.MINUTES)
    check_out(options.out)
    labs = load_labs(kit)
    with tree_in(kit, labs, options.directory, options.lab) as (tree, only):
        assigned = Assignment(labs.get(only).id if only else None, minutes)
        key = options.key or course_key.find(kit)
        content = local_gradescope.grade(kit, labs, tree, assigned, key)
    path = results.write(options.out, content)
    most = content["extra_data"].get("max_score")
    if options.as_json:
        print(result_text.as_text(content), end="")
    elif most is None:
        print(content["output"])
    else:
        print(f"{content['score']:g} of {most:g} points")
    console.note(f"Wrote {path}")
    return 0 if content["score"] == most else 1


def _whole_minutes(minutes: float) -> int:
    """The minutes as a whole number, as the platform counts them. CannotDo for others."""
    least, most = assignment.MINUTES_MIN, assignment.MINUTES_MAX
    if minutes != round(minutes) or not least <= minutes <= most:
        raise CannotDo(f"--minutes: with --as gradescope a whole number from {least} to {most}")
    return round(minutes)
