"""Writes the handbook's reference: one Markdown page per public header.

The pages are made from the headers at each build and not committed, so that they cannot differ
from what a student compiles against.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

from failslow import atomic
from failslow.errors import CannotDo
from failslow.site.headers import Class, Entry, Header, read_header

INCLUDE = "depfast"

IDENTIFIER = re.compile(r"(?<![\w:.])[A-Z]\w*(?:::[A-Z]\w*)?")
HIGHLIGHTED_NAME = re.compile(r'(<span class="(?:n|nc|nf|fm)">)(\w+)(</span>)')
DOCUMENT = re.compile(r"\b([Dd]ocument (00\d))\b")
REQUIRES = re.compile(r"\bRequires:")
MARKDOWN_CHARACTER = re.compile(r"([\\*_\[\]{}#|`])")
CODE_SPAN = re.compile(r"(`[^`]+`)")


@dataclass(frozen=True)
class Links:
    """Where public names are explained, as links from one page of the reference to another."""

    targets: dict[str, str]

    def of(self, name: str, without: Sequence[str]) -> str | None:
        """None for a name that is not public, or is one of those that need no link here."""
        return None if name in without else self.targets.get(name)


def generate(headers: Path, pages: Path) -> list[Header]:
    """Writes a page for every header and an index. Removes pages of headers that are gone."""
    paths = sorted(headers.glob("*.h"))
    if not paths:
        raise CannotDo(f"no public header in {headers}")
    read = [read_header(path) for path in paths]
    links = links_to(read)
    wanted = {_page(header): page(header, links) for header in read}
    wanted["index.md"] = index(read, links)
    for old in pages.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        file = pages / name
        # A page that is written anew makes `mkdocs serve` load all pages anew.
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            atomic.write_text(file, text)
    return read


def links_to(headers: Sequence[Header]) -> Links:
    """By name, members as `Class::Member`; of two equal names (overloads) the first is meant."""
    targets: dict[str, str] = {}
    for header in headers:
        for item in header.items:
            for name in _names(item):
                targets.setdefault(name, f"{_page(header)}#{_anchor(_names(item)[0])}")
            for member in item.entries if isinstance(item, Class) else ():
                for name in member.names:
                    anchor = _anchor(item.name, member.names[0])
                    targets.setdefault(f"{item.name}::{name}", f"{_page(header)}#{anchor}")
    return Links(targets)


def index(headers: Sequence[Header], links: Links) -> str:
    introduction = """# Reference

What a replica's code may use: the headers in `framework/include/depfast/`, one page each. The
pages are made from the headers, whose comments are the contracts. On these pages a comment follows
the declarations that it speaks of.
"""
    entries = [
        f"[{header.name}]({_page(header)})\n:   {_summary(header)} {_contents(header, links)}\n"
        for header in headers
    ]
    return "\n".join([introduction, *entries])


def page(header: Header, links: Links) -> str:
    own = [name for item in header.items for name in _names(item)]
    parts = [
        f"# {header.name}",
        code(f'#include "{INCLUDE}/{header.name}"', links),
        prose(header.essay, links, own),
    ]
    for item in header.items:
        parts += _class(item, links) if isinstance(item, Class) else _entry(item, links)
    return "\n\n".join(part for part in parts if part) + "\n"


def prose(text: str, links: Links, without: Sequence[str] = ()) -> str:
    """A comment as Markdown: known names become links, everything else stays as it is written."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        if all(line.startswith("  ") for line in block.splitlines()):
            blocks.append(code(_dedented(block), links, without))
        else:
            blocks += _paragraphs(block, links, without)
    return "\n\n".join(blocks)


