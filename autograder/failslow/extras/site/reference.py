"""The handbook's reference: a page for each public header, which shows the header, and an index.

The pages are made at each build and not committed. A header's comments are its contract, so its
text is the reference: students read the same in their editor.
"""

import html
import re
from pathlib import Path

from failslow.base.errors import CannotDo

ESSAY = re.compile(r"(?://.*\n)+")
"""The comment at the top of a header."""
PRIVATE = re.compile(r"\n? private:\n.*?(?=^};)", re.M | re.S)
"""To the end of a class that is not inside another."""
FIRST_SENTENCE = re.compile(r"(?:\w+: )?(.+?[.?!])(?:\s|$)")
MARKDOWN_CHARACTER = re.compile(r"([\\*_`\[\]{}#|])")
WIDE = "---\nhide:\n  - toc\n---\n"
"""A line of a header has up to 100 characters."""
INDEX = """# Reference

The headers that a replica's code may use, in `framework/include/depfast/`, one page each. Their
comments are the contracts.
"""


def pages(directory: Path) -> dict[str, str]:
    """The text of each page by its name, which is the header's path with `.md`."""
    headers = sorted(directory.rglob("*.h"), key=lambda path: (len(path.parts), path))
    if not headers:
        raise CannotDo(f"no public header in {directory}")
    texts = {path.relative_to(directory): path.read_text(encoding="utf-8") for path in headers}
    lines = [
        f"[{path}]({_page(path)})\n:   {_summary(path, text)}\n" for path, text in texts.items()
    ]
    return {
        "index.md": "\n".join([INDEX, *lines]),
        **{_page(path): _text(path, text) for path, text in texts.items()},
    }


def _text(path: Path, text: str) -> str:
    return f"{WIDE}# {path.name}\n\n```cpp\n{PRIVATE.sub('', text)}```\n"


def _page(path: Path) -> str:
    return path.with_suffix(".md").as_posix()


def _summary(path: Path, text: str) -> str:
    """The first sentence of the essay, without the name that it begins with."""
    essay = ESSAY.match(text)
    if essay is None:
        raise CannotDo(f"{path} does not begin with a comment that states its purpose")
    words = " ".join(essay[0].replace("//", " ").split())
    sentence = FIRST_SENTENCE.match(words)
    told = sentence[1] if sentence else words
    return MARKDOWN_CHARACTER.sub(r"\\\1", html.escape(told[0].upper() + told[1:], quote=False))
