"""The script `kit`: help before anything is installed, and the lock of an installation."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from failslow.base.kit import this_kit
from failslow.extras.release.students import COMMANDS
from fakes import write_program


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout without a Python environment."""
    files = ("kit", COMMANDS, "autograder/packages.sh", "autograder/requirements.txt")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(this_kit().root / name, tmp_path / name)
    return tmp_path


def run(
    checkout: Path, *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [checkout / "kit", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, env=env)


def help_of(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = run(checkout, *words)
    assert not (checkout / ".venv").exists(), "help has installed something"
    assert not (checkout / ".venv.lock").exists(), "help has begun to install something"
    return done


@pytest.mark.parametrize("words", [("site", "--help"), ("site", "build", "-h")])
def test_help_installs_nothing(fresh: Path, words: tuple[str, ...]) -> None:
    done = help_of(fresh, *words)
    assert done.returncode == 0
    assert "builds the handbook" in done.stdout
    assert "./kit debug" not in done.stdout


def test_help_on_all_commands_is_the_handbooks_table(fresh: Path) -> None:
    done = help_of(fresh, "--help")
    assert done.returncode == 0
    assert {"./kit test", "./kit debug", "./kit site"} <= {
        " ".join(line.split()[:2]) for line in done.stdout.splitlines()
    }


@pytest.mark.parametrize("command", ["frobnicate", "s", "../x/["])
def test_help_on_an_unknown_command_is_an_error(fresh: Path, command: str) -> None:
    done = help_of(fresh, command, "--help")
    assert done.returncode == 2
    assert done.stderr == f"kit: there is no command '{command}' (see ./kit --help)\n"


def test_a_checkout_of_another_user_is_told(fresh: Path) -> None:
    (fresh / ".venv.lock").mkdir()  # it cannot be written, not even by root
    done = run(fresh, "doctor")
    assert done.returncode == 2
    assert done.stderr == f"kit: cannot write in {fresh}: copy the kit to a directory of yours\n"


@pytest.fixture
def macos(fresh: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a Mac whose Homebrew lacks two packages."""
    wanted = re.search(r"^brew_packages=\((.*)\)$", (fresh / "kit").read_text(), re.M)
    assert wanted
    for package in {*wanted[1].split()} - {"boost", "xxhash"}:
        (tmp_path / "brew" / "opt" / package).mkdir(parents=True)
    programs = tmp_path / "bin"
    for name, said in {"uname": "Darwin", "brew": tmp_path / "brew", "xcode-select": ""}.items():
        write_program(programs / name, f"print({str(said)!r})")
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}


def test_on_macos_the_missing_packages_are_one_line(fresh: Path, macos: dict[str, str]) -> None:
    done = run(fresh, "test", "lab1", env=macos)
    assert done.returncode == 2
    assert done.stderr == "kit: packages are missing; type: brew install boost xxhash\n"


def write_script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def complete(fresh: Path) -> Path:
    """A checkout with all that it needs. Its Python prints the words of a command."""
    write_script(fresh / ".venv/bin/python", '[ "$1" = -ISc ] || echo "$@"')
    requirements = (fresh / "autograder/requirements.txt").read_bytes()
    stamp = hashlib.sha256(requirements + f"{fresh}\n".encode()).hexdigest()
    (fresh / ".venv/.installed").write_text(f"{stamp}\n")
    return fresh


@contextmanager
def installing(checkout: Path) -> Iterator[None]:
    """Another kit holds the lock."""
    with (checkout / ".venv.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_kit_with_nothing_to_install_does_not_wait(complete: Path) -> None:
    with installing(complete):
        done = run(complete, "grade")
    assert done.stdout == "-I -m failslow grade\n"
    assert done.stderr == ""


def test_a_kit_with_something_to_install_waits(fresh: Path) -> None:
    argv = [fresh / "kit", "grade"]
    with (
        installing(fresh),
        subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as waiting,
    ):
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        waiting.kill()
    assert said == "kit: waiting for another kit that is installing\n"


def test_a_service_that_a_package_starts_does_not_hold_the_lock(fresh: Path) -> None:
    programs = fresh / "programs"
    for name, body in {
        "dpkg-query": "",
        "id": "echo 0",
        "apt-get": f"ls -l /proc/$$/fd > {fresh}/files; exit 1",
    }.items():
        write_script(programs / name, body)
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = run(fresh, "grade", env=env)
    assert "apt-get update failed" in done.stderr
    files = (fresh / "files").read_text()
    assert "/dev/null" in files
    assert ".venv.lock" not in files
