"""Makes a directory a git repository with one commit."""

from collections.abc import Sequence
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo

AUTHOR = "Failslow Labs"
EMAIL = "failslow-labs@example.org"
MESSAGE = "Failslow Labs: the kit for students"

# Nothing of this machine's or this user's settings: no template, no signature, no other name.
SETTINGS = ("core.autocrlf=false", "commit.gpgsign=false", "core.hooksPath=/dev/null")


def commit(directory: Path, date: str) -> None:
    """All files of `directory`, also those that .gitignore names. CannotDo when git fails.

    `date`: of the commit, so that the same files give the same commit. Requires: no repository yet.
    """
    environment = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": AUTHOR,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": AUTHOR,
        "GIT_COMMITTER_EMAIL": EMAIL,
        "GIT_COMMITTER_DATE": date,
        "GIT_DIR": str(directory / ".git"),
        "GIT_WORK_TREE": str(directory),
        "GIT_INDEX_FILE": str(directory / ".git" / "index"),
    }
    _git(directory, environment, ["init", "--quiet", "--initial-branch=main", "--template="])
    _git(directory, environment, ["add", "--all", "--force"])
    _git(directory, environment, ["commit", "--quiet", f"--message={MESSAGE}"])


def date_of(checkout: Path) -> str:
    """The date of the checkout's latest commit. CannotDo if there is none."""
    done = process.run(["git", "-C", checkout, "log", "-1", "--format=%cI"])
    if done.exit_code != 0:
        raise CannotDo(f"{checkout} has no commit", done.errors)
    return done.output.strip()


def _git(directory: Path, environment: dict[str, str], words: Sequence[str]) -> None:
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    try:
        done = process.run(["git", *settings, *words], cwd=directory, env=environment)
    except OSError as error:
        raise CannotDo(f"cannot start git: {error.strerror}") from error
    if done.exit_code != 0:
        raise CannotDo(f"git {words[0]} failed: {done.how_it_ended()}", done.errors)
