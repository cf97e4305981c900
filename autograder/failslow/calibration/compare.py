"""A load as it was measured and as it was predicted."""

from dataclasses import dataclass

from failslow.calibration.load_run import Row
from failslow.calibration.predict import Prediction

OFF_MAX = 0.25
"""How far a predicted throughput or mean latency may be from the measured one, as a share of it."""


@dataclass(frozen=True)
class Comparison:
    row: Row
    prediction: Prediction

    @property
    def throughput(self) -> float:
        """Predicted by measured."""
        return self.prediction.puts_per_second / self.row.puts_per_second

    @property
    def latency(self) -> float:
        """Likewise, of mean latencies."""
        return self.prediction.mean / self.row.mean

    @property
    def passed(self) -> bool:
        return abs(self.throughput - 1) <= OFF_MAX and abs(self.latency - 1) <= OFF_MAX
