"""Macros of a submission must not change given code.

Some sources of the kit include submitted headers: a driver makes the student's object and reports
what it did. A macro in such a header could rename the driver's functions, or the words of a header
that it includes next. The compiler would see other code than the kit's.

The compiler's own list of directives tells which macro is defined where, and in which order files
are read (gcc -E -fdirectives-only -dD). A name is refused if given code uses it after a submission
has defined it, or asks for it in a condition. An #undef changes nothing: the list does not have the
pragma that takes an old definition back.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

WORDS = ("-E", "-fdirectives-only", "-dD")
BYTES_MAX = 64 << 20
"""Of a preprocessed source: ours have 3 MB."""

_SPLICE = re.compile(rb"\\[ \t\r]*\n")
_MAY = re.compile(rb"define|undef")
_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.M)
_DIRECTIVE = re.compile(r"^(?:#|%:)[ \t]*(define|undef)[ \t]+(\w+)", re.M)
_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#(?:define|undef) \w+',
    re.S | re.M,
)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(.*)$", re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")


def may_define(contents: Iterable[bytes]) -> bool:
    """False if no macro can be defined there: most submissions have none."""
    return any(_MAY.search(_SPLICE.sub(b"", content)) for content in contents)


def first_change(
    preprocessed: str, is_submitted: Callable[[str], bool], is_given: Callable[[str], bool]
) -> str:
    """A sentence on the first macro of a submission that changes given code; "" if none does.

    `is_submitted`, `is_given`: of a file's name, as the preprocessor says it. What is neither is
    the system's: its code counts, too, but not its conditions."""
    active: dict[str, str] = {}
    asked: dict[str, str] = {}
    ours: dict[str, str] = {}
    for file, text in _pieces(preprocessed):
        if is_submitted(file):
            for directive, name in _DIRECTIVE.findall(text):
                ours[name] = file
                if directive == "define":
                    active[name] = file
            continue
        if is_given(file) and file not in asked.values():
            asked.update(dict.fromkeys(_asked_by(file), file))
        if name := _used(active, text):
            return _sentence(active[name], name, file)
    for name in ours.keys() & asked.keys():
        return _sentence(ours[name], name, asked[name])
    return ""


def _sentence(header: str, name: str, file: str) -> str:
    place = f"{header.removeprefix('./')}: the macro '{name}'"
    return f"{place} would change given code ({Path(file).name}): give it another name"


def _pieces(preprocessed: str) -> Iterator[tuple[str, str]]:
    """Files and their texts in the order of reading: a piece up to each #include, and behind it.

    A submitted #line changes what the preprocessor calls the file, and no file: only the marks of
    #include (1) and of its end (2) count."""
    stack: list[str] = []
    begin = 0
    for marker in _MARKER.finditer(preprocessed):
        if stack:
            yield stack[-1], preprocessed[begin : marker.start()]
        begin = marker.end()
        flags = marker[2].split()
        if "1" in flags or not stack:
            stack.append(marker[1])
        elif "2" in flags and len(stack) > 1:
            stack.pop()
    if stack:
        yield stack[-1], preprocessed[begin:]


def _used(active: dict[str, str], text: str) -> str:
    """The first active macro that the code of a text names; "" if none."""
    if not active:
        return ""
    wanted = re.compile(rf"\b(?:{'|'.join(map(re.escape, active))})\b")
    if not wanted.search(text):
        return ""
    found = wanted.search(_NO_CODE.sub(" ", text))
    return found[0] if found else ""


def _asked_by(file: str) -> list[str]:
    """The names in the conditions of a given file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError:
        return []
    return [name for line in _CONDITION.findall(text) for name in _NAME.findall(line)]
