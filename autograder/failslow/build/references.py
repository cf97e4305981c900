"""The headers of a submission must not change given code.

Some sources of the kit include submitted headers. An overload there, a label, or a nearer name
could send the kit's own calls elsewhere. So such a source is compiled twice without inlining: with
the submitted headers, and with the starter's. Each function must refer to the same names in both,
apart from members of the starter's classes, and from the standard library's templates over them.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from failslow.base import process
from failslow.build.macros import NO_CODE

DEMANGLER = "c++filt"
"""A program of binutils, as the linker is."""
DEMANGLE_S = 10.0

WORDS = ("-O0", "-g0", "-w", "-ffunction-sections", "-D__OPTIMIZE__=1", "-U__NO_INLINE__")
"""No header can tell this compilation from the one that counts."""

_CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?(?::[^;{}]*)?\{")
_OF_THE_COMPILER = re.compile(
    r"_GLOBAL__|_Z\d+__static_init|_Unwind_|__gxx_|__cxa_|__clang_|_ZSt9terminate"
)

_ELF64 = b"\x7fELF\x02\x01"
_SYMTAB, _RELA = 2, 4
_FUNCTION, _SECTION = 2, 3
_WEAK = 2
_WRITE_AND_ALLOC = 3
_ABSOLUTE, _RESERVED = 0xFFF1, range(0xFF00, 0xFFFF)


@dataclass(frozen=True)
class Function:
    """`binding`: local, global or weak, as ELF numbers them."""

    binding: int
    refers_to: frozenset[str]


def classes_in(headers: Iterable[str]) -> frozenset[str]:
    return frozenset(name for text in headers for name in _CLASS.findall(NO_CODE.sub(" ", text)))


def first_change(starter: bytes, submitted: bytes, classes: frozenset[str]) -> str:
    """The mangled name of a given function that the submitted headers change; "" if there is none.

    Both are objects that were compiled with WORDS."""
    theirs = functions(submitted)
    for name, given in functions(starter).items():
        if _OF_THE_COMPILER.match(name) or _is_students(name, classes):
            continue
        now = theirs.get(name)
        if now is None and given.binding == _WEAK:
            continue  # inline, for the student's class alone: else its caller changes, too
        if now is None or now.binding != given.binding:
            return name
        missing = given.refers_to - now.refers_to
        added = now.refers_to - given.refers_to
        if any(not _is_students(each, classes) for each in missing):
            return name
        if any(not _is_students(each, classes) and not _is_standard(each) for each in added):
            return name
    return ""


def readable(mangled: str) -> str:
    """The name as C++ spells it; the mangled name itself where nothing tells."""
    try:
        done = process.run([DEMANGLER, mangled], timeout_s=DEMANGLE_S)
    except OSError:
        return mangled
    return done.output.strip() if done.exit_code == 0 else mangled


def _is_students(name: str, classes: frozenset[str]) -> bool:
    """Whether it is a member of one of the classes, or a standard template over one."""
    scopes, arguments = _words_of(name)
    if not classes.isdisjoint(scopes):
        return True
    return _is_standard(name) and not classes.isdisjoint(arguments)


def _is_standard(name: str) -> bool:
    return re.match(r"_Z(?:[GT]\w)?Z*N?[KVRO]*(?:S[tabsiod]|9__gnu_cxx)", name) is not None


def _words_of(mangled: str) -> tuple[list[str], list[str]]:
    """The scopes of a function's name, without its parameters, and the words of its template
    arguments (Itanium C++ ABI, 5.1). Substitutions are of no use here: the first mention of a word
    is always spelled."""
    found = re.match(r"_Z(?:T[A-Z]|GV|Th?n?\d+_)?Z*", mangled)
    scopes: list[str] = []
    arguments: list[str] = []
    groups: list[str] = []
    at = found.end() if found else len(mangled)
    while at < len(mangled):
        letter = mangled[at]
        if letter.isdigit():
            digits = re.compile(r"\d+").match(mangled, at)
            assert digits
            at = digits.end() + int(digits[0])
            inner = any(group != "N" for group in groups)
            (arguments if inner else scopes).append(mangled[digits.end() : at])
        elif letter in "NIXJF" or (letter == "L" and groups and groups[-1] != "N"):
            groups.append(letter)
            at += 1
        elif mangled.startswith("Ul", at):
            groups.append("U")
            at += 2
        elif letter == "E":
            if groups:
                groups.pop()
            at += 1
        elif letter in "ST" and (more := re.compile(r"S[a-z]|[ST][0-9A-Z]*_").match(mangled, at)):
            at = more.end()
            if not groups and letter == "S" and mangled[at : at + 1].isdigit():
                continue  # St3max
        else:
            at += 2 if letter in "CD" else 1
            if not groups and letter in "LKVRO":
                continue
        if not groups and mangled[at : at + 1] != "I":
            break
    return scopes, arguments


def functions(elf: bytes) -> dict[str, Function]:
    """The functions of an object for 64 bits, little endian, each in a section of its own."""
    with _readable(elf):
        return dict(_functions(elf))


def undefined(elf: bytes) -> frozenset[str]:
    """The names that an object uses and leaves to others."""
    with _readable(elf):
        return frozenset(each.name for each in _symbols(elf, _sections(elf)) if each.index == 0)


def static_bytes(elf: bytes) -> int:
    """The size of an object's variables of static storage, of threads and without a section, too.
    Tables of virtual functions count, as they are written once."""
    with _readable(elf):
        sections = _sections(elf)
        symbols = _symbols(elf, sections)
        common = [each for each in symbols if each.index in _RESERVED and each.index != _ABSOLUTE]
        written = [each for each in sections if each.flags & 3 == _WRITE_AND_ALLOC]
        return sum(each.size for each in common) + sum(each.size for each in written)


@contextmanager
def _readable(elf: bytes) -> Iterator[None]:
    if not elf.startswith(_ELF64):
        raise ValueError("not an object for 64 bits")
    try:
        yield
    except (struct.error, IndexError) as error:
        raise ValueError("a damaged object") from error


def _functions(elf: bytes) -> Iterator[tuple[str, Function]]:
    sections = _sections(elf)
    symbols = _symbols(elf, sections)
    refers: dict[int, set[str]] = {}
    for section in sections:
        if section.kind != _RELA:
            continue
        for at in range(section.offset, section.offset + section.size, 24):
            symbol = symbols[struct.unpack_from("<Q", elf, at + 8)[0] >> 32]
            name = symbol.name
            if symbol.kind == _SECTION and symbol.index < len(sections):
                name = sections[symbol.index].name
            if (
                name
                and not name.startswith((".rodata", ".LC"))
                and not _OF_THE_COMPILER.match(name)
            ):
                refers.setdefault(section.info, set()).add(name.removeprefix(".text."))
    for symbol in symbols:
        if symbol.kind == _FUNCTION and 0 < symbol.index < len(sections):
            yield symbol.name, Function(symbol.binding, frozenset(refers.get(symbol.index, ())))


@dataclass(frozen=True)
class _Section:
    kind: int
    name: str
    flags: int
    offset: int
    size: int
    link: int
    info: int


@dataclass(frozen=True)
class _Symbol:
    """`index`: of its section; 0 if the object does not define it."""

    name: str
    kind: int
    binding: int
    index: int
    size: int


def _symbols(elf: bytes, sections: list[_Section]) -> list[_Symbol]:
    found = []
    for section in sections:
        if section.kind != _SYMTAB:
            continue
        names = sections[section.link].offset
        for at in range(section.offset, section.offset + section.size, 24):
            name, info, _, index, _, size = struct.unpack_from("<IBBHQQ", elf, at)
            found.append(_Symbol(_text(elf, names + name), info & 15, info >> 4, index, size))
    return found


def _sections(elf: bytes) -> list[_Section]:
    (begin,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    first = struct.unpack_from("<IIQQQQIIQQ", elf, begin)
    # With 65,280 sections or more, the first one says how many, and where their names are.
    count, names = count or first[5], first[6] if names == 0xFFFF else names
    raw = [struct.unpack_from("<IIQQQQIIQQ", elf, begin + i * size) for i in range(count)]
    texts = raw[names][4]
    return [_Section(r[1], _text(elf, texts + r[0]), r[2], r[4], r[5], r[6], r[7]) for r in raw]


def _text(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode("latin-1")
