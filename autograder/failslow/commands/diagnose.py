"""`kit diagnose`: makes the material of a diagnosis, or checks the form of answers to it."""

from pathlib import Path

from failslow import atomic, cmake, console, course_key
from failslow.course_key import CourseKey
from failslow.diagnosis import answers, course, material, runs
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.labs import Lab, load_labs


def run(kit: Kit, out: Path, check: Path | None = None, key: CourseKey | None = None) -> int:
    """0 when the material is written. Of a check: 0 when all answers can be read, 1 otherwise.

    Without a `key` the command looks for one.
    """
    lab = _lab(kit)
    if check is not None:
        return _check(lab, check)
    if out.exists() and not out.is_dir():
        raise CannotDo(f"--out: {out} is not a directory")
    key = key or course_key.find(kit)
    course.subjects(kit, lab, key)  # before a long build
    cmake.build(kit, targets=[cmake.DIAGNOSIS])
    page = material.write(kit, lab, key, out)
    console.note(f"Wrote {page}: open it in a browser")
    if key.mark:
        console.note(key.mark)
    return 0


def answers_of(kit: Kit, out: Path, key: CourseKey | None) -> int:
    """`kit release answers`: the right answers of a course, for its instructors."""
    lab = _lab(kit)
    if out.exists():
        raise CannotDo(f"{out} exists")
    cmake.build(kit, targets=[cmake.DIAGNOSIS])
    key = key or course_key.find(kit)
    atomic.write_text(out, material.right_answers(runs.observe(kit, lab, key)))
    out.chmod(0o600)
    console.note(f"Wrote {out}. Keep it secret.")
    if key.mark:
        console.note(key.mark)
    return 0


def _lab(kit: Kit) -> Lab:
    for lab in load_labs(kit).by_id.values():
        if lab.diagnosis:
            return lab
    raise CannotDo("no lab has a diagnosis")


def _check(lab: Lab, path: Path) -> int:
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
