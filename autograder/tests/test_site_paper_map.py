"""The page "From the papers to the code" names files that exist."""

import re

from failslow.base.kit import this_kit

ROW = re.compile(r"^\| 00\d.*\| (?P<files>`[^|]+`) \|$", re.M)


def test_every_file_of_the_map_exists() -> None:
    kit = this_kit()
    text = (kit.site / "docs/paper-to-code.md").read_text(encoding="utf-8")
    rows = [row["files"] for row in ROW.finditer(text)]
    assert len(rows) == text.count("\n| 00")
    named = [file for row in rows for file in re.findall(r"`([^`]+)`", row)]
    assert [file for file in named if not (kit.root / file).is_file()] == []
