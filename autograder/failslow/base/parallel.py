"""Runs jobs side by side and gives their results back in order."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from operator import attrgetter
from typing import TypeVar

from failslow.base import machine, process
from failslow.base.console import Advance

Job = TypeVar("Job")
Result = TypeVar("Result")


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """For jobs that run children. An interrupt of the body kills all children first, also one that
    comes while jobs are handed out: the end of the block waits for the jobs under way."""
    with ThreadPoolExecutor(max_workers=count) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            process.stop_all()
            raise


def run_all(
    jobs: Sequence[Job],
    work: Callable[[Job], Result],
    advance: Advance,
    name_of: Callable[[Job], str] = attrgetter("name"),
    ended: Callable[[Job, Result], None] = lambda job, result: None,
) -> list[Result]:
    """Results in the order of `jobs`, not in the order of their ends. `name_of` a job is shown.
    `ended` is called with each result as it comes, in the caller's thread.

    The first exception of a job is raised after the running jobs have ended; jobs that have not
    begun are dropped. On an interrupt all children are killed.
    """
    advance(0, len(jobs), "")
    with threads(machine.jobs()) as pool:
        futures = {pool.submit(work, job): job for job in jobs}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                ended(futures[future], future.result())
                advance(done, len(jobs), name_of(futures[future]))
        except Exception:
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]
