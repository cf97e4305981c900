"""The length of the sentences in students' pages, and of a handout.

A sentence above 20 words is a remark, above 30 a problem. A handout has under 2,000 words. Words
are counted as a reader meets them: a piece of code in a sentence is one word, a link is its text.
Code blocks, diagrams and the markup of tables are no words; the cells of a table are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from failslow.base.kit import Kit
from failslow.extras.check.step import Counts
from failslow.extras.site.readers import NOT_FOR_STUDENTS

WORDS_WISHED = 20
WORDS_MAX = 30
HANDOUT_WORDS_MAX = 1_999
SHOWN_WORDS = 8
"""Words of a long sentence that are shown: enough to search for it."""

NAME_WORDS_MAX = 6
"""Words of the longest name in a cell that lists names, and so holds no sentence."""

FENCE = re.compile(r"^\s*(```|~~~)")
SNIPPET = re.compile(r"^\s*--8<--")
FILLED_IN = re.compile(r"\{\{.*?\}\}")
TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+|^:\s+|^(?:!!!|\?\?\?\+?)\s+\w+\s*")
HEADING = re.compile(r"^#+\s+")
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.S)
AUTOLINK = re.compile(r"<(\w+://[^>]*)>")
LINK = re.compile(r"!?\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])")
TARGET = re.compile(r"^\s*\[[^]]+\]:\s+\S+")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_]*[A-Z0-9`\x00])")
NOT_AN_END = re.compile(r"\b(?:e\.g|i\.e|vs|et al|cf)\.$")
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Sentence:
    """`line`: where its block begins, from 1."""

    line: int
    text: str

    @property
    def words(self) -> int:
        return sum(1 for each in self.text.split(" ") if WORD.search(each))

    def shown(self) -> str:
        words = self.text.split(" ")
        return " ".join(words[:SHOWN_WORDS]) + (" ..." if len(words) > SHOWN_WORDS else "")


def pages(kit: Kit) -> list[Path]:
    """Handouts and the handbook's pages for students, in order."""
    docs = kit.site / "docs"
    left_out = {docs / section.lower() for section in NOT_FOR_STUDENTS}
    of_students = (page for page in docs.rglob("*.md") if not left_out & set(page.parents))
    return sorted(handouts(kit)) + sorted(of_students)


def handouts(kit: Kit) -> list[Path]:
    return sorted(kit.handouts.glob("*.md"))


def reading(kit: Kit) -> Counts:
    """Every page for students is short of the limits. Each long sentence has a line of its own."""
    counts = Counts()
    for page in pages(kit):
        name = page.relative_to(kit.root).as_posix()
        for sentence in sentences(page.read_text(encoding="utf-8")):
            told = f"{name}:{sentence.line}: {sentence.words} words: {sentence.shown()}"
            counts.expect(sentence.words <= WORDS_MAX, f"{told} (at most {WORDS_MAX})")
            if WORDS_WISHED < sentence.words <= WORDS_MAX:
                counts.remarks.append(told)
    for handout in handouts(kit):
        words = sum(each.words for each in sentences(handout.read_text(encoding="utf-8")))
        told = f"handouts/{handout.name}: {words} words (at most {HANDOUT_WORDS_MAX})"
        counts.expect(words <= HANDOUT_WORDS_MAX, told)
    return counts


def sentences(markdown: str) -> Iterator[Sentence]:
    """All sentences, headings and cells of a page, in order."""
    for line, block in _blocks(markdown):
        yield from (Sentence(line, text) for text in _split(block))


def _blocks(markdown: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, items, headings and cells, each with the number of its first line."""
    first, gathered = 0, ""
    for number, line in enumerate(_without_code_blocks(markdown), start=1):
        is_cells = line.lstrip().startswith("|")
        starts_anew = is_cells or HEADING.match(line) or ITEM.match(line)
        if gathered and (starts_anew or not line.strip()):
            yield first, gathered
            gathered = ""
        if is_cells:
            yield from ((number, each) for cell in _cells(line) for each in _named(cell))
        elif HEADING.match(line):
            yield number, HEADING.sub("", line)
        elif line.strip():
            first = first if gathered else number
            gathered = f"{gathered} {ITEM.sub('', line).strip()}".strip()
    if gathered:
        yield first, gathered


def _cells(row: str) -> list[str]:
    if TABLE_RULE.match(row):
        return []
    in_code = CODE.sub(lambda code: code.group().replace("|", "\x01"), row)
    return in_code.strip().strip("|").split("|")


def _named(cell: str) -> list[str]:
    """The names that a cell lists, or else the cell; empty ones are left out."""
    names = cell.split(",")
    listed = all(len(name.split()) <= NAME_WORDS_MAX for name in names)
    return [each for each in (names if listed else [cell]) if each.strip()]


def _without_code_blocks(markdown: str) -> Iterator[str]:
    """All lines, in order; those of code, and targets of links, are empty."""
    fence = ""
    kept = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), markdown)
    for line in kept.splitlines():
        found = FENCE.match(line)
        if found and not fence:
            fence = found.group(1)
            yield ""
        elif fence:
            fence = "" if found and found.group(1) == fence else fence
            yield ""
        elif SNIPPET.match(line) or TARGET.match(line):
            yield ""
        else:
            yield FILLED_IN.sub("", line)


def _split(block: str) -> Iterator[str]:
    """The sentences of a block, as read: without markup, with code as written."""
    codes: list[str] = []

    def put_aside(code: re.Match[str]) -> str:
        codes.append(re.sub(r"\s+", "\N{NO-BREAK SPACE}", code.group().strip("`")))
        return f"\x00{len(codes) - 1}\x00"

    plain = TAG.sub(" ", AUTOLINK.sub(r"\1", LINK.sub(r"\1", CODE.sub(put_aside, block))))
    begun = ""
    for piece in SENTENCE_END.split(plain):
        begun = f"{begun} {piece}".strip()
        if NOT_AN_END.search(begun):
            continue
        yield _with_codes(begun, codes)
        begun = ""
    if begun:
        yield _with_codes(begun, codes)


def _with_codes(text: str, codes: list[str]) -> str:
    """Words are parted by one space each; a code has none."""
    plain = " ".join(text.replace("*", "").split())
    whole = re.sub(r"\x00(\d+)\x00", lambda place: codes[int(place.group(1))], plain)
    return whole.replace("\x01", "|")