def code(text: str, links: Links, without: Sequence[str] = ()) -> str:
    """Highlighted C++ in which public names are links: HTML, which Markdown passes through."""
    marked = highlight(text, CppLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")

    def linked(match: re.Match[str]) -> str:
        target = links.of(match[2], without)
        if target is None:
            return match[0]
        return f'{match[1]}<a href="{_as_html(target)}">{match[2]}</a>{match[3]}'

    inner = HIGHLIGHTED_NAME.sub(linked, marked)
    # The empty span keeps a line that begins with a blank from being taken for layout.
    return f'<div class="highlight"><pre><span></span><code>{inner}\n</code></pre></div>'


def _class(item: Class, links: Links) -> list[str]:
    own = (item.name,)
    parts = [
        f"## {item.name} {{#{_anchor(item.name)}}}",
        code(f"{item.code};", links, own),
        prose(item.comment, links, own) if item.comment else "",
        "" if item.copyable else "Cannot be copied.",
    ]
    for section in item.sections:
        if section.heading:
            heading = section.heading[0].upper() + section.heading[1:]
            parts.append(f"### {heading} {{#{_anchor(item.name, section.heading)}}}")
        for entry in section.entries:
            parts += _entry(entry, links, item, level=4 if section.heading else 3)
    return parts


def _entry(entry: Entry, links: Links, member_of: Class | None = None, level: int = 2) -> list[str]:
    names = [_title(name, entry, member_of) for name in entry.names]
    anchor = _anchor(*([member_of.name] if member_of else []), entry.names[0])
    own = (*entry.names, *([member_of.name] if member_of else []))
    return [
        f"{'#' * level} {_escaped(', '.join(names))} {{#{anchor}}}",
        code(entry.code, links, own),
        prose(entry.comment, links, own) if entry.comment else "",
    ]


def _title(name: str, entry: Entry, member_of: Class | None) -> str:
    inherited = f"using {name}::{name};" in entry.code
    is_constructor = member_of is not None and name == member_of.name
    return "Constructor" if inherited or is_constructor else name


def _paragraphs(block: str, links: Links, without: Sequence[str]) -> list[str]:
    """One per list item, and one for each `Requires:` that begins a line."""
    starts = re.split(r"\n(?=- |Requires: )", block)
    joined = (" ".join(line.strip() for line in start.splitlines()) for start in starts)
    return [_sentences(text, links, without) for text in joined]


def _sentences(text: str, links: Links, without: Sequence[str]) -> str:
    """Inline text. Spans of code are left alone, unless they are nothing but a name."""
    parts = []
    for part in CODE_SPAN.split(text):
        if part.startswith("`") and part.endswith("`") and len(part) > 2:
            target = links.of(part[1:-1], without)
            parts.append(f"[{part}]({target})" if target else part)
        else:
            parts.append(_linked(part, links, without))
    return "".join(parts)


def _linked(text: str, links: Links, without: Sequence[str]) -> str:
    done = 0
    parts = []
    for match in IDENTIFIER.finditer(text):
        target = links.of(match[0], without)
        if target is None or _may_be_a_word(match[0], text[: match.start()]):
            continue
        parts.append(_escaped(text[done : match.start()]))
        parts.append(f"[{_escaped(match[0])}]({target})")
        done = match.end()
    parts.append(_escaped(text[done:]))
    text = REQUIRES.sub("**Requires:**", "".join(parts))
    return DOCUMENT.sub(r"[\1](../sources.md#document-\2)", text)


def _may_be_a_word(name: str, before: str) -> bool:
    """`Bytes` that begins a sentence need not be the type of that name."""
    begins_sentence = not before.strip() or before.rstrip()[-1] in ".:!?"
    return begins_sentence and sum(letter.isupper() for letter in name) == 1


def _summary(header: Header) -> str:
    """The first sentence of the essay, without the name that it begins with."""
    first = re.split(r"(?<=[.?!])\s", " ".join(header.essay.split()), maxsplit=1)[0]
    text = re.sub(r"^\w+: ", "", first)
    return _escaped(text[0].upper() + text[1:])


def _contents(header: Header, links: Links) -> str:
    names = [name for item in header.items for name in _names(item)]
    shown = [f"[`{name}`]({links.targets[name]})" for name in dict.fromkeys(names)]
    return ", ".join(shown)


def _names(item: Entry | Class) -> tuple[str, ...]:
    return (item.name,) if isinstance(item, Class) else item.names


def _page(header: Header) -> str:
    return f"{Path(header.name).stem}.md"


def _anchor(*names: str) -> str:
    return re.sub(r"[^\w.]+", "-", ".".join(names))


def _as_html(target: str) -> str:
    return html.escape(target.replace(".md", ".html"))


def _escaped(text: str) -> str:
    return MARKDOWN_CHARACTER.sub(r"\\\1", html.escape(text, quote=False))


def _dedented(block: str) -> str:
    margin = min(len(line) - len(line.lstrip()) for line in block.splitlines())
    return "\n".join(line[margin:] for line in block.splitlines())
