"""A replica's file of faults, as an injector writes it: see framework/hosts/real/fault_file.h.

Its times are those of CLOCK_MONOTONIC, which Linux gives to all processes alike.
"""

import os
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.faults.catalogue import Catalogue, FaultKind

_HEADER = struct.Struct("=q")
_FAULT = struct.Struct("=qqq")


def check(path: Path, catalogue: Catalogue) -> None:
    """CannotDo when no fault can be injected by this file."""
    with _opened(path, catalogue):
        pass


def inject(
    path: Path,
    catalogue: Catalogue,
    kind: FaultKind,
    amount: int,
    until_ns: int,
    receivers: Sequence[int] = (),
) -> None:
    """From now on the replica has the fault, until that time. CannotDo when it has no such file."""
    mask = sum(1 << number for number in receivers)
    with _opened(path, catalogue) as file:
        offset = _offset(kind)
        # The amounts are never seen half written: the end comes first as "no fault", and last.
        os.pwrite(file, _FAULT.pack(0, amount, mask), offset)
        os.pwrite(file, struct.pack("=q", until_ns), offset)


def heal(path: Path, catalogue: Catalogue, kind: FaultKind) -> None:
    """Ends the fault. Nothing happens when the replica's file is gone."""
    if path.exists():
        with _opened(path, catalogue) as file:
            os.pwrite(file, _FAULT.pack(0, 0, 0), _offset(kind))


@dataclass(frozen=True)
class Injected:
    """A fault that is on. `receivers`: of kinds that name them, a bit for each replica."""

    amount: int
    receivers: int

    def names(self, receiver: int) -> bool:
        return bool(self.receivers >> receiver & 1)


def make(path: Path, catalogue: Catalogue) -> None:
    """Makes the file without a fault, as a replica does."""
    kinds = len(catalogue.kinds)
    path.write_bytes(_HEADER.pack(kinds) + _FAULT.pack(0, 0, 0) * kinds)


def read(path: Path, kinds: Sequence[FaultKind]) -> dict[str, Injected]:
    """Those of the kinds, by name, that the replica has now. Empty for a file that is gone."""
    found = {}
    with suppress(OSError, struct.error):
        content, now_ns = path.read_bytes(), time.monotonic_ns()
        for kind in kinds:
            until_ns, amount, receivers = _FAULT.unpack_from(content, _offset(kind))
            if until_ns > now_ns:
                found[kind.name] = Injected(amount, receivers)
    return found


def is_on(path: Path, kind: FaultKind) -> bool:
    """Whether the replica has the fault now."""
    return kind.name in read(path, [kind])


def _offset(kind: FaultKind) -> int:
    return _HEADER.size + kind.number * _FAULT.size


@contextmanager
def _opened(path: Path, catalogue: Catalogue) -> Iterator[int]:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise CannotDo(
            f"cannot inject a fault by {path}: {error.strerror}; was the replica started by an"
            " older kit?"
        ) from error
    try:
        header = os.pread(file, _HEADER.size, 0)
        if header != _HEADER.pack(len(catalogue.kinds)):
            raise CannotDo(f"{path} is of another version of the kit: start the cluster again")
        yield file
    finally:
        os.close(file)
