"""Looks for answers in a released tree and in its git history, line by line.

A secret line stands in a file that is_secret names, and in no other file of the checkout. It has
at least LINE_MIN characters, one of them a letter, and is no #include. Blanks, and the marks of
comments, patches and quotes around a line, do not count. So a quoted answer is found, too. In HTML
and JSON the markup does not count either.

Short lines are left out: `return false;` says nothing. A secret source must have secret lines, at
least SECRET_SHARE of them: otherwise a copy of it has got among the given files of the checkout.
"""

import html
import lzma
import re
import subprocess
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from failslow.base.kit import Kit
from failslow.extras.release import tree

LINE_MIN = 25
SECRET_SHARE = 0.5
SOURCE_LINES_MIN = 8
"""Shorter sources may consist of lines that are in other files, too."""

UNSEEN = ("autograder/tests/*", "autograder/failslow/extras/release/*")
"""Neither given nor secret: these files may quote both."""

MARKS = " \t/#*>+`|-"
CODE_ENDS = re.compile(r"`|</?code[^>]*>|</?(?:p|li|td|th|h\d|pre|div)\b[^>]*>|\\n|\0")
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Leak:
    """`place`: a file of the tree, or an object of its history. `source`: of the secret line."""

    place: str
    source: str
    line: str

    def __str__(self) -> str:
        return f"{self.place} holds a line of {self.source}: {self.line}"


def find(
    secrets: Mapping[str, str],
    released: Path,
    allowed: Collection[bytes] = (),
    known: Container[str] = (),
) -> list[Leak]:
    """A leak for each secret line of each file and git object; empty if there is none.

    `secrets`: as secret_lines returns them. `allowed`: whole files that are given on purpose.
    `known`: numbers of git objects that are not searched, since students have them.
    """
    leaks: list[Leak] = []
    seen = {*allowed}
    for place, content in _contents(released, known):
        if content in seen:
            continue
        seen.add(content)
        leaks += [
            Leak(place, secrets[line], line)
            for line in sorted(_lines(content, marked_up=True))
            if line in secrets
        ]
    return leaks


def secret_lines(kit: Kit, allowed: Collection[str] = ()) -> dict[str, str]:
    """The secret lines of a checkout, each with the first file that has it. `allowed`: files whose
    lines are none."""
    secrets: dict[str, str] = {}
    public: set[str] = set()
    for name, lines in _checkout(kit):
        if tree.is_secret(name) and name not in allowed:
            secrets.update((line, name) for line in lines if line not in secrets)
        else:
            public |= lines
    return {line: name for line, name in secrets.items() if line not in public}


def exposed_sources(kit: Kit, secrets: Mapping[str, str]) -> list[str]:
    """The secret sources (.cc) of which other files of the checkout hold too much."""
    return [
        name
        for name, lines in _checkout(kit)
        if tree.is_secret(name)
        and name.endswith(".cc")
        and len(lines) >= SOURCE_LINES_MIN
        and sum(line in secrets for line in lines) < SECRET_SHARE * len(lines)
    ]


def _checkout(kit: Kit) -> Iterator[tuple[str, set[str]]]:
    """Patches last: a line of theirs that is the reference's is called the reference's."""
    for name in sorted(tree.tracked(kit), key=lambda name: name.endswith(".patch")):
        path = kit.root / name
        if path.is_file() and not tree.matches(name, UNSEEN):
            yield name, _lines(path.read_bytes(), marked_up=not tree.is_secret(name))


def _contents(released: Path, known: Container[str]) -> Iterator[tuple[str, bytes]]:
    """The content of each file, then of each object in git, whether a commit reaches it or not."""
    for path in sorted(released.rglob("*")):
        name = path.relative_to(released)
        if path.is_file() and name.parts[0] != ".git":
            content = path.read_bytes()
            yield name.as_posix(), lzma.decompress(content) if name.suffix == ".xz" else content
    for number, content in git_objects(released).items():
        if number not in known:
            yield f"git object {number}", content


def git_objects(repository: Path) -> Mapping[str, bytes]:
    """All objects by number; none if the directory has no repository."""
    if not (repository / ".git").is_dir():
        return {}
    argv = ["git", f"--git-dir={repository / '.git'}", "cat-file", "--batch", "--batch-all-objects"]
    output = subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout
    objects: dict[str, bytes] = {}
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        number, _, size = output[at:end].decode("ascii").split()
        objects[number] = output[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)
    return objects


def _lines(content: bytes, marked_up: bool) -> set[str]:
    """The lines that count. `marked_up`: those without the markup of HTML and JSON, too."""
    text = content.decode("utf-8", errors="replace")
    texts = [text]
    if marked_up:
        plain = CODE_ENDS.sub("\n", text)
        texts += [plain, html.unescape(TAG.sub("", plain)).replace('\\"', '"')]
    lines = (" ".join(line.split()).strip(MARKS) for each in texts for line in each.splitlines())
    return {line for line in lines if _counts(line)}


def _counts(line: str) -> bool:
    return (
        len(line) >= LINE_MIN
        and not line.startswith("include ")
        and any(letter.isalpha() for letter in line)
    )
