"""The secret of a course, from which every seed of a grade derives that students must not know.

A seed is the beginning of HMAC-SHA256 (RFC 2104) of the key over a purpose and an index. So a seed
in a report lets its reader replay one run, and tells nothing about the key or another seed.
"""

import hmac
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit

ENVIRONMENT = "FAILSLOW_COURSE_KEY"
"""The environment variable that names a key file."""

SECRET_BYTES = 32
FORM = re.compile(rb"failslow-course-key-1 ([0-9a-f]{64})\n?")


@dataclass(frozen=True)
class CourseKey:
    """`secret` is never printed."""

    secret: bytes

    @property
    def is_development(self) -> bool:
        return self == DEVELOPMENT

    @property
    def mark(self) -> str:
        """The warning in every report of the development key; "" for a course's own key."""
        if not self.is_development:
            return ""
        return "Development key: everybody can compute the hidden seeds of this grade."

    @property
    def fingerprint(self) -> str:
        """Tells two keys apart, and reveals nothing of them."""
        return f"{seed(self, 'fingerprint', 0):016x}"

    @property
    def file_text(self) -> str:
        """The contents of a key file. Secret."""
        return f"failslow-course-key-1 {self.secret.hex()}\n"

    def __repr__(self) -> str:
        return f"CourseKey({self.fingerprint})"


DEVELOPMENT = CourseKey(b"failslow labs: development key 1")
"""Used if there is no key file. It is public, so it is not for a course. Hidden tests keep their
own seeds with it."""


def seed(key: CourseKey, purpose: str, index: int) -> int:
    """From 0 to 2^63 - 1: the same on every machine, and different for each purpose and index.

    Requires: index >= 0. The first 63 bits of the HMAC of "PURPOSE/INDEX".
    """
    assert index >= 0
    digest = hmac.digest(key.secret, f"{purpose}/{index}".encode(), "sha256")
    return int.from_bytes(digest[:8], "big") >> 1


def find(kit: Kit) -> CourseKey:
    """The key in the file that the environment names, else in the kit's own file.

    The development key if there is neither. CannotDo if the file holds no key.
    """
    named = os.environ.get(ENVIRONMENT)
    if named:
        return read(Path(named))
    if os.path.lexists(kit.course_key):
        return read(kit.course_key)
    return DEVELOPMENT


def take(kit: Kit) -> CourseKey:
    """Finds the key, and empties the kit's own key file.

    For a container that grades one submission. A submitted source may include any file, and the
    student reads the compiler's complaint. An empty file is no key: a second grade is refused.
    """
    key = find(kit)
    if kit.course_key.exists():
        kit.course_key.write_bytes(b"")
    return key


def read(path: Path) -> CourseKey:
    """CannotDo if the file cannot be read or has another form."""
    try:
        found = FORM.fullmatch(path.read_bytes())
    except OSError as error:
        raise CannotDo(f"course key {path}: {error.strerror}") from error
    if not found:
        raise CannotDo(f"course key {path}: not a key file (make one with ./kit release key)")
    return CourseKey(bytes.fromhex(found[1].decode()))


def make(path: Path) -> CourseKey:
    """Writes a random key that its owner alone can read. CannotDo if there is a file already."""
    key = CourseKey(secrets.token_bytes(SECRET_BYTES))
    if path.is_dir():
        raise CannotDo(f"{path} is a directory")
    if os.path.lexists(path):
        raise CannotDo(f"{path} exists; a course keeps its key")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(key.file_text)
    except OSError as error:
        raise CannotDo(f"cannot write {path}: {error.strerror}") from error
    return key
