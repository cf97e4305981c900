"""Reads JUnit XML, which both ctest and pytest write."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.check.step import Counts

DETAIL_LINES = 30


def read(path: Path, excuses: Sequence[str] = ()) -> Counts:
    """Counts test cases. A skipped test is a failure: a test that never runs proves nothing.

    A test skipped for one of `excuses` is counted in a remark instead.

    CannotDo when there is no such file or no test in it.
    """
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        raise CannotDo(f"no usable test report: {error}") from error
    if not cases:
        raise CannotDo("the test report holds no test")
    counts = Counts()
    excused = Counter[str]()
    for case in cases:
        if (reason := _reason(case)) in excuses:
            excused[reason] += 1
        else:
            counts.expect(_passed(case), _describe(case))
    counts.remarks += [f"{number} tests were not run: {why}" for why, number in excused.items()]
    return counts


def _reason(case: ElementTree.Element) -> str:
    """The reason for a skipped test; empty if the test ran or gives no reason."""
    skipped = case.find("skipped")
    return "" if skipped is None else skipped.get("message", "")


def _passed(case: ElementTree.Element) -> bool:
    bad = any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))
    return not bad and case.get("status", "run") == "run"


def _describe(case: ElementTree.Element) -> str:
    name = case.get("name", "?")
    if case.find("skipped") is not None:
        return f"{name} was not run"
    texts = [case.findtext(kind) or "" for kind in ("failure", "error", "system-out")]
    tail = "\n".join("\n".join(texts).strip().splitlines()[-DETAIL_LINES:])
    return f"{name} failed\n{tail}".rstrip()
