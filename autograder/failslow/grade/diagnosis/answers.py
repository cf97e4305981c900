"""Reads a file of answers: a small part of YAML, line by line.

A line that makes no sense costs its own answer and no other: a YAML parser would give up the whole
file. There are labels, `field: value`, quotes, comments, and the fingerprint of the material.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from failslow.grade.diagnosis.vocabulary import NONE, REPLICAS, labels
from failslow.lab.labs import Lab

BYTES_MAX = 1 << 14
COMPLAINTS_MAX = 20
SHOWN_MAX = 40

VARIANT, REPLICA, COROUTINE, WAIT, CAUSE, EVIDENCE = (
    "variant",
    "replica",
    "coroutine",
    "wait",
    "cause",
    "evidence",
)
FIELDS = (VARIANT, REPLICA, COROUTINE, WAIT, CAUSE, EVIDENCE)

LABEL_LINE = re.compile(r"(\S+):(?:\s+#.*)?\s*", re.ASCII)
FIELD_LINE = re.compile(r"\s+(\S+?):(?:\s+(.*))?", re.ASCII)
VALUE = re.compile(r"""(?:'([^']*)'|"([^"\\]*)"|([A-Za-z0-9][\w./-]*))(?:\s+#.*)?\s*""", re.ASCII)
MATERIAL_LINE = re.compile(r"material:(?:\s+([0-9a-f]*))?(?:\s+#.*)?\s*", re.ASCII)
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
REFERENCE = re.compile(r"([A-Z])/(healthy|slow)/[weo][1-9][0-9]{0,3}")


@dataclass
class Answers:
    """The well-formed answers, by label and field, and complaints: one line each. `material`: the
    fingerprint of what was diagnosed; "" if the file does not say."""

    by_label: dict[str, dict[str, str]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    material: str = ""


def read(content: bytes, name: str, lab: Lab) -> Answers:
    """The answers in the contents of the file `name`. Requires: the lab has a diagnosis."""
    if len(content) > BYTES_MAX:
        return Answers({}, [f"{name}: larger than {BYTES_MAX >> 10} KiB, so nothing of it is read"])
    reader = _Reader(name, lab)
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        reader.take(number, line.removesuffix(b"\r"))
    return reader.end()


class _Reader:
    def __init__(self, name: str, lab: Lab) -> None:
        assert lab.diagnosis is not None
        self._name = name
        self._labels = labels(lab)
        self._words = {VARIANT: lab.diagnosis.variants, CAUSE: (*lab.diagnosis.causes, NONE)}
        self._label: str | None = None
        self._skipping = False  # the fields of an unknown label
        self._begun: dict[str, int] = {}  # the line of each label
        self._lines: dict[tuple[str, str], int] = {}  # of each field
        self._answers = Answers()

    def take(self, number: int, raw: bytes) -> None:
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            return self._complain(number, "not UTF-8")
        if not line.strip() or line.lstrip().startswith("#") or line.rstrip() == "---":
            return None
        if found := MATERIAL_LINE.fullmatch(line):
            self._answers.material = found[1] or ""
            return None
        if found := LABEL_LINE.fullmatch(line):
            return self._begin(number, found[1])
        if found := FIELD_LINE.fullmatch(line):
            return self._answer(number, found[1], found[2] or "")
        return self._complain(
            number, f"{_shown(line)} is neither 'LABEL:' nor an indented 'field: value'"
        )

    def end(self) -> Answers:
        for label in self._labels:
            missing = [name for name in FIELDS if (label, name) not in self._lines]
            if label not in self._begun:
                self._complain(None, f"there is no '{label}:'")
            elif missing:
                self._complain(self._begun[label], f"{label} has no answer to {', '.join(missing)}")
        complaints = self._answers.complaints
        if len(complaints) > COMPLAINTS_MAX:
            more = len(complaints) - COMPLAINTS_MAX
            complaints[COMPLAINTS_MAX:] = [f"{self._name}: and {more} more such lines"]
        return self._answers

    def _begin(self, number: int, label: str) -> None:
        self._skipping = label not in self._labels
        self._label = None if self._skipping else label
        if self._skipping:
            last = self._labels[-1]
            self._complain(number, f"{_shown(label)} is no label (A to {last}); its lines are lost")
        elif label in self._begun:
            self._complain(number, f"{label} begins again; line {self._begun[label]} has begun it")
        else:
            self._begun[label] = number
            self._answers.by_label[label] = {}

    def _answer(self, number: int, name: str, text: str) -> None:
        if self._skipping:
            return None
        if self._label is None:
            return self._complain(number, f"{_shown(name)} belongs to no label")
        if name not in FIELDS:
            return self._complain(number, f"{_shown(name)} is no field ({', '.join(FIELDS)})")
        if not text.strip() or text.startswith("#"):
            return None
        known = self._answers.by_label[self._label]
        place = (self._label, name)
        if place in self._lines:
            known.pop(name, None)
            earlier = self._lines[place]
            return self._complain(
                number, f"{name} is answered in line {earlier}, too: both are lost"
            )
        self._lines[place] = number
        found = VALUE.fullmatch(text)
        value = next((each for each in found.groups() if each is not None), "") if found else None
        if value is None or (problem := self._problem(name, value)):
            why = problem if value is not None else "not a plain word"
            return self._complain(number, f"{name}: {_shown(text)} is {why}")
        known[name] = value
        return None

    def _problem(self, name: str, value: str) -> str:
        """Why this is no answer to the field, whatever the right one is; "" if it is one."""
        if name in self._words:
            words = self._words[name]
            return "" if value in words else f"none of {', '.join(words)}"
        if value == NONE:
            return ""
        if name == REPLICA:
            numbers = [str(number) for number in range(REPLICAS)]
            return "" if value in numbers else f"none of {', '.join(numbers)}, {NONE}"
        if name == EVIDENCE:
            found = REFERENCE.fullmatch(value)
            return (
                ""
                if found and found[1] == self._label
                else (
                    f"not the number of an observation of {self._label}, such as"
                    f" {self._label}/slow/w1"
                )
            )
        return "" if NAME.fullmatch(value) else "not a name"

    def _complain(self, number: int | None, text: str) -> None:
        where = f"{self._name}:{number}" if number else self._name
        self._answers.complaints.append(f"{where}: {text}")


def _shown(text: str) -> str:
    """On one line, short, and without control characters."""
    plain = ascii(text.strip())
    return plain if len(plain) <= SHOWN_MAX else f"{plain[: SHOWN_MAX - 4]}...'"


def as_text(answers: Sequence[tuple[str, dict[str, str]]], material: str = "") -> str:
    """The file with these answers, by label. `material`: its fingerprint, if it has one."""
    head = [f"material: {material}", ""] if material else []
    return "\n".join([*head, *(line for each in answers for line in _lines(*each))])


def _lines(label: str, fields: dict[str, str]) -> Iterator[str]:
    yield f"{label}:"
    for name in FIELDS:
        yield f"  {name}: {fields.get(name, '')}".rstrip()
    yield ""
