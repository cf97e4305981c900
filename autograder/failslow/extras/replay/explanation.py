"""Explains the problem of a run: the faulty step, and the steps that led to it, backwards."""

import re

from failslow.extras.replay.failures import Failure
from failslow.extras.replay.recording import (
    FIRST_CLIENT,
    Down,
    Earlier,
    Mark,
    Message,
    Note,
    Operation,
    Wait,
    World,
    name_of,
)
from failslow.extras.replay.steps import CHAIN_MAX, Event, Explainer, Step

WINDOW_MAX = 40
"""Operations of a window that is not linearizable. A larger one is shown in part."""

_REPLICA = re.compile(r"\breplica (\d+)\b")


def explain(world: World) -> list[Step]:
    """The faulty step first; then what led to it, the latest first. Empty without a problem."""
    problem = world.first_problem()
    if problem is None:
        return []
    explanation = _Explanation(world, problem)
    return explanation.steps()


def in_words(world: World) -> list[str]:
    """The explanation as lines of text; empty without a problem."""
    lines = [
        f"{number:3}. {step.why}\n       {words_of(step.event)}\n"
        for number, step in enumerate(explain(world), start=1)
    ]
    return ["What led to it, backwards:\n", *lines] if lines else []


def words_of(event: Event) -> str:
    """One line: the time, and what the page's table says of the event."""
    if isinstance(event, Message):
        way = f"{name_of(event.sender)} to {name_of(event.receiver)}"
        return f"{seconds(event.sent)}  {way}: {event.type} {event.contents}"
    if isinstance(event, Wait):
        return f"{seconds(event.start)}  replica {event.replica}: {event.name} on {event.event}"
    if isinstance(event, Down):
        return f"{seconds(event.start)}  replica {event.replica}: {event.why}"
    if isinstance(event, Operation):
        said = event.reply if event.end is None else f"{event.reply} at {seconds(event.end)}"
        return f"{seconds(event.begin)}  client {event.client}: {event.command} -> {said}"
    said = event.headline if isinstance(event, Note) else event.text
    return f"{seconds(event.when)}  {said}"


def seconds(when: int) -> str:
    return f"{when // 1000 / 1e6:.6f} s"


