"""The measured runs behind a grade, short enough for a results file: for a regrade request."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from failslow.measurement.binary import Sample
from failslow.measurement.runs import Run

COLUMNS = ("seed", "operations/s", "mean_us", "p99_us", "unanswered")


def table(samples: Mapping[Run, Sample]) -> dict[str, Any]:
    """`runs`: by their description without the seed, a row of COLUMNS for each seed. A seed is
    given by its place in `seeds`. `digest`: of the trace hashes of all runs, in order."""
    seeds = [*dict.fromkeys(run.seed for run in samples)]
    runs: dict[str, list[list[float]]] = {}
    digest = hashlib.sha256()
    for run, sample in samples.items():
        digest.update(f"{run} {sample.trace_hash}\n".encode())
        runs.setdefault(_name(run), []).append(
            [
                seeds.index(run.seed),
                round(sample.throughput),
                round(sample.mean_ns / 1000),
                round(sample.p99_ns / 1000),
                sample.unanswered,
            ]
        )
    return {
        "columns": COLUMNS,
        "seeds": [str(seed) for seed in seeds],
        "runs": runs,
        "digest": digest.hexdigest(),
    }


def _name(run: Run) -> str:
    text = str(replace(run, seed=0))
    return text.removeprefix("slow_follower with ").removesuffix(", seed 0")
