"""A step of an explanation, and what led to a step."""

from dataclasses import dataclass

from failslow.extras.replay.causality import Causality, Cause
from failslow.extras.replay.recording import Down, Mark, Message, Note, Operation, Wait, World

CHAIN_MAX = 5

Event = Note | Message | Wait | Down | Operation | Mark


@dataclass(frozen=True)
class Step:
    """An event of the world, and a sentence on its part."""

    event: Event
    why: str


class Explainer:
    """The explainer of one problem of a world."""

    def __init__(self, world: World, problem: Note) -> None:
        self._world = world
        self._problem = problem
        self._causality = Causality(world)

    def _behind(self, message: Message) -> list[Step]:
        return self._chain(self._causality.behind(message, CHAIN_MAX), message.sender)

    def _chain(self, causes: list[Cause], replica: int) -> list[Step]:
        """`replica`: the one whose step the first of the causes led to."""
        steps = []
        for cause in causes:
            if isinstance(cause, Wait):
                steps.append(Step(cause, f"Replica {cause.replica} did that when its timer fired."))
                break
            if isinstance(cause, Down):
                why = f"Replica {cause.replica} did that after its restart."
                steps += [Step(note, why) for note in self._restarts(cause)]
                break
            steps.append(Step(cause, f"Replica {replica} did that after it had read this."))
            replica = cause.sender
        return steps

    def _restarts(self, down: Down) -> list[Note]:
        """The line of the history that says so: the mark of a replica that is down begins with its
        death."""
        line = f"replica {down.replica} restarts"
        return [n for n in self._world.notes if n.when == down.end and n.text == line]