class _Explanation(Explainer):
    def steps(self) -> list[Step]:
        if self._problem.problem == "crash":
            return self._of_crash()
        if died := self._own_death():
            return [Step(died, f"Replica {died.replica} dies in this step."), *self._last_of(died)]
        if self._problem.problem == "violation":
            return self._of_violation()
        return (
            self._of_operations()
            or self._of_script()
            or Failure(self._world, self._problem).steps()
        )

    # ---- violations ----

    def _of_violation(self) -> list[Step]:
        first = Step(self._problem, "The invariant breaks here.")
        return [first, *self._of_step()]

    def _of_step(self) -> list[Step]:
        """The message that breaks the rule, if one does, the earlier steps that the checker names,
        and what led to the step."""
        judged = self._problem.judged
        if judged is None or judged.replica is None:
            return []
        when, replica = self._problem.when, judged.replica
        sent = self._sent_by(replica)
        if sent is None:
            causes = self._causality.chain(replica, when, CHAIN_MAX)
            return [*self._earlier(), *self._chain(causes, replica)]
        step = Step(sent, f"Replica {replica} sends this in the faulty step.")
        return [step, *self._earlier(), *self._behind(sent)]

    def _sent_by(self, replica: int) -> Message | None:
        """The message whose frame the checker looked at."""
        for message in self._world.messages:
            is_then = message.sender == replica and message.sent == self._problem.when
            if is_then and (message.type, message.call) == self._problem.frame:
                return message
        return None

    def _earlier(self) -> list[Step]:
        """Each with the request for it, if it is a reply."""
        steps = []
        for earlier in self._problem.earlier:
            message = self._read_in(earlier) if earlier.was_read else self._sent_in(earlier)
            if message is None:  # such as a vote that was seen on a disk
                causes = self._causality.chain(earlier.replica, earlier.at, 1)
                why = f"{earlier.why} It followed this."
                steps += [Step(each, why) for each in causes if not isinstance(each, Down)]
                continue
            steps.append(Step(message, earlier.why))
            if (request := self._causality.request_of(message)) is not None:
                steps.append(Step(request, f"Its request, from {name_of(request.sender)}."))
        return steps

    def _read_in(self, step: Earlier) -> Message | None:
        """A client's message rather than another's."""
        read = [
            each
            for each in self._world.messages
            if each.receiver == step.replica and each.read == step.at
        ]
        return max(read, key=lambda each: each.sender >= FIRST_CLIENT, default=None)

    def _sent_in(self, step: Earlier) -> Message | None:
        """A message of the kind that breaks the rule; a candidate votes for itself by a request."""
        sent = [
            each
            for each in self._world.messages
            if each.sender == step.replica and each.sent == step.at
        ]
        kind = "" if self._problem.frame is None else self._problem.frame[0].partition(" ")[0]
        return next((each for each in sent if each.type.partition(" ")[0] == kind), None)

    # ---- crashes ----

    def _own_death(self) -> Down | None:
        """The first death of a replica by itself, unless a problem of another kind comes first."""
        first = next((down for down in self._world.downs if down.own), None)
        return first if first is not None and first.start <= self._problem.when else None

    def _of_crash(self) -> list[Step]:
        first = Step(self._problem, "The process crashes in this step.")
        found = _REPLICA.search(self._problem.text)
        if found is None:
            return [first]
        return [first, *self._last_of(Down(int(found[1]), self._problem.when, ""))]

    def _last_of(self, death: Down) -> list[Step]:
        """The message that the step was about to read, or the last that the replica had read; what
        it sent last; what the coroutine waited for last."""
        replica, when = death.replica, death.start
        steps = []
        mine = [m for m in self._world.messages if m.sender == replica and m.sent <= when]
        unread = [
            m
            for m in self._world.messages
            if m.receiver == replica and m.fate == "arrived" and m.read is None
            and m.end is not None and m.end <= when
        ]  # fmt: skip
        chain = self._causality.chain(replica, when, CHAIN_MAX)
        if unread:
            read = min(unread, key=lambda m: (not self._is_named(m), m.end))
            steps.append(Step(read, "This message had arrived, and the step reads it."))
        else:
            steps += self._chain(chain, replica)[:1]
        if mine:
            steps.append(Step(mine[-1], f"The last message that replica {replica} sent."))
        named = re.search(r"in coroutine '([^']*)'", self._problem.text)
        # The coroutine that runs has just been woken.
        waits = [
            (wait.end, wait)
            for wait in self._world.waits
            if wait.replica == replica and wait.end is not None and wait.end <= when
            and named and wait.name == named[1]
        ]  # fmt: skip
        if waits:
            _, last = max(waits, key=lambda ended: ended[0])
            if all(step.event is not last for step in steps):
                steps.append(Step(last, "What the coroutine waited for last."))
        return steps

    def _is_named(self, message: Message) -> bool:
        """Whether the report of the crash names the message's method."""
        return message.type.partition(" ")[0] in self._problem.text

    # ---- failures of tests ----

    def _of_operations(self) -> list[Step]:
        """The window that is not linearizable: the marked operation first."""
        window = sorted(self._world.operations, key=lambda each: (not each.marked, each.begin))
        return [
            Step(each, "No order of these operations explains this reply." if each.marked else
                 f"An operation of client {each.client} in the same window.")
            for each in window[:WINDOW_MAX]
        ]  # fmt: skip

    def _of_script(self) -> list[Step]:
        """The wrong step, the one before it in the script, and the votes before it."""
        marks = self._script()
        if not marks:
            return []
        wrong = marks[-1]
        before = [mark for mark in marks[:-1] if mark.when <= wrong.when]
        steps = [Step(wrong, "This step of the script goes wrong.")]
        if before and not before[-1].vote:
            steps.append(Step(before[-1], "The step before it."))
        votes = [mark for mark in before if mark.vote]
        return steps + [Step(vote, "A vote before it.") for vote in votes[: -CHAIN_MAX - 1 : -1]]

    def _script(self) -> list[Mark]:
        """The steps up to the wrong one, of the last script that goes wrong: a test that makes
        scripts shorter reports that one. Empty without one."""
        marks = self._world.marks
        wrong = max((index for index, mark in enumerate(marks) if mark.wrong), default=-1)
        firsts = [index for index in range(wrong + 1) if marks[index].text.startswith("#1 ")]
        return marks[firsts[-1] if firsts else 0 : wrong + 1]
