"""Latency by throughput, after Perseus (Lu and others, FAST 2023): a polynomial, and a bound.

Perseus first drops outliers, which biased drives give. Here all samples are of healthy replicas.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist

DEGREE = 3
QUANTILE = NormalDist().inv_cdf(0.999)
"""Of the residuals below the bound: document 004, section 5, has 99.9 %."""

Point = tuple[float, float]
"""Throughput and latency."""


def upper_bound(points: Sequence[Point]) -> Callable[[float], float]:
    """By throughput, the bound of a new latency: least squares, and normal residuals. Beyond all
    throughputs that it has learned from, that of the nearest one. ValueError without more different
    throughputs than the polynomial has coefficients."""
    if len({x for x, _ in points}) <= DEGREE + 1:
        raise ValueError(f"a polynomial of degree {DEGREE} needs more throughputs")
    least = min(x for x, _ in points)
    scale = max(x for x, _ in points)  # powers of the throughput itself lose digits
    rows = [_powers(x / scale) for x, _ in points]
    columns = list(zip(*rows, strict=True))
    inverse = _inverse([[_dot(one, other) for other in columns] for one in columns])
    of_latency = [_dot(column, [y for _, y in points]) for column in columns]
    weights = [_dot(row, of_latency) for row in inverse]
    squares = sum((y - _dot(row, weights)) ** 2 for row, (_, y) in zip(rows, points, strict=True))
    spread = sqrt(squares / (len(points) - len(weights)))

    def bound(throughput: float) -> float:
        row = _powers(min(max(throughput, least), scale) / scale)
        leverage = _dot(row, [_dot(each, row) for each in inverse])
        return _dot(row, weights) + QUANTILE * spread * sqrt(1 + leverage)

    return bound


def _powers(value: float) -> list[float]:
    return [value**power for power in range(DEGREE + 1)]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """By Gauss and Jordan. Requires: positive definite."""
    size = len(matrix)
    work = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for at in range(size):
        work[at] = [value / work[at][at] for value in work[at]]
        for other in set(range(size)) - {at}:
            factor = work[other][at]
            work[other] = [a - factor * b for a, b in zip(work[other], work[at], strict=True)]
    return [row[size:] for row in work]
