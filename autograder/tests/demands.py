"""Demands that keep a test able to fail."""

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def some(items: Iterable[Item]) -> list[Item]:
    """All items, of which there is at least one: assertions in a loop over none hold always."""
    found = list(items)
    assert found, "no item to look at"
    return found
