"""The git repository of a students' kit: one commit for each release into it."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo

AUTHOR = "Failslow Labs"
EMAIL = "failslow-labs@example.org"
MESSAGE = "Failslow Labs: the kit for students"
LABS = re.compile(rf"{EMAIL}\n{MESSAGE}\n\nLabs: ([a-z0-9 ]+)\n")
"""The author and the message of a release, which names its labs."""

# Nothing of this machine's or this user's settings: no template, no signature, no other name.
SETTINGS = ("core.autocrlf=false", "commit.gpgsign=false", "core.hooksPath=/dev/null")
IDENTITY = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": AUTHOR,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": AUTHOR,
    "GIT_COMMITTER_EMAIL": EMAIL,
}


def labs_in(directory: Path) -> list[str]:
    """The ids of the labs of the latest release in `directory`. CannotDo unless the latest commit
    is a release, and the files are as it has them; files that .gitignore names may be there, too.
    """
    if not (directory / ".git").is_dir():
        raise CannotDo(f"{directory} is not empty, and no release of this kit")
    try:
        found = LABS.match(_git(directory, ["log", "-1", "--format=%ae%n%B"]))
    except CannotDo:
        found = None
    if not found:
        raise CannotDo(f"{directory} is no release of this kit: its latest commit is another one")
    if _git(directory, ["status", "--porcelain"]):
        raise CannotDo(f"{directory} has changes: commit them in a clone, or remove them")
    return found[1].split()


def begin_with(directory: Path, earlier: Path) -> None:
    """Gives `directory` the history of an earlier release, and none of its files."""
    shutil.copytree(earlier / ".git", directory / ".git")


def commit(directory: Path, date: str, labs: Sequence[str]) -> bool:
    """All files of `directory`, also those that .gitignore names. False if the history has them
    already: then there is no new commit. CannotDo when git fails.

    `date`: of the commit, so that the same files give the same commit.
    """
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    if not (directory / ".git").is_dir():
        _git(directory, ["init", "--quiet", "--initial-branch=main", "--template="])
    _git(directory, ["add", "--all", "--force"])
    if not _git(directory, ["status", "--porcelain"]):
        return False
    message = f"--message={MESSAGE}\n\nLabs: {' '.join(labs)}"
    _git(directory, ["commit", "--quiet", message], dates)
    return True


def pull(directory: Path, source: Path) -> None:
    """Brings the latest commit of `source`, whose history begins with that of `directory`, as a
    student does. CannotDo when git fails: then the files of `directory` are as they were."""
    _git(directory, ["pull", "--quiet", "--ff-only", str(source), "HEAD"])


def date_of(checkout: Path) -> str:
    """The date of the checkout's latest commit. CannotDo if there is none."""
    done = process.run(["git", "-C", checkout, "log", "-1", "--format=%cI"])
    if done.exit_code != 0:
        raise CannotDo(f"{checkout} has no commit", done.errors)
    return done.output.strip()


def _git(directory: Path, words: Sequence[str], more: dict[str, str] | None = None) -> str:
    """The output of git in this directory's own repository. `more`: for its environment."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    here = directory.absolute()
    places = [f"--git-dir={here / '.git'}", f"--work-tree={here}"]
    environment = {**IDENTITY, **(more or {})}
    try:
        done = process.run(["git", *settings, *places, *words], cwd=here, env=environment)
    except OSError as error:
        raise CannotDo(f"cannot start git: {error.strerror}") from error
    if done.exit_code != 0:
        raise CannotDo(f"git {words[0]} failed: {done.how_it_ended()}", done.errors)
    return done.output
