"""Wrong input to the real `kit`: a one-line reason, exit code 2, no file written."""

import shutil
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.lab.labs import Lab, load_labs

INSTALLS = ("kit: some packages are missing", "kit: installing ")


@pytest.fixture(scope="session")
def lab(kit: Kit) -> Lab:
    return next(iter(load_labs(kit).by_id.values()))


@pytest.fixture(scope="session")
def words(kit: Kit, lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The values for the braces of an argument."""
    place = tmp_path_factory.mktemp("wrong-input")
    trees = {name: place / name for name in ("missing", "broken")}
    for tree in trees.values():
        shutil.copytree(kit.reference / lab.directory, tree / lab.directory)
    (trees["missing"] / lab.directory / lab.files[-1]).unlink()
    source = next(name for name in lab.files if name.endswith(".cc"))
    with (trees["broken"] / lab.directory / source).open("a") as file:
        file.write("this is not C++;\n")
    (place / "empty").mkdir()
    return {
        "empty": str(place / "empty"),
        "nowhere": str(place / "nowhere"),
        **{name: str(tree) for name, tree in trees.items()},
        "lab": lab.id,
        "reference": str(kit.reference),
        "file": str(kit.root / "kit"),
        "root": str(kit.root),
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("frobnicate", "invalid choice"),
        ("grade", "required"),
        ("grade {nowhere}", "no such directory"),
        ("grade {empty}", "holds no submission"),
        ("grade {reference} --lab lab99", "unknown lab"),
        ("grade {reference} --seeds 0", "positive"),
        ("grade {reference} --key {nowhere}", "No such file"),
        ("grade {missing}", "is missing"),
        ("grade {broken} --lab {lab}", "does not compile"),
        ("test", "required"),
        ("test lab99", "unknown lab"),
        ("test {lab} {nowhere}", "no such directory"),
        ("replay {lab} No.Such {reference}", "no public test"),
        ("replay {lab} No.Such --seed -1", "is not a seed"),
        ("explore {lab} {reference}", "no small scope"),
        ("explore {lab} --bound 2,dogs=1", "is not a number"),
        ("diagnose --check {nowhere}", "No such file"),
        ("diagnose --out {file}", "not a directory"),
        ("release answers --out {empty}", "exists"),
        ("release students {root}", "is no release of this kit"),
        ("submit lab99", "unknown lab"),
        ("submit --out {empty}", "cannot write"),
        ("check --json", "goes with --mutants"),
        ("new-lab gossip", "is no name of a lab"),
        ("new-lab lab01-gossip", "is no name of a lab"),
        ("new-lab {lab}-gossip", "exists: labs/"),
        ("mutants rebase --from nowhere", "git knows no commit"),
        ("bench everything", "there is no benchmark"),
        ("cluster up --lab {lab}", "does not run as a cluster"),
        ("cluster build --lab {lab}", "does not run as a cluster"),
        ("cluster up --data {root}", "holds no cluster"),
        ("cluster status --data {nowhere}", "there is no cluster"),
        ("site", "required"),
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
