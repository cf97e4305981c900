"""The script `kit`: help on a machine on which nothing is installed yet."""

import os
import re
import shutil
import subprocess
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


def run(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [checkout / "kit", *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert not (checkout / ".venv").exists(), "help has installed something"
    assert not (checkout / ".venv.lock").exists(), "help has begun to install something"
    return done


@pytest.mark.parametrize("words", [("site", "--help"), ("site", "build", "-h")])
def test_help_installs_nothing(fresh: Path, words: tuple[str, ...]) -> None:
    done = run(fresh, *words)
    assert done.returncode == 0
    assert "builds the handbook" in done.stdout
    assert "./kit debug" not in done.stdout


def test_help_on_all_commands_is_the_handbooks_table(fresh: Path) -> None:
    done = run(fresh, "--help")
    assert done.returncode == 0
    assert {"./kit test", "./kit debug", "./kit site"} <= {
        " ".join(line.split()[:2]) for line in done.stdout.splitlines()
    }


@pytest.mark.parametrize("command", ["frobnicate", "s", "../x/["])
def test_help_on_an_unknown_command_is_an_error(fresh: Path, command: str) -> None:
    done = run(fresh, command, "--help")
    assert done.returncode == 2
    assert done.stderr == f"kit: there is no command '{command}' (see ./kit --help)\n"


def test_a_checkout_of_another_user_is_told(fresh: Path) -> None:
    (fresh / ".venv.lock").mkdir()  # it cannot be written, not even by root
    done = subprocess.run(
        [fresh / "kit", "doctor"], capture_output=True, text=True, check=False, timeout=60
    )
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
    done = subprocess.run(
        [fresh / "kit", "test", "lab1"], capture_output=True, text=True, check=False, env=macos
    )
    assert done.returncode == 2
    assert done.stderr == "kit: packages are missing; type: brew install boost xxhash\n"
