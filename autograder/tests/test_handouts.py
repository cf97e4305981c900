"""The handouts: what they say of a lab agrees with itself."""

import re
from pathlib import Path

import pytest

from failslow.kit import Kit

HANDOUTS = Kit(Path(__file__).resolve().parents[2]).root / "handouts"
PLAN = re.compile(r"Plan\s+(\d+)\s+to\s+(\d+)\s+hours")
READING = re.compile(r"Add (\d+) to (\d+) hours for reading")
PART = re.compile(r"\| (\d+)(?: to (\d+))? hours?(?:, [^|]+)? \|$", re.MULTILINE)


@pytest.mark.parametrize(
    "handout", ["lab1-quorum-event", "lab2-raft", "lab3-kv", "lab4-finalize", "lab5-copilot"]
)
def test_the_hours_of_the_parts_are_those_of_the_lab(handout: str) -> None:
    text = (HANDOUTS / f"{handout}.md").read_text(encoding="utf-8")
    plan = PLAN.search(text)
    assert plan is not None
    parts = PART.findall(text) + READING.findall(text)
    least = sum(int(few) for few, _ in parts)
    most = sum(int(many or few) for few, many in parts)
    assert (least, most) == (int(plan[1]), int(plan[2]))
