"""The committed constants fit together."""

import re
from functools import partial

import pytest

from demands import some
from failslow.base import yaml_file
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from failslow.measurement.figures import FIGURES
from failslow.measurement.runs import LOADS, NORMAL, PROFILES, SHAPES, WORLDS
from failslow.measurement.settings import SUBMIT, load_settings


def test_every_row_has_a_baseline_and_a_description_at_every_strength() -> None:
    kit = this_kit()
    measured = [lab for lab in load_labs(kit).by_id.values() if lab.measurement]
    assert measured
    for lab in measured:
        settings = load_settings(kit, lab)
        assert settings.total_points == lab.part(lab.measurement.part).points
        assert settings.worlds or set(settings.baselines) == set(settings.loads)
        for row in some(settings.rows):
            texts = [
                settings.at(lambda _, count, index=index: index % count).describe(row)
                for index in range(len(settings.strengths[row.fault]))
            ]
            assert len(set(texts)) == len(texts)
            assert all("{" not in text and str(row.replicas) in text for text in texts)


def test_the_strengths_are_those_of_the_catalogue() -> None:
    kit = this_kit()
    header = (kit.root / "framework" / "faults" / "catalogue.h").read_text()
    known = set(re.findall(r'Preset\{\s*"([^"]+)"', header))
    for lab in some(lab for lab in load_labs(kit).by_id.values() if lab.measurement):
        for strengths in some(load_settings(kit, lab).strengths.values()):
            named = [each.preset for each in strengths]
            assert len(set(named)) == len(named)
            assert {*named} <= known | {NORMAL}


def test_the_course_key_draws_the_strengths() -> None:
    settings = load_settings(this_kit(), load_labs(this_kit()).get("lab2"))
    drawn = [
        settings.drawn(partial(course_key.seed, course_key.CourseKey(base.encode())))
        for base in "abcdefgh"
    ]
    assert all(len(each) == 1 for one in drawn for each in some(one.strengths.values()))
    assert len({one.strength("cpu-slow").preset for one in drawn}) > 1
    assert len({tuple(s[0].preset for s in one.strengths.values()) for one in drawn}) > 2
    assert drawn[0].drawn(lambda purpose, index: 1) == drawn[0]


def test_points_are_for_the_victims_of_the_lab(kit: Kit) -> None:
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("victims: [follower]", "victims: [leader]"))
    with pytest.raises(CannotDo, match=r"they must be for the victims that lab\.yaml names"):
        load_settings(kit, load_labs(kit).get("lab2"))


@pytest.mark.parametrize(
    ("row", "bad", "complaint"),
    [
        ("figure: stall", "figure: speed", "criteria/6/figure: 'speed' is not one of"),
        ("limit: 1.5, share: tail", "limit: 0, share: tail", "criteria/12"),
        ("share: tail", "share: tails", "'p99': shares has no 'tails'"),
        (
            "limit: 1.5, share: tail",
            "limit: {pilot: 2}, share: tail",
            "'p99': its limits must be for victims that lab.yaml names",
        ),
        ("note: worst run, of: [low-jitter, sat", "of: [sat", "'throughput': another one has this"),
        ("flapping: 1 ", "flapping: 0 ", "'catch-up': seeds has none for its runs"),
        ("without: [net-slow]", "without: [net]", "between faults': without names no preset"),
        ("speed: 60", "speed: 61", "shares: they must add up to 100 per cent"),
        ("  net-slow: {", "  net: {", "faults: 'net' must have points and strengths"),
        ("net-slow-100ms: ", "net-slow-10ms: ", "'net-slow-10ms' has no words in a report"),
    ],
)
def test_a_bad_setting_is_named(kit: Kit, row: str, bad: str, complaint: str) -> None:
    path = kit.labs / "lab2-raft" / "slow_follower.yaml"
    text = path.read_text()
    assert row in text
    path.write_text(text.replace(row, bad, 1))
    with pytest.raises(CannotDo, match=re.escape(complaint)) as caught:
        load_settings(kit, load_labs(kit).get("lab2"))
    assert "\n" not in str(caught.value)


def test_a_criterion_may_bound_every_figure() -> None:
    row = yaml_file.schema("slow_follower")["properties"]["criteria"]["items"]["properties"]
    assert row["figure"]["enum"] == list(FIGURES)
    assert {*row["of"]["items"]["enum"]} == (PROFILES - WORLDS) | LOADS | SHAPES


def test_a_brief_measurement_has_the_wanted_rows_and_one_slow_set() -> None:
    kit = this_kit()
    settings = load_settings(kit, load_labs(kit).get("lab2"))
    brief = settings.brief(lambda row: row.id == "measurement/5/cpu-slow")
    assert brief.loads == [(SUBMIT, 5)]
    assert brief.slow_sets == 1
    assert [row.fault for row in brief.rows] == ["cpu-slow"]
    assert settings.brief(lambda row: True).rows == settings.rows
