"""The committed constants fit together."""

from failslow.measurement.settings import load_settings


def test_every_row_has_a_description_and_a_floor() -> None:
    settings = load_settings()
    assert settings.total_points == 100
    assert set(settings.points) == set(settings.replicas) == set(settings.capacity_floor)
    for replicas in settings.replicas:
        for fault in settings.points[replicas]:
            assert "{" not in settings.describe(fault, replicas)
            assert str(replicas) in settings.describe(fault, replicas)
