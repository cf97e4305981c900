"""The lengths of sentences and handouts: counted as a reader meets them."""

from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras.check import reading


def words(markdown: str) -> list[int]:
    return [each.words for each in reading.sentences(markdown)]


def long(count: int) -> str:
    return " ".join(["word"] * count) + "."


@pytest.mark.parametrize(
    ("markdown", "counted"),
    [
        ("# A title\nOne two.\nThree four five.\n", [2, 2, 3]),
        ("One two\nthree. *Four* five!\n", [3, 2]),
        ("- one two\n- three\n  four\n1. five\n", [2, 2, 1]),
        ("A node:\n\nterm\n:   two words\n", [2, 1, 2]),
        ('!!! note "A title"\n    One two.\n', [4]),
        ("Run `./kit test lab1 --seed 3` now.\n", [3]),
        ("See [the page](a.md#b) and [c][d].\n\n[d]: https://x.example\n", [5]),
        ("Before.\n\n```\nnot one\n```\n\nAfter it.\n", [1, 2]),
        ("Before.\n~~~~\n```\nin code\n~~~~\nAfter it.\n", [1, 2]),
        ('--8<-- "x.md"\n{{ measured.x }}\n<!-- not\nread -->\nOne.\n', [1]),
        ("| a b | c |\n| --- | :-- |\n| d `|` e | f |\n", [2, 1, 2, 1]),
        ("| one two, three, four five |\n", [2, 1, 2]),
        ("| one two, three and four and five and six and seven |\n", [11]),
        ("It takes 3.5 ms, e.g. Raft. So.\n", [6, 1]),
        ('He says "Stop." Then (he) goes.\n', [3, 3]),
        ("The **rule.** `x` is one.\n", [2, 3]),
        ("5 % of 1,000\n", [3]),
    ],
)
def test_counts_words(markdown: str, counted: list[int]) -> None:
    assert words(markdown) == counted


def test_a_sentence_is_told_as_it_is_read() -> None:
    (told,) = reading.sentences("A *kit* of [labs](x.md) and `a  b`.\n")
    assert told.text == "A kit of labs and a\N{NO-BREAK SPACE}b."


def test_a_sentence_knows_its_line() -> None:
    assert [each.line for each in reading.sentences("# A\n\n```\nx\n```\n\nB\nc.\n")] == [1, 7]


@pytest.fixture
def page(kit: Kit) -> Path:
    for directory in (kit.root / "handouts", kit.site / "docs" / "instructors"):
        directory.mkdir(parents=True, exist_ok=True)
    return kit.site / "docs" / "page.md"


def test_a_sentence_above_the_limit_is_a_problem(kit: Kit, page: Path) -> None:
    page.write_text(f"{long(30)}\n\n{long(31)}\n")
    counts = reading.reading(kit)
    (problem,) = counts.problems
    assert problem.startswith("site/docs/page.md:3: 31 words: word word")
    assert problem.endswith("... (at most 30)")


def test_a_long_sentence_is_a_remark(kit: Kit, page: Path) -> None:
    page.write_text(f"{long(20)} A{long(21)}\n")
    counts = reading.reading(kit)
    assert counts.problems == []
    assert [remark.partition(": word")[0] for remark in counts.remarks] == [
        "site/docs/page.md:1: 21 words: Aword word word word word word word word ..."
    ]


def test_only_students_pages_are_read(kit: Kit, page: Path) -> None:
    (page.parent / "instructors" / "x.md").write_text(long(40))
    assert reading.reading(kit).problems == []


def test_a_handout_above_the_limit_is_a_problem(kit: Kit, page: Path) -> None:
    handout = kit.root / "handouts" / "lab9.md"
    handout.write_text("One two.\n" * 1_000)
    assert reading.reading(kit).problems == ["handouts/lab9.md: 2000 words (at most 1999)"]
    handout.write_text("One two.\n" * 999)
    assert reading.reading(kit).problems == []


def test_this_kits_pages_are_read() -> None:
    """No page is missed by its place."""
    names = {page.name for page in reading.pages(this_kit())}
    assert {"lab1-quorum-event.md", "index.md", "glossary.md", "replay.md"} <= names
