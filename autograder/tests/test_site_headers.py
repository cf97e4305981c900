"""Public headers as the reference reads them."""

from pathlib import Path

import pytest

from failslow.errors import CannotDo
from failslow.site.headers import FOR_DERIVED, Class, Entry, Header, read_header

HEADER = """// Box: keeps one thing.
//
// Second paragraph.
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
inline constexpr Weight kHeavy = 100;

namespace box_internal {
void Hidden();
}  // namespace box_internal

// Keeps a T.
template <typename T>
class Box : public Base<T> {
  struct Private {};

 public:
  using Base<T>::Base;

  explicit Box(T thing) : thing_(std::move(thing)) {}
  virtual ~Box();
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  // What is in it.
  // Requires: not empty.
  const T& thing() const { return thing_; }
  bool empty() const { return false; }
  // On its own.
  virtual int Weigh(int scale,
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
  int x = 0;   // to the right
  int yy = 0;  // up
};

// Adds.
constexpr int Sum(int a, int b) { return a + b; }

}  // namespace depfast
"""


@pytest.fixture
def header(tmp_path: Path) -> Header:
    path = tmp_path / "box.h"
    path.write_text(HEADER)
    return read_header(path)


def entry(header: Header, name: str) -> Entry:
    return next(item for item in header.items if isinstance(item, Entry) and name in item.names)


def test_reads_the_essay_and_what_is_public(header: Header) -> None:
    assert header.essay == "Box: keeps one thing.\n\nSecond paragraph."
    names = [item.name if isinstance(item, Class) else item.names for item in header.items]
    assert names == [("End",), ("Weight", "kHeavy"), "Box", ("Point",), ("Sum",)]


def test_a_comment_speaks_of_its_paragraph(header: Header) -> None:
    numbers = entry(header, "kHeavy")
    assert numbers.comment == "Both are numbers."
    assert numbers.code == "using Weight = int;\ninline constexpr Weight kHeavy = 100;"


def test_plain_data_is_shown_as_declared(header: Header) -> None:
    assert entry(header, "Point").code == (
        "struct Point {\n  int x = 0;   // to the right\n  int yy = 0;  // up\n};"
    )
    assert "kWell = 0,  // as hoped" in entry(header, "End").code


def test_bodies_are_left_out(header: Header) -> None:
    assert entry(header, "Sum").code == "constexpr int Sum(int a, int b);"


def test_a_class_has_its_public_members_in_sections(header: Header) -> None:
    (box,) = header.classes
    assert box.comment == "Keeps a T."
    assert box.code == "template <typename T>\nclass Box : public Base<T>"
    assert not box.copyable
    assert [section.heading for section in box.sections] == ["", "for people", FOR_DERIVED]
    members = [(entry.names, entry.comment) for entry in box.entries]
    assert members == [
        (("Base",), ""),
        (("Box",), ""),
        (("thing", "empty"), "What is in it.\nRequires: not empty."),
        (("Weigh",), "On its own."),
        (("Describe",), ""),
        (("Tell",), "Told by the owner."),
    ]


def test_members_read_as_they_are_declared(header: Header) -> None:
    (box,) = header.classes
    code = {entry.names[0]: entry.code for entry in box.entries}
    assert code["Box"] == "explicit Box(T thing);"
    assert code["thing"] == "const T& thing() const;\nbool empty() const;"
    assert code["Weigh"] == ("virtual int Weigh(int scale,\n                  int unit) const = 0;")
    assert code["Describe"] == "std::string Describe() const;  // in words"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#pragma once\n", "does not begin with a comment"),
        ("// Fine.\nnamespace depfast {\nclass {{ broken\n}\n", r"box.h:\d+: cannot understand"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "box.h"
    path.write_text(text)
    with pytest.raises(CannotDo, match=says):
        read_header(path)
