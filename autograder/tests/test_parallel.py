"""Jobs side by side."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from failslow.base import parallel


def test_a_result_is_told_while_others_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("failslow.base.machine.jobs", lambda: 2)
    told = threading.Event()
    ended: list[tuple[str, bool]] = []

    def work(job: str) -> bool:
        return job == "quick" or told.wait(timeout=60)

    def note(job: str, result: bool) -> None:
        ended.append((job, result))
        told.set()

    results = parallel.run_all(["waits", "quick"], work, lambda *_: None, str, note)
    assert ended == [("quick", True), ("waits", True)]
    assert results == [True, True]


class Interrupted(Sequence[str]):
    """Its second job comes too late: the command is interrupted while jobs are handed out."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: object) -> str:  # type: ignore[override]
        return "first"

    def __iter__(self) -> Iterator[str]:
        yield "first"
        raise KeyboardInterrupt


def test_an_interrupt_while_jobs_are_handed_out_kills_those_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed = threading.Event()
    in_time = []
    monkeypatch.setattr("failslow.base.process.stop_all", killed.set)
    with pytest.raises(KeyboardInterrupt):
        parallel.run_all(
            Interrupted(), lambda _: in_time.append(killed.wait(timeout=20)), lambda *_: None, str
        )
    assert in_time == [True]
