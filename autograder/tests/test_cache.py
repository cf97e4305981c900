"""The results that are kept for the next time, and a command's hold on those that it uses."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from failslow.base import cache


def entries(directory: Path, *names: str) -> list[Path]:
    """Directories with a file, used in this order."""
    made = []
    for at, name in enumerate(names):
        path = directory / name
        path.mkdir(parents=True)
        (path / "program").write_text(name)
        os.utime(path, (at, at))
        made.append(path)
    return made


def left(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.fixture(autouse=True)
def holds_nothing() -> None:
    for handle in cache._held:
        os.close(handle)
    cache._held.clear()


def test_the_least_recently_used_go(tmp_path: Path) -> None:
    old, *_ = entries(tmp_path, "old", "middle", "new", ".scratch")
    (tmp_path / "object").write_text("a file is an entry, too")
    os.utime(tmp_path / "object", (0.5, 0.5))
    os.utime(old, (9, 9))
    cache.keep_latest(tmp_path, 2)
    assert left(tmp_path) == {"old", "new", ".scratch"}
    cache.keep_latest(tmp_path / "missing", 2)


def test_what_another_process_holds_stays(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, "old")
    source = (
        "import pathlib; from failslow.base import cache;"
        f"print(cache.hold(pathlib.Path({str(entry)!r})), flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        cache.keep_latest(tmp_path, 0)
        assert (entry / "program").read_text() == "old"
        other.kill()
    cache.keep_latest(tmp_path, 0)
    assert left(tmp_path) == set()


def test_a_hold_is_a_use_and_a_process_holds_its_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "HELD_MAX", 1)
    first, second, _ = entries(tmp_path, "first", "second", "third")
    assert cache.hold(first)
    assert first.stat().st_mtime > 9
    assert cache.hold(second)
    cache.keep_latest(tmp_path, 0)
    assert left(tmp_path) == {"second"}


def test_nothing_holds_what_is_gone(tmp_path: Path) -> None:
    assert not cache.hold(tmp_path / "gone")
    assert not cache.copy(tmp_path / "gone", tmp_path / "to")
    assert left(tmp_path) == set()


def test_an_entry_that_went_while_one_waited_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = entries(tmp_path, "old")
    monkeypatch.setattr(cache.fcntl, "flock", lambda *_: shutil.rmtree(entry))
    assert not cache.hold(entry)
