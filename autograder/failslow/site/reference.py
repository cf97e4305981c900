"""The handbook's reference: one Markdown page per public header, and an index.

The pages are made at each build and not committed. So they cannot differ from the headers that
students compile with.
"""

import html
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

from failslow.errors import CannotDo
from failslow.site.headers import Entry, Header, read_header

IDENTIFIER = re.compile(r"(?<![\w:.`])`?([A-Z]\w*(?:::[A-Z]\w*)?)`?(?![\w`])")
HIGHLIGHTED_NAME = re.compile(r'(<span class="(?:n|nc|nf|fm)">)(\w+)(</span>)')
DOCUMENT = re.compile(r"\b([Dd]ocument (00\d))\b")
MARKDOWN_CHARACTER = re.compile(r"([\\*_\[\]{}#|])")
INDEX = """# Reference

The headers that a replica's code may use, in `framework/include/depfast/`, one page each. The pages
are made from the headers, whose comments are the contracts. On these pages a comment follows the
declarations that it describes.
"""


@dataclass(frozen=True)
class Links:
    """The links of one page; `targets` has the page and the anchor of each public name."""

    page: str
    targets: dict[str, str]

    def to(self, place: str) -> str:
        return os.path.relpath(place, Path(self.page).parent)

    def of(self, name: str, own: tuple[str, ...]) -> str | None:
        """None for a name that is not public, or needs no link here."""
        return None if name in own or name not in self.targets else self.to(self.targets[name])


def pages(directory: Path) -> dict[str, str]:
    """The text of each page by its name, which is the header's path with `.md`."""
    headers = [read_header(directory, path) for path in _sorted(directory)]
    if not headers:
        raise CannotDo(f"no public header in {directory}")
    targets = _targets(headers)
    made = {_page(header): _text(header, Links(_page(header), targets)) for header in headers}
    return {"index.md": _index(headers, Links("index.md", targets)), **made}


def _sorted(directory: Path) -> list[Path]:
    """Directories below come last."""
    return sorted(directory.rglob("*.h"), key=lambda path: (len(path.parts), path))


def _targets(headers: list[Header]) -> dict[str, str]:
    """By name, members as `Class::Member`. The first of two equal names is the target."""
    targets: dict[str, str] = {}
    for header in headers:
        for entry in header.entries:
            for name in entry.names:
                known_as = f"{entry.owner}::{name}" if entry.owner else name
                targets.setdefault(known_as, f"{_page(header)}#{_anchor(entry)}")
    return targets


def _index(headers: list[Header], links: Links) -> str:
    parts = [INDEX]
    for header in headers:
        names = dict.fromkeys(n for entry in header.entries if not entry.owner for n in entry.names)
        shown = ", ".join(f"[`{name}`]({links.targets[name]})" for name in names)
        parts.append(f"[{header.path}]({_page(header)})\n:   {_summary(header)} {shown}\n")
    return "\n".join(parts)


def _summary(header: Header) -> str:
    """The first sentence of the essay, without the name that it begins with."""
    first = re.split(r"(?<=[.?!])\s", " ".join(header.essay.split()), maxsplit=1)[0]
    text = re.sub(r"^\w+: ", "", first)
    return _escaped(text[0].upper() + text[1:])


def _text(header: Header, links: Links) -> str:
    own = tuple(name for entry in header.entries if not entry.owner for name in entry.names)
    include = _code(f'#include "depfast/{header.path}"', links, ())
    parts = [f"# {header.path.name}", include, _prose(header.essay, links, own)]
    in_section = False
    used: Counter[str] = Counter()
    for entry in header.entries:
        used[_anchor(entry)] += 1
        again = f"-{used[_anchor(entry)]}" if used[_anchor(entry)] > 1 else ""
        in_section = bool(entry.owner) and (in_section or not entry.code)
        level = 2 + bool(entry.owner) + (in_section and bool(entry.code))
        parts += _entry(entry, level, _anchor(entry) + again, links)
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(entry: Entry, level: int, anchor: str, links: Links) -> list[str]:
    if not entry.code:
        return [f"{'#' * level} {entry.comment} {{#{anchor}}}"]
    own = (*entry.names, entry.owner)
    titles = [_title(name, entry) for name in entry.names]
    heading = f"{'#' * level} {_escaped(', '.join(titles))} {{#{anchor}}}"
    code = f"{entry.code.removesuffix(' {')};" if entry.is_class else entry.code
    return [heading if titles else "", _code(code, links, own), _prose(entry.comment, links, own)]


def _title(name: str, entry: Entry) -> str:
    inherited = entry.code.startswith("using ") and f"{name}::{name};" in entry.code
    return "Constructor" if inherited or name == entry.owner else name


def _anchor(entry: Entry) -> str:
    name = entry.names[0] if entry.code and entry.names else entry.comment
    return re.sub(r"[^\w.]+", "-", f"{entry.owner}.{name}" if entry.owner else name)


def _page(header: Header) -> str:
    return header.path.with_suffix(".md").as_posix()


def _code(text: str, links: Links, own: tuple[str, ...]) -> str:
    """Highlighted C++ in which public names are links: HTML, which Markdown passes through."""

    def linked(match: re.Match[str]) -> str:
        target = links.of(match[2], own)
        if target is None:
            return match[0]
        return f'{match[1]}<a href="{target.replace(".md", ".html")}">{match[2]}</a>{match[3]}'

    marked = highlight(text, CppLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    inner = HIGHLIGHTED_NAME.sub(linked, marked)
    # The empty span keeps a line that begins with a blank from being taken for layout.
    return f'<div class="highlight"><pre><span></span><code>{inner}\n</code></pre></div>'


def _prose(text: str, links: Links, own: tuple[str, ...]) -> str:
    """A comment as Markdown: an indented block is an example, and known names become links."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        if lines and all(line.startswith("  ") for line in lines):
            blocks.append(_code("\n".join(line[2:] for line in lines), links, own))
            continue
        for part in re.split(r"\n(?=- |Requires: )", block):
            blocks.append(_sentences(" ".join(part.split()), links, own))
    return "\n\n".join(blocks)


def _sentences(text: str, links: Links, own: tuple[str, ...]) -> str:
    def linked(match: re.Match[str]) -> str:
        target = links.of(match[1], own)
        if target is None or _may_be_a_word(match[0], text[: match.start()]):
            return match[0]
        return f"[{match[0]}]({target})"

    text = IDENTIFIER.sub(linked, text)
    # Keeps spans of code and links, and escapes everything else that is Markdown markup.
    parts = re.split(r"(`[^`]+`|\[[^]]+\]\([^)]+\))", text)
    escaped = (part if number % 2 else _escaped(part) for number, part in enumerate(parts))
    text = re.sub(r"\bRequires:", "**Requires:**", "".join(escaped))
    return DOCUMENT.sub(rf"[\1]({links.to('../sources.md')}#document-\2)", text)


def _may_be_a_word(name: str, before: str) -> bool:
    """`Bytes` that begins a sentence need not be the type of that name."""
    begins_sentence = not before.strip() or before.rstrip()[-1] in ".:!?"
    return begins_sentence and sum(letter.isupper() for letter in name) == 1 and name[0] != "`"


def _escaped(text: str) -> str:
    return MARKDOWN_CHARACTER.sub(r"\\\1", html.escape(text, quote=False))
