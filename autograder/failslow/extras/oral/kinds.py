"""The kinds of oral questions. Each looks for its situations in a run; a run may have none."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from failslow.extras.oral.runs import Run
from failslow.extras.replay.causality import Causality, Cause
from failslow.extras.replay.explanation import explain, seconds, words_of
from failslow.extras.replay.html_report import changes
from failslow.extras.replay.recording import FIRST_CLIENT, Down, Message, Wait

CHAIN = 3
"""Steps of a cause that a student is asked for."""
SHOWN_MAX = 3
LINE_MAX = 240
"""Characters of a step: the page has the rest of a long message."""
SAMPLE = 400
"""Messages of a run whose causes are looked for."""
STEP_NS = 50_000
"""Longer than a processor's work on a message."""
ANSWER_NS = 600_000
"""Longer than the same with a write to a disk without a fault."""
PAUSE_NS = 1_000_000
"""A timer of at most this is a pause for other coroutines, or a processor's work."""
QUORUM = "QuorumEvent"
REPLY = " reply"
FAILURE = "failure"


@dataclass(frozen=True)
class Question:
    """`about`: questions of one kind about the same thing differ in time alone. `answer`: lines,
    from the recording. `then`: the question that leads from the run to the code."""

    kind: str
    about: str
    text: str
    answer: tuple[str, ...]
    then: str


def failure(run: Run) -> Iterator[Question]:
    """The test fails: what broke, and why."""
    problem = run.world.first_problem()
    if run.outcome.passed or problem is None or not (steps := explain(run.world)):
        return
    text = (
        f"The test fails at {seconds(problem.when)}, since `{problem.headline}`. Which step, or"
        " which wait that does not end, is the reason, and what led to it?"
    )
    answer = tuple(f"{step.why} {words_of(step.event)}" for step in steps)
    then = "Which line is at fault, and which rule of the handout does it break?"
    yield Question(FAILURE, run.test.name, text, answer, then)


def wait(run: Run) -> Iterator[Question]:
    """A wait for several: for how many, and for whom."""
    then = "Show the line. What would break with one vote fewer, and what would one more cost?"
    for each in _quorum_waits(run):
        text = (
            f"At {seconds(each.start)} {_coroutine(each)} begins to wait at `{each.label}`. For how"
            " many votes does it wait, which replicas had answered when the wait ended, and when"
            " was that?"
        )
        yield Question("wait", f"{each.name} {each.label}", text, (_ended(run, each),), then)


def fault(run: Run) -> Iterator[Question]:
    """A fault of few replicas, and who goes on without them."""
    then = "Which number in these waits keeps the fault from a client? Show its line."
    for each in run.world.faults:
        end = run.world.end if each.end is None else each.end
        waits = [
            w
            for w in _quorum_waits(run)
            if w.replica not in each.replicas and each.start <= w.start and (w.end or 0) <= end
        ]
        if not waits or 2 * len(each.replicas) >= run.world.replicas:
            continue
        without = [w for w in waits if not {*each.replicas} & {*_read_in(run, w)}]
        whom = " or ".join(f"replica {number}" for number in each.replicas)
        text = (
            f"From {seconds(each.start)} to {seconds(end)} the run has this fault:"
            f" {each.text.partition(' from ')[0]}. Find a wait for votes on another replica that"
            f" begins and ends meanwhile, without any answer of {whom} in between. If there is"
            " none, say what that costs."
        )
        shown = [
            f"{_coroutine(w)} at `{w.label}` from {seconds(w.start)} on. {_ended(run, w)}"
            for w in without[:SHOWN_MAX]
        ]
        counts = f"{len(without)} of {len(waits)} such waits end so."
        yield Question("fault", each.kind, text, (counts, *shown), then)


