"""Jobs side by side."""

import threading

import pytest

from failslow import parallel


def test_a_result_is_told_while_others_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("failslow.machine.jobs", lambda: 2)
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
