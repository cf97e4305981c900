"""Ports for programs that take no socket."""

import itertools

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.cluster import ports


def test_a_port_that_is_taken_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ports.find_free(2)
    monkeypatch.setattr(ports, "UNHANDED", range(first, second + 1, second - first))
    monkeypatch.setattr(ports, "_next", itertools.count())
    with ports.listen(first):
        assert ports.find_free(1) == [second]


def test_a_port_is_not_given_twice_in_a_row() -> None:
    found = [port for _ in range(3) for port in ports.find_free(4)]
    assert len(set(found)) == len(found) == 12
    assert set(found) <= set(ports.UNHANDED)


def test_too_few_free_ports_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = ports.find_free(1)
    monkeypatch.setattr(ports, "UNHANDED", range(port, port + 1))
    with ports.listen(port), pytest.raises(CannotDo, match=f"no 1 free ports between {port}"):
        ports.find_free(1)
