"""Talks to a GoogleTest binary of the kit: lists graded tests, runs one, reads the verdict."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from failslow.base import deadline, printable, process
from failslow.base.errors import CouldNotGrade
from failslow.build import assertions

TEST_TIMEOUT_S = 120.0
LIST_TIMEOUT_S = 30.0
SAID_MAX = 4000
EXHAUSTED = 4
"""The exit code of a test's process without memory (framework/testkit/replicas_sealed.cc)."""
TOO_MUCH = (
    "the test's process has no more memory for what replicas send and tell: does one send messages "
    "without end, or with very many entries?"
)
WROTE = "The run printed:"
"""A title for what a test's process wrote (`Outcome.said`)."""

_RULE = re.compile(r"\(([^()]+)\)$")
_PART = re.compile(r"\(the rules of part (\w+)\)$")

SHRINK_RUNS = 40
"""In a grade: runs that look for the shortest schedule of faults that fails a test."""


@dataclass(frozen=True)
class GradedTest:
    """A test as its binary declares it. `name` is GoogleTest's Suite.Name."""

    suite: str
    name: str
    part: str
    points: int
    description: str
    hidden: bool


@dataclass(frozen=True)
class Outcome:
    """A verdict. `failures` is empty exactly when the test passed.

    `skipped_because`: one line; empty if the test ran. `operations`: the number of operations in
    the histories that were checked. `violated`: what the test saw violated of safety, or "".
    `violated_part`: the id of the part whose rules that breaks; "" for the test's own.
    `rule`: that invariant, or another violated one, and where its rule stands; or "". A student may
    see it of a hidden test. `shrinks`: the test runs schedules of faults, which may be
    made shorter. `explored`: what an exploration counted, as JSON; "" for another test.
    `told`: what a student may see of a hidden test's failure, beside its description; or "".
    `unbuilt`: the behaviour because of which the test could not build its situation, or "".
    `situations`: in how many of its worlds each situation came up that the test is meant to reach.
    `ended_process`: there is no more than the failure, and the history up to it. `no_verdict`: why
    the grader has none, or ""; the failure is the grader's then. `twins`: "same", "differ", or why
    they could not be compared; "" without twins. `differs`: how they differ, or "". `said`: the end
    of what the process wrote to standard output and standard error.
    """

    failures: tuple[str, ...]
    trace_hash: str = ""
    seed: str = ""
    history: str = ""
    trace: tuple[str, ...] = ()
    skipped_because: str = ""
    operations: int = 0
    violated: str = ""
    violated_part: str = ""
    rule: str = ""
    told: str = ""
    unbuilt: str = ""
    shrinks: bool = False
    explored: str = ""
    situations: tuple[tuple[str, int], ...] = ()
    ended_process: bool = False
    no_verdict: str = ""
    twins: str = ""
    differs: str = ""
    said: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures


@dataclass(frozen=True)
class Options:
    """The command of one test; `replica` is None for tests in simulation.

    `perturb`: what is done to the memory of the replicas. `twin`: to that of their twins; None:
    they have none. `shrink`: runs that may look for the shortest schedule that fails; 0 to show it
    as it is. `schedule`: the only schedule that a test performs which explores. `bound`: the most
    deviations of its schedules; None for the test's own. `deadline`: the test ends then, at the
    latest.
    """

    replica: Path | None = None
    seed: int | None = None
    perturb: int | None = None
    twin: int | None = None
    trace: bool = False
    record: Path | None = None
    shrink: int = 0
    schedule: Path | None = None
    bound: int | None = None
    timeout_s: float = TEST_TIMEOUT_S
    deadline: float = deadline.NONE


Run = Callable[[Path, str, Options], Outcome]
"""A function with the contract of `run_test`."""


