"""The handbook's reference pages, made from headers."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.site import reference

BOX = """// Box: holds *one* thing.
// More words.
#pragma once

// A box.
class Box {
 public:
  int size() const { return size_; }

 private:
  int size_;
};
"""


@pytest.fixture
def headers(tmp_path: Path) -> Path:
    (tmp_path / "host").mkdir()
    (tmp_path / "box.h").write_text(BOX)
    (tmp_path / "host" / "lid.h").write_text("// Closes a Box.\n#pragma once\n")
    return tmp_path


def test_one_page_for_each_header_and_an_index(headers: Path) -> None:
    pages = reference.pages(headers)
    assert [*pages] == ["index.md", "box.md", "host/lid.md"]
    assert "[box.h](box.md)\n:   Holds \\*one\\* thing.\n" in pages["index.md"]
    assert "[host/lid.h](host/lid.md)\n:   Closes a Box.\n" in pages["index.md"]


def test_a_page_shows_the_header_without_private_members(headers: Path) -> None:
    begin = BOX.partition("\n private:")[0]
    assert (
        reference.pages(headers)["box.md"]
        == f"{reference.WIDE}# box.h\n\n```cpp\n{begin}}};\n```\n"
    )


def test_a_header_without_a_purpose_is_refused(headers: Path) -> None:
    (headers / "bad.h").write_text("#pragma once\n")
    with pytest.raises(CannotDo, match=r"bad.h does not begin with a comment"):
        reference.pages(headers)


def test_no_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="no public header"):
        reference.pages(tmp_path)
