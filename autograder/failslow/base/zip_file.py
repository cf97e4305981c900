"""Zip files whose bytes are a function of their contents: sorted names, one time for all."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip file knows."""

UNIX = 3


@dataclass(frozen=True)
class Entry:
    content: bytes
    executable: bool = False


def archive(entries: Mapping[str, Entry], compression: int) -> bytes:
    """A zip file of the entries by name. `compression`: ZIP_STORED or ZIP_DEFLATED of `zipfile`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, entry in sorted(entries.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = UNIX  # wherever it is made
            info.external_attr = (0o100755 if entry.executable else 0o100644) << 16
            file.writestr(info, entry.content, compress_type=compression)
    return buffer.getvalue()
