"""The pages of decisions: living pages by topic, each of one screen."""

from pathlib import Path

import pytest

from failslow.base.kit import this_kit
from failslow.extras.check.reading import WORDS_WISHED, sentences

DECISIONS = this_kit().site / "docs" / "maintainers" / "decisions"
TOPICS = sorted(page for page in DECISIONS.glob("*.md") if page.name != "index.md")
PARTS = ("**Now", "**Why**", "**Rejected**", "**Reconsider when**")
WORDS_MAX = 450


def test_there_are_pages() -> None:
    assert TOPICS


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.stem)
def test_a_page_has_a_status_and_its_parts(topic: Path) -> None:
    text = topic.read_text(encoding="utf-8")
    title, blank, status = text.split("\n")[:3]
    assert title.startswith("# ") and blank == ""
    assert status.startswith("Status: in force since ")
    places = [text.find(part) for part in PARTS]
    assert -1 not in places and places == sorted(places)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.stem)
def test_a_page_is_one_screen(topic: Path) -> None:
    heading, status, *read = sentences(topic.read_text(encoding="utf-8"))
    assert sum(each.words for each in (heading, status, *read)) <= WORDS_MAX
    assert [each.shown() for each in read if each.words > WORDS_WISHED] == []
