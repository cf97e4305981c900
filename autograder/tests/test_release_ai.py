"""`kit release students --ai`: one rule for AI helpers, in the files that they read."""

from pathlib import Path

from demands import some
from failslow.base.kit import Kit
from failslow.extras.release import ai_rules, students
from running import Expect
from test_release import checkout, commits_of

__all__ = ["checkout"]


def test_each_rule_is_in_one_file_that_the_others_name(checkout: Kit, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for rule in some([*ai_rules.TEXTS, None]):
        options = students.Options(with_handbook=False, ai=rule)
        students.write(checkout, out, options, lambda _: None)
        for name in some(["AGENTS.md", *ai_rules.POINTERS]):
            assert (out / name).exists() == (rule is not None)
        if rule:
            assert (out / "AGENTS.md").read_text().endswith(ai_rules.TEXTS[rule])
            assert all("AGENTS.md" in (out / name).read_text() for name in some(ai_rules.POINTERS))
    assert len(commits_of(out)) == len(ai_rules.TEXTS) + 1, "another rule is a commit on top"


def test_a_tutor_writes_no_code_and_names_no_lab() -> None:
    text = ai_rules.TEXTS["tutor"]
    assert "Write, complete or edit files in `labs/*/src/`" in text
    assert all(f"./kit {command} LAB" in text for command in ("test", "replay"))
    assert "lab1" not in text, "a release may lack it"


def test_an_unknown_rule_is_one_line(kit: Kit, expect: Expect, tmp_path: Path) -> None:
    said = expect(2, "release", "students", tmp_path / "out", "--ai", "some")
    assert "invalid choice: 'some'" in said.reason
