"""The course key: its seeds, its file, and where the grader finds it."""

import stat
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab import course_key
from failslow.lab.course_key import DEVELOPMENT, CourseKey
from running import Expect

KNOWN = CourseKey(bytes(range(32)))


@pytest.mark.parametrize(
    ("key", "purpose", "index", "expected"),
    [
        (KNOWN, "measurement before", 0, 3302167447708318162),
        (KNOWN, "measurement before", 1, 4991104131578205314),
        (KNOWN, "hidden test lab2 Raft.Elects", 0, 2408442887661324525),
        (DEVELOPMENT, "measurement before", 0, 7540773918886632366),
    ],
)
def test_known_seeds(key: CourseKey, purpose: str, index: int, expected: int) -> None:
    assert course_key.seed(key, purpose, index) == expected


def test_a_seed_has_63_bits() -> None:
    seeds = [course_key.seed(KNOWN, "bits", index) for index in range(200)]
    assert len(set(seeds)) == 200
    assert 1 << 62 <= max(seeds) < 1 << 63


def test_a_made_key_is_random_and_its_owners_alone(tmp_path: Path) -> None:
    paths = [tmp_path / "new" / name for name in ("one.key", "other.key")]
    made = [course_key.make(path) for path in paths]
    assert made == [course_key.read(path) for path in paths]
    assert made[0] != made[1]
    assert not any(key.is_development for key in made)
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o600, 0o600]


def test_a_key_is_never_overwritten(expect: Expect, kit: Kit) -> None:
    assert "fingerprint" in expect(0, "release", "key").err
    before = kit.course_key.read_bytes()
    assert "exists" in expect(2, "release", "key").reason
    assert kit.course_key.read_bytes() == before


def test_no_command_prints_the_secret(expect: Expect, kit: Kit) -> None:
    said = expect(0, "release", "key")
    secret = kit.course_key.read_text().split()[1]
    assert secret not in said.out + said.err + repr(course_key.read(kit.course_key))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"failslow-course-key-1 00",
        b"failslow-course-key-1 " + b"0" * 65,
        b"failslow-course-key-1 " + b"G" * 64,
        b"failslow-course-key-2 " + b"0" * 64,
        b"failslow-course-key-1 " + b"0" * 64 + b"\n\n",
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.key"
    path.write_bytes(content)
    with pytest.raises(CannotDo, match="not a key file"):
        course_key.read(path)
    with pytest.raises(CannotDo, match="Is a directory"):
        course_key.read(tmp_path)


def test_the_environment_wins_over_the_kits_own_file(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert course_key.find(kit) == DEVELOPMENT
    own = course_key.make(kit.course_key)
    assert course_key.find(kit) == own
    other = course_key.make(tmp_path / "other.key")
    monkeypatch.setenv(course_key.ENVIRONMENT, str(tmp_path / "other.key"))
    assert course_key.find(kit) == other
    monkeypatch.setenv(course_key.ENVIRONMENT, str(tmp_path / "missing.key"))
    with pytest.raises(CannotDo, match="No such file"):
        course_key.find(kit)


def test_a_key_is_taken_once(kit: Kit) -> None:
    own = course_key.make(kit.course_key)
    assert course_key.take(kit) == own
    with pytest.raises(CannotDo, match="not a key file"):
        course_key.take(kit)


def test_without_a_key_file_nothing_is_taken(kit: Kit) -> None:
    assert course_key.take(kit) == course_key.take(kit) == DEVELOPMENT
    assert not kit.course_key.exists()
