"""The handbook: it builds strictly, explains every public type, and looks right in a browser."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from failslow.base import console, process
from failslow.base.kit import Kit
from failslow.extras.check import reading, sample
from failslow.extras.check.step import Context, Counts
from failslow.extras.replay import html_report as replay
from failslow.extras.site import accessibility, browser, build

# At the margin, in clang-format's layout.
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)\b[^;]*?\{", re.M)
COMMENTED = re.compile(r"^//.*\n(?:template .*\n)*(?:class|struct|enum class) (\w+)", re.M)
INTERNAL = re.compile(r"^namespace \w+_internal \{.*?^\}  // namespace \w+_internal\n", re.M | re.S)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.S)
# On a line behind the first one.
ITEM = re.compile(r"\n *((?:\d+\.|[-*]) [^\n]{1,60})")
# A web server's answer for a page that does not exist: its links begin at the root.
NOT_FOUND = "404.html"
DEBUGGING, INSTALL = "debugging.html", "install.html"
SEARCHED = {
    "install": INSTALL,
    "apt-get": INSTALL,
    "permission denied": INSTALL,
    "no space left": INSTALL,
    "not deterministic": DEBUGGING,
    "segmentation fault": DEBUGGING,
    "never waits": DEBUGGING,
    "bad_weak_ptr": DEBUGGING,
    "undefined reference": DEBUGGING,
}
"""Words that a reader looks for, and the page that is among the first of those found."""
FIRST_PAGES = 3
BAD_PAGE = """<!doctype html><title>bad</title><p style="width: 2000px">wide</p>
<script src="https://elsewhere.invalid/script.js"></script>
<script>throw new Error("on purpose")</script>"""
NOTICED = ("elsewhere.invalid", "on purpose", "pixels wide")
BARRIER = """<!doctype html><html lang="en"><title>bad</title><main><h1>Bad</h1>
<p style="color: #aaa; background: #fff">pale</p></main></html>"""
BARRIER_NOTICED = "color-contrast"
HOW_TO_SEE_IT = "install a Chromium to have the pages opened, too"


def handbook(context: Context) -> Counts:
    """A site with errors is not built, so there is nothing more to check but its sentences."""
    counts = reading.reading(context.kit)
    problems = build.build(context.kit)
    counts.problems += problems
    if problems:
        return counts
    counts.add(described(context.kit))
    counts.add(listed(context.kit, context.kit.handbook))
    counts.add(lists_are_lists(context.kit.handbook))
    counts.add(vendored(context.kit))
    counts.add(opened(context))
    return counts


def described(kit: Kit) -> Counts:
    """Every public type has a comment, or its header's essay begins with its name."""
    counts = Counts()
    for path in sorted(kit.headers.rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        explained = {*COMMENTED.findall(text)}
        for name in TYPE.findall(INTERNAL.sub("", text)):
            has_comment = name in explained or text.startswith(f"// {name}:")
            counts.expect(has_comment, f"{path.relative_to(kit.headers)}: {name} has no comment")
    return counts


def listed(kit: Kit, handbook: Path) -> Counts:
    """Handouts have pages, and can be read there."""
    counts = Counts()
    for handout in sorted(kit.handouts.glob("*.md")):
        page = handbook / "labs" / f"{handout.stem}.html"
        counts.expect(page.is_file(), f"{handout.name} has no page in the handbook")
        text = handout.read_text(encoding="utf-8")
        counts.expect(
            "<details>" not in text,
            f"{handout.name}: write <details markdown>, or the handbook shows bare Markdown in it",
        )
    return counts


def lists_are_lists(handbook: Path) -> Counts:
    """No paragraph of a page swallows the items of a list, as MkDocs does with those that are
    indented by less than four spaces."""
    counts = Counts()
    for page in sorted(handbook.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        lost = [item.strip() for each in PARAGRAPH.findall(text) for item in ITEM.findall(each)]
        name = page.relative_to(handbook).as_posix()
        counts.expect(not lost, f"{name}: a paragraph has the item of a list: {lost[:1]}")
    return counts


def vendored(kit: Kit) -> Counts:
    """Each file of others is listed with its checksum, and is unchanged."""
    counts = Counts()
    for sums in (kit.site / "vendor.sha256", replay.HERE / "vendor.sha256"):
        argv = ["sha256sum", "--check", "--strict", "--quiet", sums.name]
        done = process.run(argv, cwd=sums.parent, merge_errors=True)
        counts.expect(done.exit_code == 0, done.output.strip())
        listed = sums.read_text(encoding="utf-8")
        for file in sums.parent.rglob("vendor/*"):
            counts.expect(file.name in listed, f"{sums.name} does not list {file.name}")
    return counts


def opened(context: Context) -> Counts:
    """Opens every page in a browser. A remark says when no browser works."""
    program = browser.find()
    if program is None:
        return Counts(remarks=[f"{browser.NONE}: {HOW_TO_SEE_IT}"])
    counts = Counts()
    try:
        with browser.open_tab(program) as tab:
            counts.add(notices(tab, context.scratch / "bad.html"))
            counts.add(_open_all(tab, context.kit.handbook))
            counts.add(notices_barriers(tab, context.scratch / "pale.html"))
            counts.add(_without_barriers(tab, context))
    except browser.NoBrowser as error:
        sentence = f"{program} cannot be driven: {error}"
        # A browser that has opened a page works, so a later failure is a problem of a page.
        (counts.problems if counts.passed else counts.remarks).append(sentence)
    return counts


def _open_all(tab: browser.Tab, handbook: Path) -> Counts:
    counts = Counts()
    built = [page for page in sorted(handbook.rglob("*.html")) if page.name != NOT_FOUND]
    with console.progress("Opening the handbook") as advance:
        for number, page in enumerate(built, start=1):
            name = page.relative_to(handbook).as_posix()
            problems = tab.open(page)
            counts.expect(not problems, f"{name}: {'; '.join(problems)}")
            advance(number, len(built), name)
    for words, wanted in SEARCHED.items():
        tab.open(handbook / "index.html")
        found = [*dict.fromkeys(map(_name, tab.search(words)))][:FIRST_PAGES]
        counts.expect(wanted in found, f"search finds {found} for '{words}', and not {wanted}")
    return counts


def _name(address: str) -> str:
    return Path(urlsplit(address).path).name


def _without_barriers(tab: browser.Tab, context: Context) -> Counts:
    """No page has something that a reader cannot read, name or reach by the keyboard. A view of a
    page takes seconds: without --full a part of the pages is looked at, each in one view, and that
    of a missing page in all."""
    counts = Counts()
    handbook, full = context.kit.handbook, context.full
    built = [page for page in sorted(handbook.rglob("*.html")) if page.name != NOT_FOUND]
    chosen = [page for page in built if full or sample.is_drawn(page.read_bytes())]
    chosen.append(_not_found_on_disk(handbook, context.scratch))
    with console.progress("Looking for barriers") as advance:
        for number, page in enumerate(chosen, start=1):
            is_copy = page.name == NOT_FOUND
            name = page.name if is_copy else page.relative_to(handbook).as_posix()
            one = accessibility.VIEWS[number % len(accessibility.VIEWS)]
            views = accessibility.VIEWS if full or is_copy else [one]
            found = accessibility.barriers(tab, page, views)
            counts.expect(not found, f"{name}: {'; '.join(found)}")
            advance(number, len(chosen), name)
    if not full:
        counts.remarks.append(
            f"axe saw {len(chosen)} of {len(built) + 1} pages; --full shows it all"
        )
    return counts


def _not_found_on_disk(handbook: Path, scratch: Path) -> Path:
    """A copy of 404.html with links that are right for files."""
    copy = scratch / NOT_FOUND
    text = (handbook / NOT_FOUND).read_text(encoding="utf-8")
    copy.write_text(text.replace('="/', f'="{handbook.as_uri()}/'), encoding="utf-8")
    return copy


def notices_barriers(tab: browser.Tab, page: Path) -> Counts:
    """A page with pale words is reported as such."""
    page.write_text(BARRIER, encoding="utf-8")
    found = "; ".join(accessibility.barriers(tab, page))
    counts = Counts()
    counts.expect(BARRIER_NOTICED in found, f"pale words are no barrier: {found}")
    return counts


def notices(tab: browser.Tab, page: Path) -> Counts:
    """A page with known faults is reported as such: the browser is able to notice them."""
    page.write_text(BAD_PAGE, encoding="utf-8")
    problems = "; ".join(tab.open(page))
    counts = Counts()
    for sign in NOTICED:
        counts.expect(sign in problems, f"a page with '{sign}' opens without complaint: {problems}")
    return counts
