"""The results of the benchmarks: every benchmark's latest figures and plots, in one JSON file.

The handbook's page of benchmarks shows a copy of it.
"""

import json
import os
import platform
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from failslow.base import atomic, machine, records
from failslow.base.errors import CannotDo
from failslow.extras.bench.figures import Figure, Plot, Section

RESULTS = "results.json"


def write(directory: Path, section: Section) -> Path:
    """Replaces the section's results among those in `directory`; returns the file's path.

    CannotDo when the directory cannot be written or holds results that are not ours.
    """
    path = directory / RESULTS
    results = _read(path)
    results[section.key] = asdict(section) | {"machine": _machine(), "when": _now()}
    atomic.write_text(path, records.text(results))
    return path


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for section in content.values():
            [Plot(**plot) for plot in section["plots"]]
            [Figure(**figure) for figure in section["figures"]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CannotDo(f"{path} is not what ./kit bench wrote ({error!r}); remove it") from error
    return content


def _machine() -> str:
    """Without what a distributor or an owner has added to the kernel's version."""
    version = platform.release().partition("-")[0]
    model = machine.processor()
    return f"{platform.system()} {version}, {os.cpu_count()} cores" + (
        f" ({model})" if model else ""
    )


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
