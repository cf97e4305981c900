"""The files of replicas that verify themselves: one line of JSON for each window."""

import json
from typing import Any

from failslow.base.errors import CannotDo
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.tail import last_lines


def read(layout: Layout, replicas: int) -> list[dict[str, Any]]:
    """The windows of all replicas since the cluster's data were made, by replica and time.

    CannotDo when no window is over yet, and for a file that is damaged.
    """
    windows: list[dict[str, Any]] = []
    for number in range(replicas):
        path = layout.verification(number)
        try:
            # The last line is cut off if the replica was killed while it wrote it.
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
            windows += [json.loads(line) for line in lines]
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise CannotDo(f"cannot read {path}: {error}") from error
    if not windows:
        raise CannotDo("no window of 5 s is over yet: try again in a moment")
    return windows


def latest(layout: Layout, replicas: int) -> list[dict[str, Any]]:
    """The latest window of each replica that has one."""
    lines = (last_lines(layout.verification(number)) for number in range(replicas))
    return [json.loads(each[-1]) for each in lines if each]
