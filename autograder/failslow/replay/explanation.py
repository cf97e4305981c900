"""Explains the problem of a run: the guilty step, and the steps that led to it, backwards."""

import re
from collections import defaultdict
from dataclasses import dataclass

from failslow.replay.causality import TIMER, Causality, Cause
from failslow.replay.recording import (
    FIRST_CLIENT,
    Down,
    Mark,
    Message,
    Note,
    Operation,
    Wait,
    World,
    name_of,
)

CHAIN_MAX = 5
WINDOW_MAX = 40
"""Operations of a window that is not linearizable. A larger one is shown in part."""

Event = Note | Message | Wait | Down | Operation | Mark

PILED_UP_MIN = 3
REPEATED_MIN = 10
REPEATED_WITHIN_NS = 100_000_000
"""A heartbeat is answered less often."""

_ANSWERS = re.compile(r"\b(reply|answers|acknowledges|grants|votes|takes entries)\b")
_REPLICA = re.compile(r"\breplica (\d+)\b")
_TWO_VOTES = re.compile(
    r"replica (\d+) votes in term (\d+) for replica (\d+) and for replica (\d+)"
)
_TWO_LEADERS = re.compile(r"replica (\d+) and replica (\d+) both lead term (\d+)")
_OTHER_LEADER = re.compile(r"Leader\(\)\s+Which is: (-?\d+)\n.*\s+Which is: (\d+)")
_OTHER_TERM = re.compile(r"claims\(leader\)\.term\s+Which is: \d+\n.*\s+Which is: (\d+)")
_TOO_LONG = re.compile(r"\) <= \(.*, actual: (\d+)ns vs \d+ns")
_AMOUNT = re.compile(r"\) [<>]=? \(.*, actual: \d+ vs \d+")
_IS_UP = re.compile(r"\bIsUp\(.*\n\s*Actual: true")
_TOLD = re.compile(r" violated at (?P<seconds>\d+)\.(?P<micros>\d{6}) s: replica (?P<replica>\d+)")
_DIED = re.compile(r"^replica (\d+) died: (.*)", re.M)


@dataclass(frozen=True)
class Step:
    """An event of the world, and a sentence on its part."""

    event: Event
    why: str


def explain(world: World) -> list[Step]:
    """The guilty step first; then what led to it, the latest first. Empty without a problem."""
    problem = world.first_problem()
    if problem is None:
        return []
    explanation = _Explanation(world, problem)
    return explanation.steps()


def in_words(world: World) -> list[str]:
    """The explanation as lines of text; empty without a problem."""
    lines = [
        f"{number:3}. {step.why}\n       {_words_of(step.event)}\n"
        for number, step in enumerate(explain(world), start=1)
    ]
    return ["What led to it, backwards:\n", *lines] if lines else []


def _words_of(event: Event) -> str:
    """One line: the time, and what the page's table says of the event."""
    if isinstance(event, Message):
        way = f"{name_of(event.sender)} to {name_of(event.receiver)}"
        return f"{_seconds(event.sent)}  {way}: {event.type} {event.contents}"
    if isinstance(event, Wait):
        return f"{_seconds(event.start)}  replica {event.replica}: {event.name} on {event.event}"
    if isinstance(event, Down):
        return f"{_seconds(event.start)}  replica {event.replica}: {event.why}"
    if isinstance(event, Operation):
        said = event.reply if event.end is None else f"{event.reply} at {_seconds(event.end)}"
        return f"{_seconds(event.begin)}  client {event.client}: {event.command} -> {said}"
    said = event.headline if isinstance(event, Note) else event.text
    return f"{_seconds(event.when)}  {said}"


def _place(wait: Wait) -> tuple[int, str, str]:
    return wait.replica, wait.name, wait.event


def _seconds(when: int) -> str:
    return f"{when // 1000 / 1e6:.6f} s"


