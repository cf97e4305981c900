"""A replica's file of faults, as an injector writes it: see framework/hosts/real/fault_file.h.

Its times are those of CLOCK_MONOTONIC, which Linux gives to all processes alike.
"""

import os
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from failslow.errors import CannotDo
from failslow.faults.catalogue import Catalogue, FaultKind

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


def is_on(path: Path, kind: FaultKind) -> bool:
    """Whether the replica has the fault now."""
    try:
        content = path.read_bytes()
        until_ns, _, _ = _FAULT.unpack_from(content, _offset(kind))
    except (OSError, struct.error):
        return False
    return bool(until_ns > time.monotonic_ns())


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
