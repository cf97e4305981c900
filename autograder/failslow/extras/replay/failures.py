"""Explains the failure of a test: finds what the test judged."""

import re
from collections import defaultdict

from failslow.extras.replay.causality import TIMER
from failslow.extras.replay.recording import FIRST_CLIENT, Message, Wait
from failslow.extras.replay.steps import CHAIN_MAX, Explainer, Step

PILED_UP_MIN = 3
REPEATED_MIN = 10
REPEATED_WITHIN_NS = 100_000_000
"""A heartbeat is answered less often."""

_AMOUNT = re.compile(r"\) [<>]=? \(.*, actual: \d+ vs \d+")
"""GoogleTest's form of a comparison."""


class Failure(Explainer):
    def steps(self) -> list[Step]:
        """The step that the test judged, and its causes. If that is not known, or is an amount of
        something, the failure, and the waits that had not ended."""
        failure = Step(self._problem, "The test fails here.")
        faulty = self._told() or self._judged() or self._repeated() or self._piled_up()
        if faulty and not _AMOUNT.search(self._problem.text):
            return [faulty[0], failure, *faulty[1:]]
        waits = [Step(w, f"Replica {w.replica} still waits for this.") for w in self._open_waits()]
        answers = self._answers(since=0)
        if answers:
            waits.append(Step(answers[-1], "The last answer that a client got."))
        return [failure, *waits]

    def _answers(self, since: int) -> list[Message]:
        """Those that clients got from then on, in the order in which they got them."""
        got = [
            (m.end, m)
            for m in self._world.messages
            if m.receiver >= FIRST_CLIENT
            and m.end is not None
            and since <= m.end <= self._problem.when
        ]
        return [m for _, m in sorted(got, key=lambda each: each[0])]

    def _told(self) -> list[Step]:
        """The step that the test has recorded as what it judges: see framework/testkit/judged.h."""
        told = next((n.judged for n in self._world.notes if n.problem and n.judged), None)
        if told is None:
            return []
        if told.replica is None:
            return self._slowest(told.at)
        for answer in self._answers(since=told.at):
            if (answer.end, answer.sender) == (told.at, told.replica):
                why = f"The answer of replica {answer.sender} that breaks the rule."
                return [Step(answer, why), *self._behind(answer)]
        for down in self._world.downs:
            if (down.end, down.replica) == (told.at, told.replica):
                why = "The restart that the test judges."
                return [Step(note, why) for note in self._restarts(down)]
        return self._lost_leadership(told.replica)

    def _judged(self) -> list[Step]:
        """The answer at this instant."""
        answers = self._answers(since=self._problem.when)
        if not answers:
            return []
        why = f"The answer of replica {answers[0].sender} that the test judges."
        return [Step(answers[0], why), *self._behind(answers[0])]

    def _slowest(self, since: int) -> list[Step]:
        """The slowest answer since then, and before it the wait that delayed it."""
        timed = [
            (answer.end - request.sent, answer, request)
            for answer in self._answers(since)
            if answer.end is not None and (request := self._causality.request_of(answer))
        ]
        if not timed:
            return []
        _, answer, request = max(timed, key=lambda each: each[0])
        step = Step(answer, "The slowest answer in the time that the test measures.")
        return [*self._delay(request, answer), step, *self._behind(answer)]

    def _delay(self, request: Message, answer: Message) -> list[Step]:
        """The longest wait in between of the coroutine that woke last before the answer."""
        woken: dict[int, list[tuple[int, int, Wait]]] = defaultdict(list)
        for wait in self._world.waits:
            is_its_own = wait.replica == answer.sender and wait.start >= request.sent
            if is_its_own and wait.end is not None and wait.end <= answer.sent:
                woken[wait.coroutine].append((wait.end, wait.end - wait.start, wait))
        if not woken:
            return []
        last = max(woken.values(), key=lambda each: max(end for end, _, _ in each))
        *_, longest = max(last, key=lambda each: each[1])
        why = f"Replica {answer.sender} waited for this while the client waited for its answer."
        return [Step(longest, why)]

    def _lost_leadership(self, leader: int) -> list[Step]:
        """The end of its leadership, which the test expects to last."""
        role = f"replica {leader} is "
        notes = [n for n in self._world.notes if n.when <= self._problem.when]
        roles = [n for n in notes if n.text.startswith(role)]
        led = [n.text.startswith(f"{role}leader") for n in roles]
        for before, after, note in reversed([*zip(led, led[1:], roles[1:], strict=False)]):
            if before and not after:
                return [Step(note, f"Replica {leader} gives up its leadership.")]
        return []

    def _piled_up(self) -> list[Step]:
        """The longest of several waits of one kind: each new coroutine gets stuck at one place."""
        open_ = [wait for wait in self._open_waits() if not wait.event.startswith(TIMER)]
        alike = [[w for w in open_ if _place(w) == _place(wait)] for wait in open_]
        most = max(alike, key=len, default=[])
        if len(most) < PILED_UP_MIN:
            return []
        return [Step(w, f"Replica {w.replica} still waits for this.") for w in most]

    def _repeated(self) -> list[Step]:
        """The reply that one replica gave another most often just before, and what led to it."""
        when = self._problem.when
        replies: dict[tuple[int, int, str, str], list[Message]] = defaultdict(list)
        for m in self._world.messages:
            is_recent = when - REPEATED_WITHIN_NS <= m.sent <= when
            if is_recent and m.receiver < FIRST_CLIENT and m.type.endswith(" reply"):
                replies[m.sender, m.receiver, m.type, m.contents].append(m)
        most = max(replies.values(), key=len, default=[])
        if len(most) < REPEATED_MIN:
            return []
        why = f"Replica {most[-1].sender} repeats this: {len(most)} times in the last 100 ms."
        return [Step(most[-1], why), *self._behind(most[-1])]

    def _open_waits(self) -> list[Wait]:
        """The longest first. A timer's wait hinders nobody, so timers are the last."""
        when = self._problem.when
        open_ = [
            wait
            for wait in self._world.waits
            if wait.start <= when and (wait.end is None or wait.end > when)
        ]
        longest = sorted(open_, key=lambda wait: (wait.event.startswith(TIMER), wait.start))
        return longest[:CHAIN_MAX]


def _place(wait: Wait) -> tuple[int, str, str]:
    return wait.replica, wait.name, wait.event
