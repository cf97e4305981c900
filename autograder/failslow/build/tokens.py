"""The headers of a submission must not have words that change the names or calls of given code.

Such words are searched in the tokens that the compiler reads (gcc -E): lines are joined, macros of
any header expanded, comments gone, and digraphs have their usual spelling. Blanks mean nothing.
Only attributes of the standard that change no call are allowed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from failslow.build import macros

WORDS = ("-E",)

ATTRIBUTES = {"deprecated", "fallthrough", "likely", "maybe_unused", "no_unique_address"}
ATTRIBUTES |= {"nodiscard", "unlikely"}
"""A function that does not return ends its caller, so [[noreturn]] is none of them."""
PRAGMAS = re.compile(r"once\b|(?:GCC|clang)\s+diagnostic\b")
REFUSED = {"asm", "__asm", "__asm__", "__attribute", "__attribute__"}

TEXT_MAX = 8 << 20
"""The limit of submitted text, macros expanded: a submission has 1 MiB a file."""

_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#"}
_TOKEN = re.compile(
    r"^[ \t]*(?P<pragma>(?:#|%:)[^\n]*)"
    r'|(?:u8|[uUL])?R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'|\b\d(?:'?\w)*|[^\W\d]\w*"
    r"|<::(?=[^:>])|<:|:>|<%|%>|::|\S",
    re.S | re.M,
)


@dataclass(frozen=True)
class Token:
    text: str
    file: str
    line: int


def refused(preprocessed: str, given: str) -> str:
    """A sentence on the first word that no header may have; "" if there is none.

    `preprocessed`: of a given source, by WORDS. `given`: the directory of the kit's files."""
    pieces = [each for each in macros.pieces(preprocessed) if not macros.is_ours(each[0], given)]
    if sum(len(text) for *_, text in pieces) > TEXT_MAX:
        return "the headers are too long"
    tokens = list(_tokens(pieces))
    for at, token in enumerate(tokens):
        if word := _refused_at(tokens, at):
            place = f"{token.file.removeprefix('./')}:{token.line}"
            return f"{place}: '{word}': not in a header that given code includes: use a .cc file"
    return ""


def _tokens(pieces: Iterable[tuple[str, int, str]]) -> Iterator[Token]:
    """In the order of reading."""
    for file, first, text in pieces:
        line, counted = first, 0
        for found in _TOKEN.finditer(text):
            line += text.count("\n", counted, found.start())
            counted = found.start()
            if found[0] == "<::":  # as in vector<::Name>: no bracket
                yield Token("<", file, line)
                yield Token("::", file, line)
                continue
            spelled = found["pragma"] or found[0]
            yield Token(_DIGRAPHS.get(spelled, spelled), file, line)


def _refused_at(tokens: Sequence[Token], at: int) -> str:
    """The word that begins there, if it is refused."""
    text = tokens[at].text
    after = [token.text for token in tokens[at + 1 : at + 3]]
    if text in REFUSED:
        return text
    if text[0] in "#%" and len(text) > 1:
        directive = text.lstrip("#%: \t")
        is_usual = directive.startswith("pragma") and PRAGMAS.match(directive[6:].lstrip())
        return "" if is_usual else f"#{directive}"
    if text == "[" and after[:1] == ["["]:
        return _attribute(tokens, at + 2)
    if text == "operator" and after and after[0].endswith('"'):
        return 'operator""'
    if text == "template" and after == ["<", ">"]:
        return "template<>"
    if text in ("class", "struct", "union"):
        return _specialised(tokens, at)
    return ""


def _attribute(tokens: Sequence[Token], begin: int) -> str:
    """The first attribute of a list that is refused. `begin`: behind the brackets."""
    depth = 0
    begins = True
    for at in range(begin, len(tokens)):
        text = tokens[at].text
        if text == "]" and depth == 0:
            return ""
        if begins and text != ",":
            words = [token.text for token in tokens[at : at + 3]]
            if text not in ATTRIBUTES or words[1:2] == ["::"]:
                return f"[[{' '.join(words)}"
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        begins = depth == 0 and text == ","
    return ""


def _specialised(tokens: Sequence[Token], at: int) -> str:
    """The head of a class with template arguments: it has another body, and the same name."""
    words = [tokens[at].text]
    depth = 0
    for token in tokens[at + 1 : at + 64]:
        if depth == 0 and token.text == "<":
            return " ".join(words) + "<"
        depth += (token.text == "(") - (token.text == ")")  # of alignas
        is_name = token.text == "::" or token.text[0] == "_" or token.text[0].isalpha()
        if depth == 0 and not is_name and token.text != ")":
            return ""
        words.append(token.text)
    return ""
