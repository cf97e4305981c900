"""`kit release`: makes what a course needs of its own."""

from pathlib import Path

from failslow import console, course_key
from failslow.kit import Kit


def key(kit: Kit, out: Path | None) -> int:
    """Makes the course key. CannotDo if the file exists."""
    path = out or kit.course_key
    made = course_key.make(path)
    console.note(f"Wrote {path} (fingerprint {made.fingerprint}). Keep a copy, and keep it secret.")
    return 0
