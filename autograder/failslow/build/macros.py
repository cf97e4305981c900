"""Macros of a submission must not change given code.

Some sources of the kit include submitted headers: a driver makes the student's object and reports
what it did. A macro in such a header could rename the driver's functions, or the words of a header
that it includes next. The compiler would see other code than the kit's.

The compiler's own list of directives tells which macro is defined where, and in which order files
are read (gcc -E -fdirectives-only -dD). A name is refused if given code uses it after a submission
has defined it, or asks for it in a condition. Of what a submission says, too much counts rather
than too little: a #define in a comment, and one that an #undef ends.
"""

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

WORDS = ("-E", "-fdirectives-only", "-dD")
BYTES_MAX = 64 << 20
"""The limit of a preprocessed source: ours have 3 MB."""

SYSTEM = ("/usr/", "<")
SUBMITTED = "build/submission"
"""Prefix of the paths of built submissions: see Kit.submissions."""
ALWAYS_ASKED = {"NDEBUG": "assert.h"}

SPLICE = re.compile(rb"\\[ \t\r\f\v\0]*\n")
"""Joins two lines; compilers take it with blanks, too."""

# Submitted text may be a megabyte of anything: none of these looks at a character twice.
_BLANK = r"[ \t\r\f\v\0]"
_MAY = re.compile(rb"define|undef|_Pragma|_macro")
_FORGED = re.compile(
    rf"(?:^|\*/){_BLANK}*(?:#|%:){_BLANK}*(?:\d|line\b)"
    rf"|(?:#|%:){_BLANK}*/\*|(?:define|undef){_BLANK}*/\*"
    r"|(?:push|pop)_macro|_Pragma\b(?!\s*\(\s*\"(?:GCC|clang|once)\b)",
    re.M,
)
_MARKER = re.compile(r'^# (?P<line>\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.M)
_DIRECTIVE = re.compile(rf"(?:#|%:){_BLANK}*(define|undef){_BLANK}+([^\W\d]\w*)(\(?)")
NO_CODE = re.compile(
    r'R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"'
    r"|\b\d(?:'?\w)*|'(?:[^'\\\n]|\\.)*'|^#(?:define|undef) \w+",
    re.S | re.M,
)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b((?:[^\n]|\\\n)*)$", re.M)
_NAME = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"\s*\(")


def may_define(contents: Iterable[bytes]) -> bool:
    """False if no macro can be defined there: most submissions have none."""
    return any(_MAY.search(SPLICE.sub(b"", content)) for content in contents)


def can_list(compiler: str) -> bool:
    """Whether the compiler knows WORDS: GCC does, by which submissions are graded. Clang does not.
    It compiles for a student's own debugging."""
    return "clang" not in Path(compiler).resolve().name


def forged(files: Mapping[str, bytes]) -> str:
    """A sentence on a line that deceives the list of directives; "" if there is none."""
    for name, content in files.items():
        if name.endswith(".o"):  # the course's
            continue
        for each in (content, SPLICE.sub(b"", content)):
            if found := _FORGED.search(each.decode("utf-8", "replace")):
                what = " ".join(found[0].split())
                return f"{name}: '{what}': no line number, pushed macro or comment in a directive"
    return ""


def first_change(preprocessed: str, given: str) -> str:
    """A sentence on the first macro of a submission that changes given code; "" if none does.

    `given`: the directory of the kit's files. Files in other directories than this and the
    system's are submitted."""
    objects: dict[str, str] = {}  # the file of each macro without arguments, by name
    functions: dict[str, str] = {}
    ours: dict[str, str] = {}
    read: dict[str, None] = {}
    for file, _, text in pieces(preprocessed):
        if not is_ours(file, given):
            for directive, name, has_arguments in _DIRECTIVE.findall(text):
                ours[name] = file
                if directive == "define":
                    (functions if has_arguments else objects)[name] = file
            continue
        read[file] = None
        if name := _used(objects, functions, text):
            return _sentence(ours[name], name, file)
    return _asked(ours, read, given)


def is_ours(file: str, given: str) -> bool:
    """Whether it is the kit's or the system's."""
    if file.startswith(f"{given}/{SUBMITTED}"):
        return False
    return file.startswith((f"{given}/", *SYSTEM))


def _asked(ours: Mapping[str, str], read: Iterable[str], given: str) -> str:
    """The names in the conditions of the files that were read. In the system's files only reserved
    names count: a submission's macro often has one of the other names by chance."""
    if not ours:
        return ""
    asked = dict(ALWAYS_ASKED)
    reserved = any(name.startswith("_") for name in ours)
    for file in read:
        if file.startswith(f"{given}/"):
            asked |= dict.fromkeys(_conditions(file), file)
        elif reserved:
            asked |= {name: file for name in _conditions(file) if name.startswith("_")}
    name = next((each for each in ours if each in asked), "")
    return _sentence(ours[name], name, asked[name]) if name else ""


def _sentence(header: str, name: str, file: str) -> str:
    place = f"{header.removeprefix('./')}: the macro '{name}'"
    return f"{place} would change given code ({Path(file).name}): give it another name"


def pieces(preprocessed: str) -> Iterator[tuple[str, int, str]]:
    """Files, lines and their texts in the order of reading: a piece up to each #include, and behind
    it. Only the marks of an #include (1) and of its end (2) change the file."""
    stack: list[str] = []
    begin, line = 0, 1
    for marker in _MARKER.finditer(preprocessed):
        if stack:
            yield stack[-1], line, preprocessed[begin : marker.start()]
        begin, line = marker.end() + 1, int(marker["line"])
        flags = marker[3].split()
        if "1" in flags or not stack:
            absolute = marker[2].startswith("/")
            stack.append(os.path.normpath(marker[2]) if absolute else marker[2])
        elif "2" in flags and len(stack) > 1:
            stack.pop()
    if stack:
        yield stack[-1], line, preprocessed[begin:]


def _used(objects: Mapping[str, str], functions: Mapping[str, str], text: str) -> str:
    """The first macro that the code of a text uses; "" if it uses none."""
    if not objects and not functions:
        return ""
    names = set(_NAME.findall(text))
    if names.isdisjoint(objects) and names.isdisjoint(functions):
        return ""
    code = NO_CODE.sub(" ", text)
    for found in _NAME.finditer(code):
        name = found[0]
        if name in objects or (name in functions and _CALL.match(code, found.end())):
            return name
    return ""


@lru_cache(maxsize=4096)
def _conditions(file: str) -> frozenset[str]:
    """The names in the conditions of a file that is not submitted."""
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    return frozenset(name for line in _CONDITION.findall(text) for name in _NAME.findall(line))
