"""`kit journal`: nothing without a student's word, all of it readable, and a page of it."""

import json
import zipfile
from pathlib import Path

import pytest

from demands import some
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.commands import journal
from failslow.extras.journal import entries, page
from running import Expect

NAMES = ("quorum_event.cc", "quorum_event.h")


@pytest.fixture
def work(simulated: Kit) -> Kit:
    for name in NAMES:
        write(simulated, "// mine\n", name)
    return simulated


def write(kit: Kit, text: str, name: str = NAMES[0]) -> None:
    (kit.labs / "lab1-quorum-event" / "src").mkdir(exist_ok=True)
    (kit.labs / "lab1-quorum-event" / "src" / name).write_text(text)


def test_without_a_word_nothing_is_kept_nor_handed_in(
    work: Kit, expect: Expect, tmp_path: Path
) -> None:
    expect(0, "test", "lab1")
    assert "each `./kit test`" in expect(2, "journal").out, "no terminal: the text is all"
    expect(0, "submit", "lab1", "--out", tmp_path / "mine.zip")
    assert not entries.path_of(work).exists()
    assert entries.FILE not in zipfile.ZipFile(tmp_path / "mine.zip").namelist()


@pytest.mark.parametrize(("answer", "kept"), [("yes", True), ("", False)])
def test_a_student_is_asked_once(
    work: Kit, monkeypatch: pytest.MonkeyPatch, answer: str, kept: bool, tmp_path: Path
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
    for _ in some(range(2 if kept else 1)):
        assert journal.run(work, None, False, False, tmp_path / "page.html") == 0
    assert (len(asked), entries.is_kept(work)) == (1, kept)


def test_each_command_adds_its_line_until_the_student_ends_it(
    work: Kit, expect: Expect, tmp_path: Path
) -> None:
    out, handed_in = ("--out", tmp_path / "page.html"), tmp_path / "mine.zip"
    expect(0, "journal", "--yes", *out)
    expect(0, "test", "lab1")
    write(work, "// FAIL:Quorum.Late\n")
    expect(1, "test", "lab1", "--seeds", 2)
    expect(1, "replay", "lab1", "Quorum.Late", "--seed", 7, "--out", tmp_path)
    write(work, "SYNTAX\n")
    expect(2, "test", "lab1")
    write(work, "// mine\n")
    expect(0, "submit", "lab1", "--out", handed_in)
    assert zipfile.ZipFile(handed_in).read(entries.FILE) == entries.path_of(work).read_bytes()
    for word in (["--stop"], []):
        assert "No journal is kept now" in expect(0, "journal", *word, *out).err
    expect(0, "test", "lab1")
    found = entries.read(entries.path_of(work).read_bytes())
    assert [(e.do, e.lab, e.what, e.seed, e.result) for e in found] == [
        ("begin", "", "", "", ""),
        ("test", "lab1", "", "", "2 of 2"),
        ("test", "lab1", "", "1 to 2", "1 of 2"),
        ("replay", "lab1", "Quorum.Late", "7", "failed"),
        ("test", "lab1", "", "", "does not compile"),
        ("submit", "lab1", "", "", "2 files"),
        ("end", "", "", "", ""),
    ]
    states = [each.sources for each in found[1:-1]]
    assert states[0] == states[4] != states[1] == states[2] != states[3]
    expect(0, "journal", handed_in, *out)
    assert "3 states of the files" in (tmp_path / "page.html").read_text()


def test_a_page_quotes_what_a_student_wrote_and_leaves_out_what_is_no_line() -> None:
    good = {"at": "2026-12-01T10:30:00+00:00", "do": "test", "result": "2 of 2"}
    bad = ["{", "[]", '{"at": "noon", "do": "test"}', '{"at": "2026-12-01T10:00:00", "do": "x"}']
    text = "\n".join([*bad, json.dumps(good | {"what": "<script>"}), json.dumps(good)[:-9]])
    found = entries.read(text.encode())
    assert [each.what for each in found] == ["<script>"]
    made = page.document(found)
    assert "<script>" not in made
    assert made.count('class="full"') == 1, "all tests passed"


@pytest.mark.parametrize(
    ("name", "length", "reason"),
    [("a.cc", 0, "its student keeps none"), (entries.FILE, 2 << 20, "is larger than 1 MiB")],
)
def test_a_file_without_a_journal_is_one_line(
    work: Kit, tmp_path: Path, name: str, length: int, reason: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, " " * length)
    with pytest.raises(CannotDo, match=reason):
        journal.run(work, tmp_path / "a.zip", False, False, tmp_path / "page.html")
