"""The tester's part of a run of lab 1. A request carries a script to a replica, and a reply carries
what came of each step: both are tables of numbers, which the recorded steps say in words."""

from collections.abc import Iterable

from failslow.extras.replay.recording import FIRST_CLIENT, World

_REQUEST = "the script, whose steps stand below in words"
_REPLY = "what came of each step, as it stands above"


def put_in_words(worlds: Iterable[World]) -> None:
    """Leaves out the wait of the call that carries the script, too: it lasts for the whole run."""
    for world in worlds:
        if not any(mark.text.startswith("#") for mark in world.marks):
            continue  # the marks of another lab's replicas
        carriers = set()
        for message in world.messages:
            if message.sender >= FIRST_CLIENT or message.receiver >= FIRST_CLIENT:
                method, _, kind = message.type.partition(" ")
                carriers.add(method)
                message.body, message.fields = _REPLY if kind == "reply" else _REQUEST, {}
        world.waits = [wait for wait in world.waits if wait.name not in carriers]
