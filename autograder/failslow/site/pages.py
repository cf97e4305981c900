"""Looks at the built pages as files: where they lead, what they load, whether all can read them.

MkDocs checks the links that it has made from Markdown. This checks what a browser will be given,
whatever it was made from.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements by which a page makes a browser load something, with the attributes that say what.
LOADS = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
CSS_LOAD = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")
COMMENT = re.compile(r"/\*.*?\*/", re.S)

# Answered by web servers for an address that does not exist, so that its links begin at the root.
NOT_FOUND = "404.html"


@dataclass
class Page:
    """What one file says. References are as they are written, with the element's name."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def check(directory: Path) -> list[str]:
    """What is wrong with a built site: dead links, loads from other hosts, unnamed pictures."""
    read = {path: read_page(path) for path in sorted(directory.rglob("*.html"))}
    problems = [] if read else ["no page was built"]
    for path, page in read.items():
        name = path.relative_to(directory).as_posix()
        found = [*page.problems, *_dead_links(directory, read, path), *_foreign(page.loads)]
        problems += [f"{name}: {problem}" for problem in dict.fromkeys(found)]
    for path in sorted(directory.rglob("*.css")):
        name = path.relative_to(directory).as_posix()
        loads = css_loads(path.read_text(encoding="utf-8"))
        problems += [f"{name}: {problem}" for problem in _foreign(loads)]
    return problems


def read_page(path: Path) -> Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.finished()


def css_loads(text: str) -> list[tuple[str, str]]:
    return [("css", found) for found in CSS_LOAD.findall(COMMENT.sub("", text))]


def _foreign(loads: list[tuple[str, str]]) -> list[str]:
    return [
        f"<{element}> loads {url} from another host"
        for element, url in loads
        if urlsplit(url).netloc or urlsplit(url).scheme not in ("", "data")
    ]


def _dead_links(directory: Path, read: dict[Path, Page], path: Path) -> list[str]:
    problems = []
    for url in read[path].links + [url for _, url in read[path].loads]:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        if parts.path.startswith("/") and path.name != NOT_FOUND:
            problems.append(f"{url} begins at the root: it is dead in a page opened from a disk")
            continue
        base = directory if parts.path.startswith("/") else path.parent
        target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
        if not target.is_file():
            problems.append(f"{url} leads nowhere")
        elif parts.fragment and target in read and not _has(read[target], parts.fragment):
            problems.append(f"{url} leads to a place that the page does not have")
    return problems


def _has(page: Page, fragment: str) -> bool:
    return unquote(fragment) in page.ids


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._page = Page()
        self._headings = 0
        self._in_style = False

    def finished(self) -> Page:
        if self._headings != 1:
            self._page.problems.append(f"has {self._headings} headings of the first level, not one")
        return self._page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._collect(tag, given)
        self._headings += tag == "h1"
        self._in_style = tag == "style"
        if tag == "html" and not given.get("lang"):
            self._page.problems.append("does not say its language")
        if tag == "img" and "alt" not in given:
            self._page.problems.append(f"picture {given.get('src')} has no text alternative")
        if tag == "svg" and given.get("role") == "img" and not _is_named(given):
            self._page.problems.append("a drawing has no text alternative (aria-labelledby)")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self._page.loads += css_loads(data)

    def _collect(self, tag: str, given: dict[str, str]) -> None:
        if "id" in given:
            if given["id"] in self._page.ids:
                self._page.problems.append(f"the place {given['id']} is there twice")
            self._page.ids.add(given["id"])
        if tag == "a" and given.get("name"):
            self._page.ids.add(given["name"])
        if tag == "a" and given.get("href"):
            self._page.links.append(given["href"])
        for attribute in LOADS.get(tag, ()):
            urls = given.get(attribute, "")
            split = urls.split(",") if attribute == "srcset" else [urls]
            self._page.loads += [(tag, url.split()[0]) for url in split if url.strip()]
        self._page.loads += css_loads(given.get("style", ""))


def _is_named(given: dict[str, str]) -> bool:
    return bool(given.get("aria-label") or given.get("aria-labelledby"))
