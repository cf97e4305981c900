"""The handbook: it builds strictly, leads nowhere wrong, tells of every public class, and looks
right in a browser."""

import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from failslow import console
from failslow.check.step import Context, Counts
from failslow.kit import Kit
from failslow.replay import page as replay
from failslow.site import browser, build, pages

# Written apart from what makes the reference, and simpler: at the margin, in the one style that
# clang-format leaves, a public type begins so.
DEFINITION = re.compile(r"^(?:class|struct|enum class) (\w+)\b[^;]*\{")
NAMESPACE = re.compile(r"^namespace (\w+) \{")
SEARCHED = "quorum"
BAD_PAGE = """<!doctype html><title>bad</title><p style="width: 2000px">wide</p>
<script src="https://elsewhere.invalid/script.js"></script>
<script>throw new Error("on purpose")</script>"""
NOTICED = ("elsewhere.invalid", "on purpose", "pixels wide")
HOW_TO_SEE_IT = "install a Chromium to have the pages opened, too"


def handbook(context: Context) -> Counts:
    """Nothing but the site's errors while it has any: there is nothing to look at."""
    problems = build.build(context.kit)
    counts = Counts(problems=problems)
    if problems:
        return counts
    counts.add(described(context.kit))
    counts.add(listed(context.kit))
    counts.add(vendored(context.kit))
    counts.add(opened(context))
    return counts


@dataclass(frozen=True)
class Definition:
    """A public type as its header has it; `comment` is the one above it, or the essay's line."""

    name: str
    comment: str


def described(kit: Kit) -> Counts:
    """Every public type of every public header is on the header's page, with its comment."""
    counts = Counts()
    for header in sorted(kit.headers.glob("*.h")):
        page = kit.handbook / "reference" / f"{header.stem}.html"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        words = _words(html.unescape(re.sub(r"<[^>]+>", " ", text)))
        for definition in definitions(header.read_text(encoding="utf-8")):
            where = f"{header.name}: {definition.name}"
            counts.expect(f'id="{definition.name}"' in text, f"{where} is not in the reference")
            counts.expect(bool(definition.comment), f"{where} has no comment")
            counts.expect(
                _words(definition.comment) in words, f"{where}: its comment is not in the reference"
            )
    return counts


def definitions(source: str) -> Iterator[Definition]:
    """The types at the margin of a header, outside its internal namespaces."""
    comment: list[str] = []
    essay: list[str] | None = None
    internal = False
    for line in source.splitlines():
        namespace = NAMESPACE.match(line)
        if namespace is not None:
            internal = namespace[1].endswith("_internal")
        elif line.startswith("}  // namespace"):
            internal = False
        if line.startswith("//"):
            comment.append(line.removeprefix("//").strip())
            continue
        essay = comment if essay is None else essay
        definition = DEFINITION.match(line)
        if definition is not None and not internal:
            yield Definition(definition[1], _comment_of(definition[1], comment, essay))
        if not line.startswith("template"):
            comment = []


def _comment_of(name: str, above: list[str], essay: list[str]) -> str:
    """A header that begins with a class's name speaks of that class."""
    spoken_of = essay if essay[:1] and essay[0].startswith(f"{name}:") else []
    return " ".join(above or spoken_of)


def _words(text: str) -> str:
    """Without what Markdown and highlighting change."""
    return " ".join(re.findall(r"\w+", text))


def listed(kit: Kit) -> Counts:
    """Handouts have pages, and decision records are in their list."""
    counts = Counts()
    for handout in sorted((kit.root / "handouts").glob("*.md")):
        page = kit.site / "docs" / "labs" / handout.name
        counts.expect(page.is_file(), f"{handout.name} has no page: site/docs/labs lacks it")
        text = handout.read_text(encoding="utf-8")
        counts.expect(
            "<details>" not in text,
            f"{handout.name}: write <details markdown>, or the handbook shows bare Markdown in it",
        )
    records = kit.site / "docs" / "maintainers" / "decisions"
    index = (records / "index.md").read_text(encoding="utf-8")
    for record in sorted(records.glob("0*.md")):
        counts.expect(f"({record.name})" in index, f"index.md does not list {record.name}")
    return counts


def vendored(kit: Kit) -> Counts:
    """The scripts of others are the ones that a vendor.yaml names, and no more."""
    counts = _vendored(kit.site / "vendor.yaml", kit.site / "docs" / "assets" / "vendor")
    counts.add(_vendored(replay.HERE / "vendor.yaml", replay.HERE / "vendor"))
    return counts


def _vendored(listing: Path, directory: Path) -> Counts:
    entries = yaml.safe_load(listing.read_text(encoding="utf-8"))
    counts = Counts()
    known = set()
    for entry in entries:
        known |= {entry["file"], entry["licence_file"]}
        same = _sha256(directory / entry["file"]) == entry["sha256"]
        counts.expect(same, f"{entry['file']} is not {entry['package']} {entry['version']}")
        licence = directory / entry["licence_file"]
        counts.expect(licence.is_file(), f"{licence.name} is missing")
    for file in sorted(directory.iterdir()):
        counts.expect(
            file.name in known,
            f"{listing.parent.name}/vendor.yaml does not say where {file.name} is from",
        )
    return counts


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def opened(context: Context) -> Counts:
    """Every page in a browser, if there is one that works: a remark says when there is none."""
    program = browser.find()
    if program is None:
        return Counts(remarks=[f"{browser.NONE}: {HOW_TO_SEE_IT}"])
    counts = Counts()
    try:
        with browser.open_tab(program) as tab:
            counts.add(notices(tab, context.scratch / "bad.html"))
            counts.add(_open_all(tab, context.kit.handbook))
    except browser.NoBrowser as error:
        sentence = f"{program} cannot be driven: {error}"
        # One that has opened a page works: then it is the pages that broke it.
        (counts.problems if counts.passed else counts.remarks).append(sentence)
    return counts


def _open_all(tab: browser.Tab, handbook: Path) -> Counts:
    counts = Counts()
    built = [page for page in sorted(handbook.rglob("*.html")) if page.name != pages.NOT_FOUND]
    with console.progress("Opening the handbook") as advance:
        for number, page in enumerate(built, start=1):
            name = page.relative_to(handbook).as_posix()
            problems = tab.open(page)
            counts.expect(not problems, f"{name}: {'; '.join(problems)}")
            advance(number, len(built), name)
    tab.open(handbook / "index.html")
    counts.expect(tab.search(SEARCHED) > 0, f"search does not find '{SEARCHED}'")
    return counts


def notices(tab: browser.Tab, page: Path) -> Counts:
    """That what is looked for below would be found."""
    page.write_text(BAD_PAGE, encoding="utf-8")
    problems = "; ".join(tab.open(page))
    counts = Counts()
    for sign in NOTICED:
        counts.expect(sign in problems, f"a page with '{sign}' opens without complaint: {problems}")
    return counts
