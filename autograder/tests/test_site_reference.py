"""Public headers as the reference reads them, and the pages made of them."""

from pathlib import Path

import pytest

from failslow.errors import CannotDo
from failslow.site import reference
from failslow.site.headers import Header, read_header

BOX = """// Box: keeps a Thing. See Crate, and document 002, section 3.
//
//   Box<int> box;
//   box.Add(1);
#pragma once

#include <string>

namespace depfast {

class Elsewhere;

// How it ended.
enum class End : int {
  kWell = 0,  // as hoped

  kIll = 1,
};

// Both are numbers.
using Weight = int;
inline constexpr Weight kHeavy = Weight::max();

namespace box_internal {
void Hidden();
}  // namespace box_internal

// Holds *one* `Thing`, a_b and <c>. One of
// - a
//   b
// - c
template <typename T>
class Box : public Base<T> {
  struct Private {};

 public:
  using Base<T>::Base;

  explicit Box(T thing) : thing_(std::move(thing)) {}
  virtual ~Box();

  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  // Puts one in. Thing goes first.
  // Requires: not full.
  void Add(const Thing& thing) {
    if (full()) {
      throw 1;
    }
  }
  bool full() const { return false; }
  // Puts some in.
  void Add(int n);
  // On its own.
  virtual int last_one(int scale,
                       int unit) const = 0;

  // --- for people ---

  std::string Describe() const;  // in words

 protected:
  // Told by the owner.
  void Tell() {}

 private:
  friend class Elsewhere;
  // Nobody's business.
  T thing_;
};

template <typename T>
void Box<T>::Late() {
  Tell();
}

// Plain data.
struct Point {
  int x = 0;  // to the right

  int Sum() const { return x; }
  MSGPACK_DEFINE(x,
                 y)
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
def headers(tmp_path: Path) -> Path:
    (tmp_path / "host").mkdir()
    (tmp_path / "box.h").write_text(BOX)
    (tmp_path / "host" / "thing.h").write_text(THING)
    return tmp_path


@pytest.fixture
def header(headers: Path) -> Header:
    return read_header(headers, headers / "box.h")


@pytest.fixture
def page(headers: Path) -> str:
    return reference.pages(headers)["box.md"]


def test_a_comment_describes_the_public_declarations_that_follow(header: Header) -> None:
    assert header.essay.splitlines()[0] == BOX.splitlines()[0].removeprefix("// ")
    found = [(entry.owner, entry.names, entry.comment.split("\n")[0]) for entry in header.entries]
    assert found == [
        ("", ("End",), "How it ended."),
        ("", ("Weight", "kHeavy"), "Both are numbers."),
        ("", ("Box",), "Holds *one* `Thing`, a_b and <c>. One of"),
        ("Box", ("Base",), ""),
        ("Box", ("Box",), ""),
        ("Box", (), ""),
        ("Box", ("Add", "full"), "Puts one in. Thing goes first."),
        ("Box", ("Add",), "Puts some in."),
        ("Box", ("last_one",), "On its own."),
        ("Box", (), "For people"),
        ("Box", ("Describe",), ""),
        ("Box", (), "For derived classes"),
        ("Box", ("Tell",), "Told by the owner."),
        ("", ("Point",), "Plain data."),
    ]


def test_declarations_are_as_written_without_bodies(header: Header) -> None:
    code = {entry.names: entry.code for entry in header.entries}
    assert code[("End",)].splitlines()[1:4] == ["  kWell = 0,  // as hoped", "", "  kIll = 1,"]
    assert code[("Box",)] == "explicit Box(T thing);"
    assert code[("Add", "full")] == "void Add(const Thing& thing);\nbool full() const;"
    assert code[("last_one",)] == (
        "virtual int last_one(int scale,\n                     int unit) const = 0;"
    )
    assert code[("Describe",)] == "std::string Describe() const;  // in words"
    assert code[("Point",)].splitlines()[-2:] == ["  int Sum() const;", "};"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#pragma once\n", "does not begin with a comment"),
        ("// Fine.\nnamespace depfast {\nclass {{ broken\n}\n", r"box.h:\d+: cannot understand"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused(headers: Path, text: str, says: str) -> None:
    (headers / "box.h").write_text(text)
    with pytest.raises(CannotDo, match=says):
        reference.pages(headers)


def test_no_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="no public header"):
        reference.pages(tmp_path)


def test_one_page_for_each_header_and_an_index(headers: Path) -> None:
    pages = reference.pages(headers)
    assert list(pages) == ["index.md", "box.md", "host/thing.md"]
    wanted = "[host/thing.h](host/thing.md)\n:   What a Box keeps. [`Thing`](host/thing.md#Thing)"
    assert wanted in pages["index.md"]
    assert "keeps a [Thing](host/thing.md#Thing)." in pages["box.md"]
    assert "What a [Box](../box.md#Box) keeps" not in pages["index.md"]
    assert "what a [Box](../box.md#Box) keeps" in pages["host/thing.md"]


def test_names_become_links_in_words_and_code(page: str) -> None:
    assert '<a href="host/thing.html#Thing">Thing</a>' in page
    assert "[document 002](../sources.md#document-002), section 3" in page
    assert "Puts one in. Thing goes first." in page, "it may be a word"


def test_nothing_else_is_taken_for_markdown(page: str) -> None:
    assert r"Holds \*one\* [`Thing`](host/thing.md#Thing), a\_b and &lt;c&gt;. One of" in page
    assert "\n\n- a b\n\n- c\n" in page
    assert "### Add, full {#Box.Add}" in page
    assert "### Add {#Box.Add-2}" in page
    assert r"### last\_one {#Box.last_one}" in page
    assert "### For people {#Box.For-people}" in page
    assert "#### Describe {#Box.Describe}" in page
    assert "## Point {#Point}" in page


def test_preconditions_and_examples_stand_out(page: str) -> None:
    assert "**Requires:** not full." in page
    assert '<span class="n">box</span><span class="p">.</span>' in page
