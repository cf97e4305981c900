"""The handbook's page on adding a lab: its reading list is short, and its files exist."""

import re

from failslow.base.kit import this_kit

LINES_MAX = 2_500
ROW = re.compile(r"^\| `([^`]+)` \|", re.M)


def test_a_maintainer_who_adds_a_lab_reads_few_lines() -> None:
    root = this_kit().root
    page = this_kit().site / "docs" / "instructors" / "extending.md"
    names = ROW.findall(page.read_text(encoding="utf-8"))
    assert len(names) > 10
    assert sum(len((root / name).read_text().splitlines()) for name in names) <= LINES_MAX
