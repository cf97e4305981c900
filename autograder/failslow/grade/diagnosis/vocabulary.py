"""The words of a diagnosis that its students know."""

from string import ascii_uppercase

from failslow.base.errors import CannotDo
from failslow.lab.labs import Lab, Labs

NONE = "none"
"""The answer to the questions about a fault where there is none."""

REPLICAS = 3


def labels(lab: Lab) -> tuple[str, ...]:
    """The labels of the subjects. Requires: the lab has a diagnosis."""
    assert lab.diagnosis is not None
    return tuple(ascii_uppercase[: len(lab.diagnosis.variants)])


def lab_of(labs: Labs) -> Lab:
    """The lab with a diagnosis. CannotDo if there is none."""
    for lab in labs.by_id.values():
        if lab.diagnosis:
            return lab
    raise CannotDo("no lab has a diagnosis")
