"""lab.yaml: a wrong file is refused in one line that names it."""

import re

import pytest

from failslow.base import yaml_file
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import load_labs
from fakes import LAB1_YAML, write_lab


def test_ids_compare_as_numbers(kit: Kit) -> None:
    write_lab(kit, "lab10", "kv.cc", "needs: [lab1, lab2]")
    labs = load_labs(kit)
    assert list(labs.by_id) == ["lab1", "lab2", "lab10"]
    assert [lab.id for lab in labs.closure(labs.get("lab10"))] == ["lab1", "lab2", "lab10"]


def test_a_lab_does_not_need_one_with_a_higher_number(kit: Kit) -> None:
    write_lab(kit, "lab9", "raft.cc", "needs: [lab10]")
    write_lab(kit, "lab10", "kv.cc", "needs: [lab1]")
    with pytest.raises(CannotDo, match=r"lab9.*: 'lab10' is not an earlier lab"):
        load_labs(kit)


def test_a_lab_may_replace_a_lab_that_its_labs_need(kit: Kit) -> None:
    write_lab(kit, "lab3", "kv.cc", "needs: [lab1, lab2]")
    write_lab(kit, "lab4", "raft.cc", "needs: [lab1, lab3]\nreplaces: [lab2]")
    labs = load_labs(kit)
    assert [lab.id for lab in labs.closure(labs.get("lab3"))] == ["lab1", "lab2", "lab3"]
    assert [lab.id for lab in labs.closure(labs.get("lab4"))] == ["lab1", "lab3", "lab4"]


@pytest.mark.parametrize("replaced", ["lab1", "lab2", "lab3", "lab9"])
def test_a_lab_replaces_only_files_that_would_be_compiled_in(kit: Kit, replaced: str) -> None:
    write_lab(kit, "lab3", "kv.cc", "needs: [lab1]")
    write_lab(kit, "lab4", "raft.cc", f"needs: [lab1, lab3]\nreplaces: [{replaced}]")
    with pytest.raises(CannotDo, match=f"lab4.*: '{replaced}' is no lab that a needed lab needs"):
        load_labs(kit)


def test_roles_that_propose_are_words_of_a_column(kit: Kit) -> None:
    extra = "needs: [lab1]" + cluster("role", 0) + "  proposers: [pilot]\n"
    write_lab(kit, "lab3", "kv.cc", extra)
    with pytest.raises(CannotDo, match=r"cluster/proposers: no column has the word 'pilot'"):
        load_labs(kit)


def test_unknown_lab_names_the_known_ones(kit: Kit) -> None:
    with pytest.raises(CannotDo, match=r"unknown lab 'lab9' \(labs: lab1, lab2\)"):
        load_labs(kit).get("lab9")


def cluster(ready: str, value: int) -> str:
    return f"""
cluster:
  load: log
  shows:
    - {{name: role, kind: 1, value: {value}}}
  ready: {{name: {ready}, is: 2}}
"""


def measurement(part: str, victim: str) -> str:
    return (
        f"measurements: [{{kind: slow-replica, part: {part}, settings: slow.yaml,"
        f" roles: [leader, follower], victims: [{victim}]}}]"
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("title: QuorumEvent\n", "", "'title' is a required property"),
        ("needs: []", "needs: [lab7]", "unknown lab 'lab7'"),
        ("needs: []", "needs: [lab2]", "'lab2' is not an earlier lab"),
        ("needs: []", "needs: []\ncolour: red", "'colour' was unexpected"),
        ("needs: []", "needs: []\nonly_in_clusters: [lab7]", "'lab7' is not among the needed"),
        ("quorum_event.cc]", "../raft.cc]", "files/1: "),
        ("directory: lab1-quorum-event", "directory: elsewhere", "is not where the file is"),
        ("id: lab1\n", "id: lab9\n", "'lab9' does not begin the directory's name"),
        ("base: submission", "base: mine", "base: "),
        ("points: 100", "points: many", "parts/0/points: "),
        ("measurements: []", "measurements: weather", "measurements: "),
        ("measurements: []", measurement("quorum", "king"), "'king' is none of the roles"),
        ("measurements: []", measurement("speed", "leader"), "there is no part 'speed'"),
        ("title: QuorumEvent", "title: [", "is not YAML"),
        ("needs: []", f"needs: []\n{cluster('leader', 0)}", "nothing shown has the name 'leader'"),
        ("needs: []", f"needs: []\n{cluster('role', 4)}", "cluster/shows/0/value: "),
    ],
)
def test_refuses(kit: Kit, old: str, new: str, complaint: str) -> None:
    assert old in LAB1_YAML
    path = kit.labs / "lab1-quorum-event" / "lab.yaml"
    path.write_text(LAB1_YAML.replace(old, new))
    with pytest.raises(CannotDo, match=re.escape(complaint)) as refused:
        load_labs(kit)
    assert "lab.yaml" in str(refused.value)


def test_a_valid_file_is_checked_once(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(yaml_file, "first_complaint", lambda content, _: asked.append(content))
    path = kit.labs / "lab1-quorum-event" / "lab.yaml"
    for text, count in ((LAB1_YAML, 2), (LAB1_YAML, 2), (LAB1_YAML.replace("Votes", "Vote"), 3)):
        path.write_text(text)
        load_labs(kit)
        assert len(asked) == count
