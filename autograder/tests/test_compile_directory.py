"""The directory where a compiler works in its sandbox."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import compile_directory, sandbox
from failslow.build.compile_directory import CompileDirectory

LEAVES = """
import os, sys
own = os.path.dirname(sys.argv[-1])
{}
"""


@pytest.fixture
def room(kit: Kit) -> Iterator[CompileDirectory]:
    with compile_directory.opened(
        kit.root, sandbox.of_compiler(kit), {"lab/mine.cc": b"mine"}
    ) as opened:
        yield opened


def run(room: CompileDirectory, output: Path, body: str) -> str:
    argv = [sys.executable, "-I", "-c", LEAVES.format(body)]
    return room.run(argv, output, 30.0).output


def test_a_program_finds_the_submission_and_leaves_one_file(
    room: CompileDirectory, tmp_path: Path
) -> None:
    body = "open(sys.argv[-1], 'w').write(open('lab/mine.cc').read() + os.environ['TMPDIR'][-1:])"
    run(room, tmp_path / "first", body)
    run(room, tmp_path / "second", body)
    assert (tmp_path / "first").read_text() == "mine0"
    assert (tmp_path / "second").read_text() == "mine1"
    assert list((room.sources.parent / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("os.symlink('/etc/passwd', sys.argv[-1])", "left no result"),
        ("os.mkfifo(sys.argv[-1])", "something else than a file"),
        ("", "left no result"),
    ],
)
def test_what_is_no_file_is_not_taken(
    room: CompileDirectory, tmp_path: Path, body: str, complaint: str
) -> None:
    with pytest.raises(CannotDo, match=complaint):
        run(room, tmp_path / "taken", body)
    assert not (tmp_path / "taken").exists() or (tmp_path / "taken").read_bytes() == b""


def test_nothing_is_beside_the_headers(kit: Kit, room: CompileDirectory) -> None:
    contract = kit.root / "labs" / "contract"
    (contract / "inner").mkdir(parents=True)
    for name in ("given.h", "inner/deep.h", "answer.cc", "key"):
        (contract / name).write_text(name)
    driver = kit.root / "labs" / "driver"
    driver.mkdir()
    for name in ("driver.cc", "beside.h", "other.cc"):
        (driver / name).write_text(name)
    words = ["-O2", f"-I{contract}", "-c", f"{driver}/driver.cc", "-I/usr/include"]
    found = room.words(words)
    given = room.given / "labs"
    assert found == [
        "-O2",
        f"-I{given}/contract",
        "-c",
        f"{given}/driver/driver.cc",
        "-I/usr/include",
    ]
    files = sorted(str(path.relative_to(given)) for path in given.rglob("*.*"))
    assert files == [
        "contract/given.h",
        "contract/inner/deep.h",
        "driver/beside.h",
        "driver/driver.cc",
    ]
    assert room.words(words) == found


def test_everybody_reads_it_whatever_the_mask(kit: Kit, tmp_path: Path) -> None:
    (kit.root / "lib").mkdir()
    (kit.root / "lib" / "names.txt").write_text("names")
    (kit.root / "lib" / "names.txt").chmod(0o600)
    before = os.umask(0o077)
    try:
        files = {"lab/mine.cc": b"mine"}
        with compile_directory.opened(kit.root, sandbox.of_compiler(kit), files) as room:
            (word,) = room.words([f"-Wl,--dynamic-list={kit.root}/lib/names.txt"])
            assert word == f"-Wl,--dynamic-list={room.given}/lib/names.txt"
            for path in (
                room.given,
                room.sources,
                *room.given.rglob("*"),
                *room.sources.rglob("*"),
            ):
                wanted = 0o755 if path.is_dir() else 0o644
                assert stat.S_IMODE(path.stat().st_mode) == wanted, path
    finally:
        os.umask(before)
    assert stat.S_IMODE((kit.root / "lib" / "names.txt").stat().st_mode) == 0o600


def test_the_compilers_user_can_reach_it(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.tempdir", str(closed))
    with compile_directory.opened(kit.root, sandbox.of_compiler(kit), {}) as room:
        assert closed not in room.sources.parents
        assert all(each.stat().st_mode & 0o001 for each in room.sources.parents)


def test_a_complaint_names_no_place_of_this_machine(room: CompileDirectory) -> None:
    text = f"{room.given}/framework/event.h:3: error\nlab1/x.cc:1: in {room.sources}/lab1/x.h"
    assert room.in_words(text) == "framework/event.h:3: error\nlab1/x.cc:1: in lab1/x.h"


def test_a_source_has_the_time_of_all_sources(room: CompileDirectory) -> None:
    assert (room.sources / "lab/mine.cc").stat().st_mtime == 0
