"""The machines of a batch's gradings: this one, or a cluster through dask.distributed.

A cluster's machines have the same checkout, built, at the same path. A job has the course's key,
and whoever may connect may run programs: nothing goes over a network without TLS.
"""

import os
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING

from failslow.base import parallel
from failslow.base.errors import CannotDo
from failslow.extras.batch import job
from failslow.extras.batch.job import Done, Job

if TYPE_CHECKING:
    from distributed import Client

Machines = Callable[[Sequence[Job]], Iterator[tuple[Job, Done]]]
"""Grades all jobs, and yields each when it is done."""

HERE = "here"

REACH_S = 20.0
"""A scheduler that does not answer for this time is not there."""


def here(count: int) -> Machines:
    """`count` gradings side by side, each on its own share of the cores.

    CannotDo if there are fewer cores than that.
    """
    cores = sorted(os.sched_getaffinity(0))
    if count > len(cores):
        raise CannotDo(f"--jobs: {count} gradings need as many cores, and there are {len(cores)}")
    shares: SimpleQueue[tuple[int, ...]] = SimpleQueue()
    for at in range(count):
        shares.put(tuple(cores[at::count]))

    def run_on_share(each: Job) -> Done:
        share = shares.get()
        try:
            return job.run(replace(each, cores=share))
        finally:
            shares.put(share)

    def run_all(jobs: Sequence[Job]) -> Iterator[tuple[Job, Done]]:
        with parallel.threads(count) as pool:
            futures = {pool.submit(run_on_share, each): each for each in jobs}
            try:
                for done in as_completed(futures):
                    yield futures[done], done.result()
            finally:
                for future in futures:  # what has not begun, if the caller wants no more
                    future.cancel()

    return run_all


@contextmanager
def cluster(where: str) -> Iterator[Machines]:
    """`where`: MODULE.CLASS:COUNT for the workers of one of Dask's cluster classes, or the address
    of a scheduler.

    Both use the certificates that Dask's configuration names. CannotDo if it is neither, if nothing
    can be reached there, or if its connections are not encrypted.
    """
    from distributed import Client  # installed when asked for: see autograder/packages.sh

    try:
        if "://" in where:
            _require_tls(where, where)
            with Client(where, timeout=REACH_S) as client:
                yield _of_client(client)
            return
        name, _, count = where.partition(":")
        if "." not in name or not count.isdecimal() or int(count) == 0:
            raise CannotDo(
                f"--on: '{where}' is neither {HERE}, nor a class and a number of workers"
                " (distributed.LocalCluster:8), nor an address (tls://...)"
            )
        made = pkgutil.resolve_name(name)()
        with made, Client(made) as client:
            _require_tls(made.scheduler_address, where)
            made.scale(int(count))
            yield _of_client(client)
    except (ImportError, AttributeError, OSError, TypeError, ValueError, RuntimeError) as error:
        raise CannotDo(f"--on {where}: {error}") from error


def _require_tls(address: str, where: str) -> None:
    if not address.startswith(("tls://", "inproc://")):
        raise CannotDo(
            f"--on {where}: {address} is not encrypted, and a job has the course's key: use tls://"
            " (https://distributed.dask.org/en/stable/tls.html)"
        )


def _of_client(client: "Client") -> Machines:
    def run_all(jobs: Sequence[Job]) -> Iterator[tuple[Job, Done]]:
        from distributed import as_completed as dask_as_completed

        # A grading has no effect but its result: pure=False, since the same job may be run again.
        futures = {client.submit(job.run, each, pure=False): each for each in jobs}
        for future in dask_as_completed(list(futures)):
            error = future.exception()
            yield (
                futures[future],
                Done(None, f"{type(error).__name__}: {error}") if error else future.result(),
            )

    return run_all