def list_graded(binary: Path, suite: str) -> list[GradedTest]:
    """Tests in the order of the binary; CouldNotGrade when it does not list them."""
    if not binary.is_file():
        raise CouldNotGrade(f"test binary {binary.name} is missing from the kit's build")
    done = _run([binary, "--list-graded"], LIST_TIMEOUT_S, suite)
    if done.exit_code != 0:
        raise CouldNotGrade(f"{suite}: cannot list its tests ({done.how_it_ended()})", done.errors)
    try:
        return [
            GradedTest(
                suite=suite,
                name=str(entry["name"]),
                part=str(entry["part"]),
                points=int(entry["points"]),
                description=str(entry["description"]),
                hidden=bool(entry["hidden"]),
            )
            for entry in json.loads(done.output)
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CouldNotGrade(f"{suite}: its list of tests is malformed ({error!r})") from error


def list_all(binaries: Mapping[str, Path]) -> list[GradedTest]:
    """The tests of several suites, by whose names the binaries are given."""
    return [test for suite, binary in binaries.items() for test in list_graded(binary, suite)]


class Crashed(CouldNotGrade):
    """The test process died or hung; `history` is its output up to then."""

    def __init__(
        self, message: str, detail: str, how: str, history: str, timed_out: bool = False
    ) -> None:
        super().__init__(message, detail)
        self.how = how
        self.history = history
        self.timed_out = timed_out


def run_test(binary: Path, test: str, options: Options) -> Outcome:
    """Runs one test in a process of its own.

    Raises CouldNotGrade when there is no verdict, and Crashed when the process died or hung. A
    missing result is never taken for a pass or a failure.
    """
    with tempfile.TemporaryDirectory(prefix="failslow-test-") as name:
        scratch = Path(name)
        timeout_s = deadline.left_s(options.deadline, options.timeout_s)
        done = _run(_argv(binary, test, options, scratch), timeout_s, test)
        history = printable.text(_read(scratch / "history"))
        if done.exit_code == EXHAUSTED and not done.timed_out:
            return Outcome((TOO_MUCH,), history=history, ended_process=True)
        if done.timed_out or done.exit_code not in (0, 1):
            detail = (done.output + done.errors)[-SAID_MAX:]
            how = done.how_it_ended()
            message = f"{test} gave no verdict: {how}"
            raise Crashed(message, detail, how, history, done.timed_out)
        outcome = _read_verdict(scratch / "result.json", test, done.exit_code)
        trace = tuple(_read(scratch / "trace").splitlines()) if options.trace else ()
        said = printable.text((done.output + done.errors)[-SAID_MAX:])
        return replace(outcome, history=history, trace=trace, said=said)


def run_again_without_verdict(run: Run, binary: Path, test: str, options: Options) -> Outcome:
    """Runs a test, and once more without a verdict. The second time that is its outcome.

    One test that the machine or the grader breaks does not void the others.
    """
    with suppress(CouldNotGrade):
        return run(binary, test, options)
    try:
        return run(binary, test, options)
    except CouldNotGrade as error:
        return Outcome((f"{error}\n{error.detail}".rstrip(),), no_verdict=str(error))


def run_and_shrink(binary: Path, test: str, options: Options) -> Outcome:
    """Runs a test, and shows the shortest schedule that fails so, if the test has schedules."""
    outcome = run_test(binary, test, options)
    if outcome.passed or not outcome.shrinks:
        return outcome
    try:
        shrunk = run_test(binary, test, replace(options, shrink=SHRINK_RUNS, twin=None))
    except CouldNotGrade:
        return outcome  # the verdict is known: it only has no shorter reason
    return replace(outcome, failures=shrunk.failures or outcome.failures)


def _argv(binary: Path, test: str, options: Options, scratch: Path) -> list[str | Path]:
    argv: list[str | Path] = [
        binary,
        f"--gtest_filter={test}",
        f"--gtest_output=json:{scratch / 'result.json'}",
        f"--history={scratch / 'history'}",
    ]
    given = {
        "replica": options.replica,
        "seed": options.seed,
        "perturb": options.perturb,
        "twin": options.twin,
        "trace": scratch / "trace" if options.trace else None,
        "record": options.record,
        "shrink": options.shrink or None,
        "schedule": options.schedule,
        "bound": options.bound,
    }
    return argv + [f"--{name}={value}" for name, value in given.items() if value is not None]


def _run(argv: list[str | Path], timeout_s: float, what: str) -> process.Completed:
    try:
        return process.run(argv, env=process.ends_with_this(), timeout_s=timeout_s)
    except OSError as error:
        raise CouldNotGrade(f"{what}: cannot start {argv[0]}: {error.strerror}") from error


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _read_verdict(path: Path, test: str, exit_code: int) -> Outcome:
    """The one test's verdict; CouldNotGrade unless result file and exit code agree."""
    try:
        outcome = parse_result(json.loads(path.read_text(encoding="utf-8")), test)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CouldNotGrade(f"{test}: its result file is unusable ({error!r})") from error
    if outcome.passed != (exit_code == 0):
        raise CouldNotGrade(f"{test}: exit code {exit_code} contradicts its result file")
    return outcome


def _name(violation: str) -> str:
    """Of a ViolationSentence, "NAME violated at 0.5 s: WHAT (RULE)", or of NAME alone."""
    return violation.partition(" violated at ")[0]


def _part(violation: str) -> str:
    """The id of the part that RULE names, if it does."""
    found = _PART.search(violation)
    return found[1] if found else ""


def _rule(violation: str) -> str:
    """'NAME', RULE."""
    found = _RULE.search(violation)
    return f"'{_name(violation)}', {found[1]}" if found else ""


def parse_result(document: dict[str, Any], test: str) -> Outcome:
    """Reads GoogleTest's JSON; CouldNotGrade unless exactly this test ran to its end."""
    ran = [
        (f"{suite['name']}.{case['name']}", case)
        for suite in document["testsuites"]
        for case in suite["testsuite"]
        if case["status"] == "RUN"
    ]
    if [name for name, _ in ran] != [test]:
        raise CouldNotGrade(f"{test}: the binary ran {[name for name, _ in ran]} instead")
    case = ran[0][1]
    if case.get("result", "COMPLETED") != "COMPLETED":
        raise CouldNotGrade(f"{test}: was not run to its end ({case['result']})")
    failures = assertions.in_sentences(
        [printable.text(str(failure["failure"])) for failure in case.get("failures", [])]
    )
    return Outcome(
        failures,
        str(case.get("trace_hash", "")),
        str(case.get("seed", "")),
        operations=int(case.get("operations", 0)),
        violated=_name(str(case.get("violated", ""))),
        violated_part=_part(str(case.get("violated", ""))),
        rule=_rule(str(case.get("violated", ""))) or _rule(str(case.get("broken", ""))),
        told=printable.text(str(case.get("told", ""))),
        unbuilt=printable.text(str(case.get("unbuilt", ""))),
        shrinks="shrinks" in case,
        explored=str(case.get("explored", "")),
        twins=str(case.get("twins", "")),
        situations=tuple(json.loads(case.get("situations", "{}")).items()),
    )
