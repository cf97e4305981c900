"""A polynomial of latency by throughput, and the bound above it."""

import random

import pytest

from failslow.extras.bench.regression import upper_bound


def test_the_bound_of_an_exact_polynomial_is_the_polynomial() -> None:
    def cubic(x: float) -> float:
        return 5 + x - 2 * x**2 + 3 * x**3

    bound = upper_bound([(x, cubic(x)) for x in (1000, 2000, 3000, 4000, 5000, 6000)])
    assert bound(2500) == pytest.approx(cubic(2500))


def test_one_sample_of_a_thousand_is_above_the_bound() -> None:
    numbers = random.Random(1)

    def points(count: int) -> list[tuple[float, float]]:
        throughputs = [numbers.uniform(100, 2000) for _ in range(count)]
        return [(x, 10 + x / 100 + numbers.gauss(0, 1)) for x in throughputs]

    bound = upper_bound(points(2_000))
    assert 20 <= sum(latency > bound(x) for x, latency in points(40_000)) <= 70
    assert bound(1000) == pytest.approx(10 + 10 + 3.09, abs=0.3)


def test_nothing_is_known_beyond_the_throughputs_that_were_seen() -> None:
    bound = upper_bound([(x, x**2) for x in (10, 20, 30, 40, 50, 60)])
    assert bound(1) == bound(10) and bound(99) == bound(60)


def test_too_few_throughputs_are_refused() -> None:
    with pytest.raises(ValueError, match="degree 3 needs more throughputs"):
        upper_bound([(x, 1) for x in (1, 2, 3, 4)] * 10)
