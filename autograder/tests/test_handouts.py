"""The handouts: what they say of a lab agrees with itself."""

import re
from pathlib import Path

import pytest

from demands import some
from failslow.base.kit import Kit
from failslow.lab.labs import Lab, load_labs
from failslow.lab.reference import whole_files

KIT = Kit(Path(__file__).resolve().parents[2])
LABS = load_labs(KIT)
PLAN = re.compile(r"Plan\s+(\d+)\s+to\s+(\d+)\s+hours")
READING = re.compile(r"Add (\d+) to (\d+) hours for reading")
OUR_LINES = re.compile(r"^\|.* \| (\d+) \| [^|]*hours \|$", re.MULTILINE)
OUR_FILE = re.compile(r"[Oo]ur\s+`(\w+)\.(\{h,cc\}|cc)`(?:\s+ha(?:s|ve))?\s+(\d+)")
OUR_SOLUTION = re.compile(r"Our\s+solution\s+has\s+(\d+)\s+lines")
COMMENT = re.compile(r"//.*")
PART = re.compile(r"\| (\d+)(?: to (\d+))? hours?(?:, [^|]+)? \|$", re.MULTILINE)


@pytest.mark.parametrize("lab", LABS.by_id.values(), ids=list(LABS.by_id))
def test_the_hours_of_the_parts_are_those_of_the_lab(lab: Lab) -> None:
    text = handout_of(lab)
    plan = PLAN.search(text)
    assert plan is not None
    parts = PART.findall(text) + READING.findall(text)
    least = sum(int(few) for few, _ in parts)
    most = sum(int(many or few) for few, many in parts)
    assert (least, most) == (int(plan[1]), int(plan[2]))


def code_lines(text: bytes) -> int:
    """Without comments, blank lines and includes."""
    lines = (COMMENT.sub("", line).strip() for line in text.decode().splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def our_lines(lab: Lab) -> dict[str, int]:
    """Code lines by file. A file that changes an earlier lab's counts the lines that it adds."""
    directory = KIT.reference / lab.directory
    files = whole_files(directory) | added_lines(directory)
    return {name: code_lines(files[name]) for name in lab.files}


def added_lines(directory: Path) -> dict[str, bytes]:
    added: dict[str, bytes] = {}
    for patch in directory.glob("*.patch"):
        for change in re.split(r"^--- ", patch.read_text(), flags=re.MULTILINE)[1:]:
            _, of, *lines = change.splitlines()
            name = of.rpartition("/")[2]
            added[name] = "\n".join(each[1:] for each in lines if each[:1] == "+").encode()
    return added


def handout_of(lab: Lab) -> str:
    return (KIT.root / lab.handout).read_text(encoding="utf-8")


@pytest.mark.parametrize("lab", LABS.by_id.values(), ids=list(LABS.by_id))
def test_the_lines_that_a_handout_states_are_those_of_the_reference(lab: Lab) -> None:
    text, ours = handout_of(lab), our_lines(lab)
    stated = [
        (int(count), sum(ours[f"{name}.{end}"] for end in ends.strip("{}").split(",")))
        for name, ends, count in OUR_FILE.findall(text)
    ]
    if found := OUR_SOLUTION.search(text):
        stated.append((int(found[1]), sum(ours.values())))
    if "| our lines |" in text:
        stated.append((sum(map(int, OUR_LINES.findall(text))), sum(ours.values())))
    for said, counted in some(stated):
        assert said == pytest.approx(counted, rel=0.1)


def test_lines_without_code_do_not_count() -> None:
    assert code_lines(b"#include <map>\n\n// Why.\nint x;  // here\n") == 1


def test_lab_2_and_its_header_are_short_enough_for_a_slide() -> None:
    lab = LABS.get("lab2")
    files = whole_files(KIT.reference / lab.directory)
    lines = [
        COMMENT.sub("", line).strip()
        for name in lab.files
        for line in files[name].decode().splitlines()
    ]
    assert sum(map(bool, lines)) <= 650
