"""The parts of a page that one kind of reader gets: a student sees nothing for instructors, nor of
labs that the course has not given yet."""

import re
from collections.abc import Collection

NOT_FOR_STUDENTS = ("Instructors", "Maintainers")
"""Sections; their pages are in directories of the same names."""

NOT_HERE = re.compile(r"<!-- instructors: begin -->\n(.*?)<!-- instructors: end -->\n", re.S)
"""A part of a page that is not for students."""
LINK_THERE = re.compile(r"\[([^]]+)\]\((?:\.\./)*(?:instructors|maintainers)/[^)]*\)")

CLUSTERS, FAULTS = "clusters", "faults"
PART = re.compile(rf"<!-- (lab\d+|{CLUSTERS}|{FAULTS}): begin -->\n(.*?)<!-- \1: end -->\n", re.S)
"""A part of a page that is about one lab, about clusters of processes, or about their faults."""
LINK_TO_A_LAB = re.compile(r"\[([^]]+)\]\((?:\.\./)*(?:labs/)?(lab\d+)-[^)]*\)")
SECTION = re.compile(r"^## Lab (\d+)\n.*?(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^ *\|.*\n", re.M)
NUMBER = re.compile(r"\d+")
LABS = re.compile(r"\blabs?[ /]*(?:lab)?(\d+(?:(?:, | and | to )\d+)*)\b", re.I)
"""Words such as `Lab 4`, `lab4`, `labs 2 and 7`, `labs/lab4-finalize`."""


def to_all(markdown: str) -> str:
    """The whole page, without the marks."""
    return _with_parts(NOT_HERE.sub(r"\1", markdown), ())


def to_students(markdown: str, left_out: Collection[str] = ()) -> str:
    """Without what is for others, and without parts, sections and rows of tables about topics
    `left_out` alone: ids of labs, CLUSTERS, and FAULTS. Of a link to a page that is not there, the
    words stay."""

    def section(found: re.Match[str]) -> str:
        return "" if f"lab{found[1]}" in left_out else found[0]

    def row(found: re.Match[str]) -> str:
        named = {
            f"lab{number}" for each in LABS.findall(found[0]) for number in NUMBER.findall(each)
        }
        return "" if named and named <= {*left_out} else found[0]

    def link(found: re.Match[str]) -> str:
        return found[1] if found[2] in left_out else found[0]

    markdown = LINK_THERE.sub(r"\1", NOT_HERE.sub("", markdown))
    markdown = SECTION.sub(section, _with_parts(markdown, left_out))
    return LINK_TO_A_LAB.sub(link, ROW.sub(row, markdown))


def _with_parts(markdown: str, left_out: Collection[str]) -> str:
    """Without the parts about topics `left_out`. A part may be in another one."""
    while found := PART.search(markdown):
        kept = "" if found[1] in left_out else found[2]
        markdown = markdown[: found.start()] + kept + markdown[found.end() :]
    return markdown
