"""results.json in the formats of other platforms.

Written from the documents in the platforms' public repositories: PrairieLearn's
docs/externalGrading.md of 2026-08-21; Autolab's docs/lab.md and docs/features/formatted-feedback.md
of 2025-04-22; junit-10.xsd of Jenkins' xunit plugin of 2025-11-15. Students read all of these:
lines that are not visible on Gradescope are one line for each part, with their points alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from failslow.base import printable
from failslow.base.errors import CannotDo
from failslow.grade.results import SUBTOTALS
from failslow.lab.labs import VISIBLE, Lab, Labs

Content = Mapping[str, Any]

BUILD = "build"
"""The part of the only line of a submission that cannot be built."""


@dataclass(frozen=True)
class Line:
    """A graded line. `part`: LAB PART, LAB for a line without points, or BUILD."""

    part: str
    name: str
    score: float
    max_score: float
    passed: bool
    output: str


def lines(content: Content, labs: Labs) -> list[Line]:
    """All lines with points, and those that failed. Sub-totals are none of them."""
    found: list[Line] = []
    unseen: dict[str, list[Line]] = {}
    for test in content["tests"]:
        counts = test["number"].split(".")[0] != SUBTOTALS
        if counts and (test["max_score"] or test["status"] == "failed"):
            line = _line(test, labs)
            shown = test.get("visibility", VISIBLE) == VISIBLE
            (found if shown else unseen.setdefault(line.part, [])).append(line)
    return found + [_sum(part, members) for part, members in unseen.items()]


def _line(test: Mapping[str, Any], labs: Labs) -> Line:
    return Line(
        part=_part(test, labs),
        name=test["name"],
        score=test["score"],
        max_score=test["max_score"],
        passed=test["status"] == "passed" and test["score"] == test["max_score"],
        output=printable.text(test.get("output", "")),
    )


def _sum(part: str, members: Sequence[Line]) -> Line:
    return Line(
        part=part,
        name=f"{part}: {len(members)} lines that are not shown",
        score=round(sum(line.score for line in members), 2),
        max_score=sum(line.max_score for line in members),
        passed=all(line.passed for line in members),
        output="",
    )


def _part(test: Mapping[str, Any], labs: Labs) -> str:
    """By name and number, as results.py writes them: a long result has no tags."""
    lab = labs.by_id.get(test["name"].partition(":")[0])
    if lab is None:
        return BUILD
    place = int(test["number"].split(".")[1])
    if place > len(lab.parts):
        raise CannotDo(f"the result is of another kit: {lab.id} has {len(lab.parts)} parts here")
    return f"{lab.id} {lab.parts[place - 1].id}" if place else lab.id


def problems(labs: Sequence[Lab]) -> dict[str, float]:
    """Autolab's problems: one for each part of each lab, and its points."""
    return {f"{lab.id} {part.id}": float(part.points) for lab in labs for part in lab.parts}


def prairielearn(content: Content, labs: Labs) -> str:
    """A submission that cannot be built is not gradable: it costs no attempt."""
    found = lines(content, labs)
    rejected = content["extra_data"].get("rejected")
    result: dict[str, Any] = {"gradable": rejected is None}
    if rejected is None:
        result["score"] = content["score"] / content["extra_data"]["max_score"]
    else:
        result["format_errors"] = [line.output for line in found]
    result["output"] = content["output"]
    result["tests"] = [
        {
            "name": line.name,
            "points": line.score,
            "max_points": line.max_score,
            "output": line.output,
        }
        for line in found
    ]
    return json.dumps(result, indent=1) + "\n"


def autolab(content: Content, labs: Labs, graded: Sequence[Lab] = ()) -> str:
    """The last two lines of a grader's output: formatted feedback, and the score of each problem.
    Each problem of the labs in `graded` has one, also if the submission cannot be built."""
    scores = dict.fromkeys(problems(graded), 0.0)
    stages: dict[str, dict[str, object]] = {}
    for line in lines(content, labs):
        if line.max_score:
            scores[line.part] = round(scores.get(line.part, 0.0) + line.score, 2)
        hint = {} if line.passed or not line.output else {"hint": line.output}
        stages.setdefault(line.part, {})[line.name] = {"passed": line.passed, **hint}
    feedback = {"_presentation": "semantic", "stages": [*stages], **stages}
    return f"{json.dumps(feedback)}\n{json.dumps({'scores': scores})}\n"


def junit(content: Content, labs: Labs) -> str:
    """A suite for each part. A line's points are in its part's properties, by its number in it."""
    root = ElementTree.Element("testsuites", name="failslow")
    found = lines(content, labs)
    for part in dict.fromkeys(line.part for line in found):
        members = [line for line in found if line.part == part]
        failed = [line for line in members if not line.passed]
        suite = ElementTree.SubElement(root, "testsuite", name=part, errors="0")
        suite.set("tests", str(len(members)))
        suite.set("failures", str(len(failed)))
        listed = ElementTree.SubElement(suite, "properties")
        for at, line in enumerate(members, 1):
            value = f"{line.score!r} of {line.max_score!r}"
            ElementTree.SubElement(listed, "property", name=f"points {at}", value=value)
            case = ElementTree.SubElement(suite, "testcase", name=line.name, classname=part)
            if not line.passed:
                failure = ElementTree.SubElement(case, "failure", message=f"{value} points")
                failure.text = line.output
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
