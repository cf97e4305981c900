"""The committed constants fit together."""

import pytest

from failslow.errors import CannotDo
from failslow.kit import Kit, this_kit
from failslow.labs import load_labs
from failslow.measurement.settings import load_settings


def test_every_row_has_a_description_and_a_floor() -> None:
    kit = this_kit()
    measured = [lab for lab in load_labs(kit).by_id.values() if lab.measurement]
    assert measured
    for lab in measured:
        settings = load_settings(kit, lab)
        assert settings.total_points == lab.part(lab.measurement.part).points
        for victim, points in settings.points.items():
            assert set(points) == set(settings.replicas)
            assert set(points) == set(settings.baseline.throughput_floor)
            assert set(points) == set(settings.baseline.latency_ceiling_ns)
            for replicas in settings.replicas:
                for fault in points[replicas]:
                    text = settings.describe(fault, replicas, victim)
                    assert "{" not in text
                    assert str(replicas) in text


def test_points_are_for_the_victims_of_the_lab(kit: Kit) -> None:
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("victims: [follower]", "victims: [leader]"))
    with pytest.raises(CannotDo, match=r"they must be for the victims that lab\.yaml names"):
        load_settings(kit, load_labs(kit).get("lab2"))


def test_the_shares_of_a_row_are_a_hundred_per_cent(kit: Kit) -> None:
    path = kit.labs / "lab2-raft" / "slow_follower.yaml"
    path.write_text(path.read_text().replace("speed: 60", "speed: 61"))
    with pytest.raises(CannotDo, match=r"shares: they must add up to 100 per cent"):
        load_settings(kit, load_labs(kit).get("lab2"))


def test_a_brief_measurement_has_the_wanted_rows_and_one_slow_set() -> None:
    kit = this_kit()
    settings = load_settings(kit, load_labs(kit).get("lab2"))
    brief = settings.brief(lambda victim, replicas, fault: (replicas, fault) == (5, "cpu-slow"))
    assert brief.replicas == (5,)
    assert brief.slow_sets == 1
    assert [*brief.points["follower"][5]] == ["cpu-slow"]
    assert not brief.points["follower"][3]
    assert settings.brief(lambda *row: True).points == settings.points
