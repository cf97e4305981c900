"""The warnings of runtime verification, as depfast/verify/verification_json.h writes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from failslow.base.errors import CannotDo


@dataclass(frozen=True)
class Warned:
    """A warning that a replica gave in several windows. `text` is the latest's sentence."""

    kind: str
    replica: int
    windows: int
    text: str

    def line(self) -> str:
        windows = "window" if self.windows == 1 else "windows"
        return f"{self.kind}, replica {self.replica}, {self.windows} {windows}: {self.text}"


def joined(values: Iterable[dict[str, Any]]) -> list[Warned]:
    """By kind and replica, in the order of the first. CannotDo if one of them is no warning."""
    found: dict[tuple[object, ...], Warned] = {}
    for value in values:
        try:
            what = (value["kind"], value["replica"], value["coroutine"], value["wait"])
            key = (*what, tuple(value["peers"]))
            windows = found[key].windows + 1 if key in found else 1
            found[key] = Warned(str(what[0]), int(what[1]), windows, str(value["text"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CannotDo(f"this is no warning: {error!r}") from error
    return list(found.values())
