"""Wrong input to the real `kit`: a one-line reason, exit code 2, no file written."""

from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.lab.labs import load_labs

INSTALLS = ("kit: some packages are missing", "kit: installing ")


@pytest.fixture(scope="session")
def words(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The values for the braces of an argument."""
    place = tmp_path_factory.mktemp("wrong-input")
    (place / "empty").mkdir()
    return {
        "empty": str(place / "empty"),
        "nowhere": str(place / "nowhere"),
        "lab": next(iter(load_labs(kit).by_id)),
        "reference": str(kit.reference),
        "file": str(kit.root / "kit"),
        "root": str(kit.root),
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("frobnicate", "invalid choice"),
        ("grade", "required"),
        ("grade {reference} --key {nowhere}", "No such file"),
        ("replay {lab} No.Such --seed -1", "is not a seed"),
        ("explore {lab} {reference}", "no small scope"),
        ("diagnose --out {file}", "not a directory"),
        ("release students {root}", "is no release of this kit"),
        ("submit --out {empty}", "cannot write"),
        ("new-lab gossip", "is no name of a lab"),
        ("new-lab lab01-gossip", "is no name of a lab"),
        ("new-lab {lab}-gossip", "exists: labs/"),
        ("mutants rebase --from nowhere", "git knows no commit"),
        ("bench everything", "there is no benchmark"),
        ("cluster build --lab {lab}", "does not run as a cluster"),
        ("site serve --port 0", "not a port number"),
    ],
)
def test_wrong_input_is_refused_in_one_line(
    kit: Kit, words: dict[str, str], tmp_path: Path, arguments: str, reason: str
) -> None:
    out = tmp_path / "out"
    argv: list[str | Path] = [each.format(**words) for each in arguments.split()]
    argv += ["--out", out] if argv[0] == "grade" else []
    done = process.run([kit.root / "kit", *argv], cwd=tmp_path)
    assert done.exit_code == 2, done.how_it_ended()
    # The first use of a command installs its packages, and says so.
    lines = [line for line in done.errors.splitlines() if line.startswith("kit: ")]
    said = [line for line in lines if not line.startswith(INSTALLS)]
    assert len(said) == 1 and reason in said[0], done.errors[-500:]
    assert not out.exists()
