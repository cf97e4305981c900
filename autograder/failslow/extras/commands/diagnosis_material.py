"""`kit diagnose` of instructors: makes the material, too. `kit release answers`."""

from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands.diagnose import check_form
from failslow.extras.diagnosis import material
from failslow.grade.diagnosis import course, runs, vocabulary
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import load_labs


def run(kit: Kit, out: Path, check: Path | None = None, key: CourseKey | None = None) -> int:
    """0 when the material is written. Of a check: 0 when all answers can be read, 1 otherwise.

    Without a `key` the command looks for one.
    """
    lab = vocabulary.lab_of(load_labs(kit))
    if check is not None:
        return check_form(lab, check)
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
    lab = vocabulary.lab_of(load_labs(kit))
    if out.exists():
        raise CannotDo(f"{out} exists")
    cmake.build(kit, targets=[cmake.DIAGNOSIS])
    key = key or course_key.find(kit)
    right = material.right_answers(runs.observe(kit, lab, key), course.fingerprint(key))
    atomic.write_text(out, right)
    out.chmod(0o600)
    console.note(f"Wrote {out}. Keep it secret.")
    if key.mark:
        console.note(key.mark)
    return 0