class _Explanation:
    def __init__(self, world: World, problem: Note) -> None:
        self._world = world
        self._problem = problem
        self._causality = Causality(world)

    def steps(self) -> list[Step]:
        if self._problem.problem == "crash":
            return self._of_crash()
        if died := self._own_death():
            return [Step(died, f"Replica {died.replica} dies in this step."), *self._last_of(died)]
        if self._problem.problem == "violation":
            return self._of_violation()
        return self._of_operations() or self._of_script() or self._of_failure()

    # ---- violations ----

    def _of_violation(self) -> list[Step]:
        first = Step(self._problem, "The invariant breaks here.")
        return [first, *(self._of_two_votes() or self._of_two_leaders() or self._of_step())]

    def _of_two_votes(self) -> list[Step]:
        """Both votes, and the requests for them."""
        found = _TWO_VOTES.search(self._problem.text)
        if found is None:
            return []
        voter, term = int(found[1]), found[2]
        votes = [self._vote(voter, int(candidate), term) for candidate in (found[4], found[3])]
        names = ("second", "first")
        known = [
            (vote, f"The {name} vote of replica {voter} in term {term}.")
            for vote, name in zip(votes, names, strict=True)
            if vote is not None
        ]
        steps = [Step(vote, why) for vote, why in known]
        for vote, _ in known:
            if (request := self._causality.request_of(vote)) is not None:
                steps.append(
                    Step(request, f"Request for the vote, from {name_of(request.sender)}.")
                )
        return steps

    def _vote(self, voter: int, candidate: int, term: str) -> Message | None:
        """The reply that grants it. A candidate's own vote is seen in its first request. A test may
        ask on a candidate's behalf, so the connection says nothing."""

        def asks(message: Message | None) -> bool:
            wanted = {"term": term, "candidate": str(candidate), "pre_vote": "false"}
            return message is not None and wanted.items() <= message.fields.items()

        for message in self._world.messages:
            if message.sender != voter:
                continue
            if voter == candidate and asks(message):
                return message
            granted = message.fields.get("granted") == "true"
            if granted and asks(self._causality.request_of(message)):
                return message
        return None

    def _of_two_leaders(self) -> list[Step]:
        """The votes for either."""
        found = _TWO_LEADERS.search(self._problem.text)
        if found is None:
            return []
        term = found[3]
        steps = []
        for leader in (int(found[2]), int(found[1])):
            for voter in range(self._world.replicas):
                if voter != leader and (vote := self._vote(voter, leader, term)) is not None:
                    steps.append(
                        Step(vote, f"Replica {voter} votes for replica {leader} in term {term}.")
                    )
        return steps

    def _of_step(self) -> list[Step]:
        """The message that the guilty step sends, if it sends one, and what led to the step."""
        when = self._problem.when
        found = _REPLICA.search(self._problem.text)
        if found is None:
            return []
        replica = int(found[1])
        sent = self._sent_by(replica)
        if sent is None:
            return self._chain(self._causality.chain(replica, when, CHAIN_MAX), replica)
        step = Step(sent, f"Replica {replica} sends this in the guilty step.")
        return [step, *self._behind(sent)]

    def _sent_by(self, replica: int) -> Message | None:
        """Of the messages that the guilty step sends, the one with most of the words and numbers
        that the violation names."""
        when, text = self._problem.when, self._problem.text
        numbers = {*re.findall(r"\d+", text)}

        def agreement(message: Message) -> int:
            method, _, kind = message.type.partition(" ")
            is_meant = (kind == "reply") == bool(_ANSWERS.search(text))
            return 2 * (method in text) + is_meant + len(numbers & {*message.fields.values()})

        sent = [m for m in self._world.messages if m.sender == replica and m.sent == when]
        return max(sent, key=agreement, default=None)

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

    # ---- crashes ----

    def _own_death(self) -> Down | None:
        """That of a replica which died by itself, not after the first violation."""
        for note in self._world.notes:
            if note.problem != "failure" or (found := _DIED.search(note.text)) is None:
                continue
            for down in self._world.downs:
                if down.replica == int(found[1]) and down.why.startswith(found[2]):
                    return down if down.start <= self._problem.when else None
        return None

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

    def _of_failure(self) -> list[Step]:
        """What the test judged, and what led to it. If that is not known, or is an amount of
        something, the failure, and the waits that had not ended."""
        failure = Step(self._problem, "The test fails here.")
        guilty = (
            self._told()
            or self._slowest()
            or self._judged()
            or self._lost_leadership()
            or self._latest_restart()
            or self._named_request()
            or self._repeated()
            or self._piled_up()
        )
        if guilty and not _AMOUNT.search(self._problem.text):
            return [guilty[0], failure, *guilty[1:]]
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
        """The answer that broke an invariant, at the time that the test's report has."""
        found = next((f for n in self._world.notes if (f := _TOLD.search(n.text))), None)
        if found is None or self._problem.problem != "failure":
            return []
        micros = int(found["seconds"]) * 1_000_000 + int(found["micros"])
        for answer in self._answers(since=micros * 1000):
            is_then = answer.end is not None and answer.end // 1000 == micros
            if is_then and answer.sender == int(found["replica"]):
                why = f"The answer of replica {answer.sender} that breaks the invariant."
                return [Step(answer, why), *self._behind(answer)]
        return []

    def _judged(self) -> list[Step]:
        """The answer at this instant."""
        answers = self._answers(since=self._problem.when)
        if not answers:
            return []
        why = f"The answer of replica {answers[0].sender} that the test judges."
        return [Step(answers[0], why), *self._behind(answers[0])]

    def _slowest(self) -> list[Step]:
        """If the test finds a time too long: the slowest answer in that time, and before it the
        wait that delayed it."""
        found = _TOO_LONG.search(self._problem.text)
        if found is None:
            return []
        timed = [
            (answer.end - request.sent, answer, request)
            for answer in self._answers(since=self._problem.when - int(found[1]))
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

    def _behind(self, message: Message) -> list[Step]:
        return self._chain(self._causality.behind(message, CHAIN_MAX), message.sender)

    def _lost_leadership(self) -> list[Step]:
        """The end of the leadership that the test expects to last: of a replica, or of a term."""
        notes = [n for n in self._world.notes if n.when <= self._problem.when]
        leader = self._expected_leader(notes)
        role = f"replica {leader} is "
        roles = [n for n in notes if n.text.startswith(role)]
        led = [n.text.startswith(f"{role}leader") for n in roles]
        for before, after, note in reversed([*zip(led, led[1:], roles[1:], strict=False)]):
            if before and not after:
                return [Step(note, f"Replica {leader} gives up its leadership.")]
        return []

    def _expected_leader(self, notes: list[Note]) -> str:
        if found := _OTHER_LEADER.search(self._problem.text):
            return found[2] if found[1] != found[2] else ""
        if found := _OTHER_TERM.search(self._problem.text):
            for note in notes:
                if led := re.fullmatch(rf"replica (\d+) is leader in term {found[1]}", note.text):
                    return led[1]
        return ""

    def _latest_restart(self) -> list[Step]:
        """Of a replica that should have refused to start."""
        if not _IS_UP.search(self._problem.text):
            return []
        when = self._problem.when
        ended = [d for d in self._world.downs if d.end is not None and d.end <= when]
        latest = max(ended, key=lambda down: down.end or 0, default=None)
        why = "The latest restart before the test looks."
        return [Step(note, why) for note in self._restarts(latest)] if latest else []

    def _named_request(self) -> list[Step]:
        """The latest request whose method the failure names."""
        named = {*re.findall(r"\b\w+\b(?!\()", self._problem.headline)}  # no call of the test
        for message in reversed(self._world.messages):
            method, _, kind = message.type.partition(" ")
            if kind == "request" and message.sent <= self._problem.when and method in named:
                why = f"The latest {method} before the test looks."
                return [Step(message, why), *self._behind(message)]
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
