"""Samples of a measurement's programs, outside of a grade, and the figures that they give."""

from collections.abc import Sequence

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import programs
from failslow.extras.bench.programs import Run
from failslow.measurement.binary import Sample, parse_sample
from failslow.measurement.figures import needless_leaders, onset_loss, replaced_ns

__all__ = ["Sample", "measure", "needless_leaders", "onset_loss", "replaced_ns"]


def measure(kit: Kit, what: str, runs: Sequence[Run]) -> list[Sample]:
    """CannotDo when a run has no result."""
    found = [parse_sample(each[-1]) for each in programs.lines(kit, what, runs)]
    for run, sample in zip(runs, found, strict=True):
        if sample.error:
            raise CannotDo(f"{run.name}: {sample.error}")
    return found