def cause(run: Run) -> Iterator[Question]:
    """A message between replicas, and the steps that led to it."""
    causality = Causality(run.world)
    then = "Where in your code does the last of these steps lead to the message?"
    between = [m for m in run.world.messages if max(m.sender, m.receiver) < FIRST_CLIENT]
    for each in between[:: 1 + len(between) // SAMPLE]:
        causes = causality.behind(each, CHAIN)
        if len(causes) > 1 and _is_close(causes, each.sent, each.type):
            text = (
                f"At {seconds(each.sent)} replica {each.sender} sends {each.type} to replica"
                f" {each.receiver}. What had it read, or which timer had fired, so that it sent"
                f" this? Go back {len(causes)} steps."
            )
            yield Question("cause", each.type, text, tuple(map(_said, causes)), then)


def state(run: Run) -> Iterator[Question]:
    """A change of what a replica shows, and the step that made it."""
    causality = Causality(run.world)
    then = "Why is the change safe at this moment, and not one step earlier?"
    for shown in run.shows:
        began: set[int] = set()
        for when, replica, value in changes(run.world, shown):
            causes = causality.chain(replica, when, CHAIN) if replica in began else []
            began.add(replica)
            if causes and _is_close(causes, when):
                text = (
                    f"At {seconds(when)} replica {replica} shows {shown.name}:"
                    f" {shown.in_words(value)}. Which step made it change, and what led to that?"
                )
                yield Question("state", shown.name, text, tuple(map(_said, causes)), then)


def loss(run: Run) -> Iterator[Question]:
    """A request that is lost, and how its sender makes up for it."""
    then = "Which part of your code makes up for a lost message, and what bounds its attempts?"
    arrived = [m for m in run.world.messages if m.fate == "arrived"]
    found: dict[bool, list[Question]] = {True: [], False: []}
    for each in run.world.messages:
        is_between = max(each.sender, each.receiver) < FIRST_CLIENT
        if each.fate != "lost" or not is_between or each.type.endswith(REPLY):
            continue
        way = each.sender, each.receiver, each.type
        later = [m for m in arrived if m.sent > each.sent and (*_way(m), m.type) == way]
        text = (
            f"The {each.type} that replica {each.sender} sends to replica {each.receiver} at"
            f" {seconds(each.sent)} is lost. Find the next message of this type on this way that"
            " arrives. Does it make up for the lost one?"
        )
        next_one = _said(later[0]) if later else "None: no such message reaches it any more."
        answer = (f"The lost one: {_said(each)}", next_one)
        found[bool(later)].append(Question("loss", each.type, text, answer, then))
    yield from found[True] or found[False]


Fields: TypeAlias = tuple[str, str, str, tuple[str, ...], str]
Kind: TypeAlias = Callable[[Run], Iterator[Question]]

KINDS: Sequence[Kind] = (failure, wait, fault, cause, state, loss)


def of_marks(make: Callable[[list[tuple[str, str]]], Iterator[Fields]]) -> Kind:
    """A lab's own kind. `make`: from the times and texts of a run's marks, in order."""

    def kind(run: Run) -> Iterator[Question]:
        marks = sorted(run.world.marks, key=lambda mark: mark.when)
        for fields in make([(seconds(mark.when), mark.text) for mark in marks]):
            yield Question(*fields)

    return kind


def _said(cause: Cause) -> str:
    """One line: the time at which it begins, and what the replay's page says of it."""
    words = textwrap.shorten(words_of(cause), LINE_MAX)
    at = cause.read if isinstance(cause, Message) else cause.end
    end = {Message: "read", Wait: "fires", Down: "up again"}[type(cause)]
    return words if at is None else f"{words} ({end} at {seconds(at)})"


def _way(message: Message) -> tuple[int, int]:
    return message.sender, message.receiver


def _quorum_waits(run: Run) -> list[Wait]:
    """Ended waits for some of several votes, that took time."""
    return [
        w
        for w in run.world.waits
        if QUORUM in w.event and w.total > 1 and w.end is not None and w.end > w.start
    ]


def _read_in(run: Run, wait: Wait) -> list[int]:
    """The replicas whose answers the waiting one reads during the wait."""
    read = (
        m.sender
        for m in run.world.messages
        if m.receiver == wait.replica and m.type.endswith(REPLY) and m.read is not None
        if wait.start < m.read <= (wait.end or 0)
    )
    return sorted({*read})


def _ended(run: Run, wait: Wait) -> str:
    answered = ", ".join(f"replica {number}" for number in _read_in(run, wait)) or "nobody"
    return (
        f"It ends at {seconds(wait.end or 0)}, {wait.outcome}: {wait.at_end}. Meanwhile it reads"
        f" answers of {answered}."
    )


def _coroutine(wait: Wait) -> str:
    return f"coroutine `{wait.name}` of replica {wait.replica}"


def _is_close(causes: Sequence[Cause], when: int, effect: str = "") -> bool:
    """Whether each step follows soon after its cause: what happened long before led to nothing. A
    pause tells no student why. `effect`: the type of the message that is sent then, or ""."""
    for each in causes:
        soon_ns = ANSWER_NS if effect.endswith(REPLY) else STEP_NS
        at = each.read if isinstance(each, Message) else each.end
        is_pause = isinstance(each, Wait) and (each.end or 0) - each.start <= PAUSE_NS
        if is_pause or at is None or when - at > soon_ns:
            return False
        when, effect = (each.sent, each.type) if isinstance(each, Message) else (at, "")
    return True
