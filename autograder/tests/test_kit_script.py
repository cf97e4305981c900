"""The script `kit`: help on a machine on which nothing is installed yet."""

import shutil
import subprocess
from pathlib import Path

import pytest

from failslow.base.kit import this_kit
from failslow.extras.release.students import COMMANDS


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
