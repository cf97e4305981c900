"""A cluster's status for people."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from failslow.extras.cluster.state import State
from failslow.extras.cluster.status import RUNS, ReplicaStatus
from failslow.lab.labs import ClusterView

UNITS = ("B", "KiB", "MiB", "GiB")


def print_replicas(out: Console, view: ClusterView, replicas: list[ReplicaStatus]) -> None:
    """Each replica's place, and its own words about itself."""
    for table in replicas_tables(view, replicas):
        out.print(table)
    for replica in replicas:
        if replica.remark:
            out.print(f"replica {replica.id}: {escape(replica.remark)}")


def replicas_tables(view: ClusterView, replicas: list[ReplicaStatus]) -> list[Table]:
    """A second one has what they find of each other's health, if they tell that."""
    health = [shown.name for shown in view.shows if shown.is_health]
    others = [shown.name for shown in view.shows if not shown.is_health]
    first = _replicas_table(others, replicas)
    if not health:
        return [first]
    second = Table("replica", *health)
    for replica in replicas:
        second.add_row(str(replica.id), *(_plain(replica.shows.get(name)) for name in health))
    return [first, second]


def _replicas_table(names: list[str], replicas: list[ReplicaStatus]) -> Table:
    table = Table("replica", "state", "pid", "port", "up", *names)
    for replica in replicas:
        shows = [_plain(replica.shows.get(name)) for name in names]
        color = "green" if replica.state == RUNS else "red"
        state = f"[{color}]{replica.state}[/{color}]"
        pid = _plain(replica.pid)
        table.add_row(str(replica.id), state, pid, str(replica.port), _time(replica.up_s), *shows)
    return table


def load_table(replicas: list[ReplicaStatus]) -> Table:
    """Each replica's work, and the data that waits in its memory for the others."""
    table = Table(
        "replica", "requests/s", "frames/s", "syncs/s", "CPU", "memory", "held for each", "dropped"
    )
    for replica in replicas:
        table.add_row(
            str(replica.id),
            _number(replica.requests_per_s),
            _number(replica.frames_per_s),
            _number(replica.syncs_per_s),
            "-" if replica.cpu_percent is None else f"{replica.cpu_percent:.0f} %",
            _size(replica.memory_bytes),
            " ".join(_size(held) for held in replica.held_bytes) or "-",
            _plain(replica.dropped_frames),
        )
    return table


def print_place(out: Console, data: Path, current: State) -> None:
    out.print(f"{current.lab} of {current.solution}", markup=False, soft_wrap=True)
    out.print(f"data: {data}", markup=False, soft_wrap=True)
    out.print(f"clients: {','.join(current.endpoints)}", markup=False, soft_wrap=True)
    if current.in_memory:
        out.print("logs: in memory; a replica that ends cannot start again (--durable)")
    if current.redis_endpoints:
        redis = ",".join(current.redis_endpoints)
        out.print(f"redis: {redis}", markup=False, soft_wrap=True)


def _plain(value: object) -> str:
    return "-" if value is None else str(value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _size(count: int | None) -> str:
    if not count:
        return "-" if count is None else "0"
    size, unit = float(count), 0
    while size >= 1024 and unit + 1 < len(UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {UNITS[unit]}" if unit == 0 else f"{size:.1f} {UNITS[unit]}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    minutes, rest = divmod(int(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
