"""The reference's pages: links, escapes, headings."""

from pathlib import Path

import pytest

from failslow.errors import CannotDo
from failslow.site import reference
from failslow.site.reference import Links

BOX = """// Box: keeps a Thing. See Crate, and document 002, section 3.
//
//   Box box;
//   box.Add(1);
#pragma once
namespace depfast {

// Holds *one* `Thing`, a_b and <c>.
class Box {
 public:
  // Puts one in. Thing goes first.
  // Requires: not full.
  void Add(const Thing& thing);
  int last_one() const;
};

}  // namespace depfast
"""

THING = """// Thing: what a Box keeps.
#pragma once
namespace depfast {

// A number.
using Thing = int;

}  // namespace depfast
"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "box.h").write_text(BOX)
    (headers / "thing.h").write_text(THING)
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "gone.md").write_text("of a header that is no more")
    reference.generate(headers, pages)
    return pages


def test_one_page_for_each_header_and_an_index(pages: Path) -> None:
    assert sorted(page.name for page in pages.iterdir()) == ["box.md", "index.md", "thing.md"]
    index = (pages / "index.md").read_text()
    assert "[thing.h](thing.md)\n:   What a Box keeps. [`Thing`](thing.md#Thing)" in index


def test_names_become_links_in_words_and_code(pages: Path) -> None:
    text = (pages / "box.md").read_text()
    assert '<a href="thing.html#Thing">Thing</a>' in text
    assert "[`Thing`](thing.md#Thing)" in text
    assert "keeps a [Thing](thing.md#Thing)." in text
    assert "[document 002](../sources.md#document-002), section 3" in text


def test_a_word_that_begins_a_sentence_is_no_link(pages: Path) -> None:
    assert "Puts one in. Thing goes first." in (pages / "box.md").read_text()


def test_nothing_is_taken_for_markdown(pages: Path) -> None:
    text = (pages / "box.md").read_text()
    assert r"Holds \*one\* [`Thing`](thing.md#Thing), a\_b and &lt;c&gt;." in text
    assert r"### last\_one" not in text, "it belongs to Add's paragraph"
    assert r"### Add, last\_one {#Box.Add}" in text


def test_preconditions_and_examples_stand_out(pages: Path) -> None:
    text = (pages / "box.md").read_text()
    assert "**Requires:** not full." in text
    assert '<span class="n">box</span><span class="p">.</span>' in text


def test_an_unchanged_page_is_not_written_again(tmp_path: Path, pages: Path) -> None:
    before = (pages / "box.md").stat().st_mtime_ns
    reference.generate(tmp_path / "headers", pages)
    assert (pages / "box.md").stat().st_mtime_ns == before


def test_no_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="no public header"):
        reference.generate(tmp_path, tmp_path)


def test_a_list_stays_a_list() -> None:
    assert reference.prose("One of\n- a\n  b\n- c", Links({})) == "One of\n\n- a b\n\n- c"
