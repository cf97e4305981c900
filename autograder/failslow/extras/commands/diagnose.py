"""`kit diagnose --check`: the form of answers to a diagnosis."""

from pathlib import Path

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.grade.diagnosis import answers, vocabulary
from failslow.lab.labs import Lab, load_labs


def run(kit: Kit, check: Path | None) -> int:
    """0 when all answers can be read, 1 otherwise. CannotDo without a file of answers."""
    if check is None:
        raise CannotDo("name your answers: --check FILE (your course hands out the material)")
    return check_form(vocabulary.lab_of(load_labs(kit)), check)


def check_form(lab: Lab, path: Path) -> int:
    """Says nothing about which answers are right."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CannotDo(f"cannot read {path}: {error.strerror}") from error
    complaints = answers.read(content, str(path), lab).complaints
    for line in complaints:
        print(line)
    if not complaints:
        console.note(f"{path}: every answer can be read")
    return 1 if complaints else 0
