"""Divides measured times among the counted work: costs that are not negative."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy

from failslow.calibration.load_run import Replica, Row

CLOSE_ENOUGH = 1e-9

Feature = Callable[[Mapping[str, float]], float]
"""How much of something a replica did in a second, from its counters and `bursts`."""

KIB = 1024.0

LOOP: dict[str, Feature] = {
    "per_step": lambda each: each["steps"],
    "per_burst": lambda each: each["bursts"],
    "per_write": lambda each: each["writes"],
    "per_frame": lambda each: (
        each["frames_in"]
        + each["frames_out"]
        - each["client_frames_in"]
        - each["client_frames_out"]
    ),
    "per_client_frame": lambda each: each["client_frames_in"] + each["client_frames_out"],
    "per_io": lambda each: 2 * each["disk_operations"],
    "per_kib": lambda each: (each["bytes_in"] + each["bytes_out"]) / KIB,
    "per_io_kib": lambda each: each["disk_bytes"] / KIB,
    "per_observation": lambda each: each["observations"],
}
"""The costs of the event loop's thread. They are named like the simulator's."""

DISK: dict[str, Feature] = {
    "per_batch": lambda each: each["disk_batches"],
    "per_growth": lambda each: growths(each["disk_batches"], each["disk_bytes"]),
    "per_directory": lambda each: each["disk_directory_syncs"],
    "per_io": lambda each: 2 * each["disk_operations"],
    "per_io_kib": lambda each: each["disk_bytes"] / KIB,
}
"""The costs of the disk's thread. The simulator charges the last two to the event loop's step."""

BLOCK_BYTES = 4096
"""Of a file system, nearly everywhere."""


def growths(batches: float, written: float) -> float:
    """How many of the batches began a new block of the file that they appended to, on average."""
    return min(batches, written / BLOCK_BYTES)


@dataclass(frozen=True)
class Fit:
    """`costs` in seconds. `error`: the root mean square of the relative errors."""

    costs: dict[str, float]
    error: float


def least_squares(rows: Sequence[Sequence[float]], targets: Sequence[float]) -> list[float]:
    """The x >= 0 with the least |rows x - targets| (Lawson and Hanson, 1974, chapter 23)."""
    matrix, target = numpy.array(rows), numpy.array(targets)
    scale = numpy.linalg.norm(matrix, axis=0)
    matrix = matrix / numpy.where(scale > 0, scale, 1.0)
    solution = numpy.zeros(matrix.shape[1])
    free = numpy.zeros(matrix.shape[1], dtype=bool)  # may be above zero
    while True:
        slope = numpy.where(free, 0.0, matrix.T @ (target - matrix @ solution))
        if slope.max() <= CLOSE_ENOUGH * numpy.linalg.norm(target):
            return list(solution / numpy.where(scale > 0, scale, 1.0))
        free[slope.argmax()] = True
        while (trial := _unbounded(matrix, target, free))[free].min() <= 0.0:
            # Only so far towards it that the first of them reaches zero, and stays there.
            down = free & (trial <= 0.0)
            step = (solution[down] / (solution[down] - trial[down])).min()
            solution = solution + step * (trial - solution)
            free &= solution > CLOSE_ENOUGH
        solution = trial


def _unbounded(matrix: numpy.ndarray, target: numpy.ndarray, free: numpy.ndarray) -> numpy.ndarray:
    """The best solution, of any sign, in which only the free members may differ from zero."""
    solution = numpy.zeros(len(free))
    solution[free] = numpy.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
    return solution


def explain(
    amounts: Sequence[Mapping[str, float]], times: Sequence[float], names: Sequence[str]
) -> Fit:
    """The costs of `names`. Every sample has the same weight: the fit minimises relative errors."""
    rows = [
        [each[name] / time for name in names] for each, time in zip(amounts, times, strict=True)
    ]
    costs = least_squares(rows, [1.0] * len(rows))
    errors = [sum(a * c for a, c in zip(row, costs, strict=True)) - 1 for row in rows]
    return Fit(
        dict(zip(names, costs, strict=True)),
        (sum(error * error for error in errors) / len(errors)) ** 0.5,
    )


def thread_costs(
    rows: Sequence[Row], features: dict[str, Feature], time: Callable[[Replica], float]
) -> Fit:
    pairs = [(row, replica) for row in rows for replica in row.replicas]
    amounts = []
    for row, replica in pairs:
        counters = replica.counters | {"bursts": bursts(row, replica)}
        amounts.append({name: feature(counters) for name, feature in features.items()})
    return explain(amounts, [time(replica) for _, replica in pairs], list(features))


def bursts(row: Row, replica: Replica) -> float:
    """The number of system calls of other processes, in a second, whose data the replica read.

    One read of the replica may return the data of several calls. That matters only for the leader:
    clients write to it in every turn in which they have a put, and followers write only to it.
    """
    leader = max(row.replicas, key=lambda each: each.counters["client_frames_in"])
    if replica is not leader:
        return replica.counters["reads"]
    clients = min(row.client_turns, row.puts_per_second)
    followers = [each for each in row.replicas if each is not leader]
    written = clients + sum(each.counters["writes"] for each in followers)
    return max(written, replica.counters["reads"])


def client_costs(rows: Sequence[Row]) -> Fit:
    amounts = [{"per_turn": row.client_turns, "per_operation": row.puts_per_second} for row in rows]
    return explain(amounts, [row.client_cpu for row in rows], ["per_turn", "per_operation"])
