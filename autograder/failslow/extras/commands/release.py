"""`kit release`: makes what a course needs of its own."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from failslow.base import console
from failslow.base.kit import Kit
from failslow.extras.release import convert, platforms
from failslow.extras.release import gradescope as zip_of_assignment
from failslow.extras.release import image as image_of_students
from failslow.extras.release import students as students_kit
from failslow.extras.release.assignment import Assignment
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import load_labs


def key(kit: Kit, out: Path | None) -> int:
    """Makes the course key. CannotDo if the file exists."""
    path = out or kit.course_key
    made = course_key.make(path)
    console.note(f"Wrote {path} (fingerprint {made.fingerprint}). Keep a copy, and keep it secret.")
    return 0


def students(
    kit: Kit,
    out: Path,
    labs: Sequence[str] | None,
    with_handbook: bool,
    with_clusters: bool,
    image: str | None,
    ai: str | None,
) -> int:
    """Writes the students' kit. CannotDo if the directory has something else."""
    options = students_kit.Options(labs, with_handbook, with_clusters, image, ai)
    written = students_kit.write(kit, out, options, _begins)
    given = ", ".join(written.labs)
    if written.is_new:
        console.note(f"Wrote {out}: a git repository with {written.files} files ({given})")
    else:
        console.note(f"{out} has all {written.files} files already ({given}): no new commit")
    return 0


def image(kit: Kit, tag: str, push: bool, labs: Sequence[str] | None, with_clusters: bool) -> int:
    """Makes the image of students' containers. CannotDo without an engine."""
    given = students_kit.Options(labs, with_handbook=False, with_clusters=with_clusters)
    platforms = image_of_students.make(kit, tag, push, given, _begins)
    console.note(f"{'Pushed' if push else 'Made'} {tag} for {' and '.join(platforms)}")
    return 0


def image_name(text: str) -> str:
    """For an option."""
    if not image_of_students.NAME.fullmatch(text):
        example = "ghcr.io/course/failslow:2026"
        raise argparse.ArgumentTypeError(f"'{text}' is no name of an image, such as {example}")
    return text


def _begins(stage: str) -> None:
    console.note(f"{stage} ...")


def gradescope(
    kit: Kit,
    out: Path,
    lab: str | None,
    minutes: int,
    runs_a_day: int | None,
    key: CourseKey | None,
) -> int:
    """Writes the zip file of an assignment. CannotDo for an unknown lab."""
    key = key or course_key.find(kit)
    if lab:
        load_labs(kit).get(lab)
    count = zip_of_assignment.write(kit, out, Assignment(lab, minutes, runs_a_day), key)
    if key.mark:
        console.note(f"{key.mark} Make your own: ./kit release key")
    console.note(f"Wrote {out} ({count} files, {lab or 'all labs'}, key {key.fingerprint})")
    return 0


def prairielearn(
    kit: Kit, out: Path, lab: str, image: str, minutes: int, key: CourseKey | None
) -> int:
    """Writes a question and its image's files. CannotDo if `out` exists, or the lab is unknown."""
    key = key or course_key.find(kit)
    platforms.prairielearn(kit, out, Assignment(load_labs(kit).get(lab).id, minutes), image, key)
    console.note(f"Wrote {out} ({lab}, key {key.fingerprint})")
    return 0


def autolab(kit: Kit, out: Path, lab: str, minutes: int, key: CourseKey | None) -> int:
    """Writes an assessment's files and its image's. CannotDo as of `prairielearn`."""
    key, graded = key or course_key.find(kit), load_labs(kit).get(lab)
    platforms.autolab(kit, out, Assignment(lab, minutes), key)
    console.note(f"Wrote {out} ({lab}, key {key.fingerprint}). Problems of the assessment:")
    for name, most in convert.problems([graded]).items():
        print(f"{name}: {most:g} points")
    return 0


def classroom50(kit: Kit, out: Path, lab: str, image: str | None) -> int:
    """Writes the public tests of an assignment. CannotDo as of `prairielearn`."""
    count = platforms.classroom50(kit, out, load_labs(kit).get(lab), image)
    console.note(
        "Students read all that runs in their repository: no hidden test and no key is here"
    )
    console.note(f"Wrote {out} ({count} public tests of {lab})")
    return 0
