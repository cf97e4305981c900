"""The store of results: one for each content, so that nothing is graded twice."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import failslow
from failslow.base import atomic
from failslow.base.kit import Kit
from failslow.build.compile import key_of
from failslow.build.recipe import Recipe
from failslow.grade import result_text
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs
from failslow.lab.mutants import VARIANTS, patches
from failslow.lab.submission import Submission
from failslow.measurement.binary import binary_of

PACKAGE = Path(failslow.__file__).parent


@dataclass(frozen=True)
class Terms:
    """All that a grade depends on besides the submission. `kit_digest`: see `digest_of_kit`."""

    kit_digest: str
    key: CourseKey
    seeds: int | None


def content_key(kit: Kit, labs: Labs, recipe: Recipe, submission: Submission, terms: Terms) -> str:
    """A hash of all that decides the scores."""
    targets = [recipe.replica(lab) for lab in submission.labs]
    words = [
        key_of(kit, submission, recipe, targets),
        *(f"{lab}: {answer!r}" for lab, answer in sorted(submission.answers.items())),
        terms.kit_digest,
        terms.key.fingerprint,
        f"seeds {terms.seeds}",
    ]
    return key_of_words(*words)


def key_of_words(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:20]


def digest_of_kit(kit: Kit, labs: Labs) -> str:
    """A digest of the programs that judge, of this package, and of the settings of the labs."""
    digest = hashlib.sha256()
    suites = [suite for lab in labs.by_id.values() for suite in lab.suites]
    files = [kit.binary(f"{suite}_sealed") for suite in suites]
    files += [kit.binary(binary_of(lab)) for lab in labs.by_id.values()]
    files += [*sorted(kit.labs.glob("*/*.yaml"))]
    files += [*sorted(PACKAGE.rglob("*.py")), *patches(kit, VARIANTS)]
    for file in files:
        if file.is_file():
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:20]


class ResultStore:
    """A directory with one file for each content."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, key: str) -> Path:
        assert key.isalnum(), key
        return self._directory / f"{key}.json"

    def find(self, key: str) -> dict[str, Any] | None:
        """The result; None if there is none that can be read."""
        try:
            found: dict[str, Any] = json.loads(self.path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Only a result in which no verdict is missing: the others are graded again."""
        if not result["extra_data"].get("without_verdict"):
            atomic.write_text(self.path(key), result_text.as_text(result))
