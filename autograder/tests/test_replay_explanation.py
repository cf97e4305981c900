"""Replays: the faulty step, and what led to it."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.replay.causality import Causality
from failslow.extras.replay.explanation import explain
from failslow.extras.replay.recording import RULE_MAX, Mark, Message, Note, Wait, World
from failslow.extras.replay.steps import CHAIN_MAX, Step
from recordings import US, Recording, not_linearizable, read, script, two_votes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record"


def of(made: Recording, path: Path) -> list[Step]:
    return explain(read(made, path))


def sent(step: Step) -> tuple[int, int, int]:
    """Sender, receiver, and the time in microseconds."""
    assert isinstance(step.event, Message)
    return step.event.sender, step.event.receiver, step.event.sent // 1000


def test_of_two_votes_both_are_shown_with_the_request_of_the_first(path: Path) -> None:
    violation, second, first, request, cause = of(two_votes(), path)
    assert isinstance(violation.event, Note)
    assert sent(second) == (1, 2, 172)
    assert second.why == "Replica 1 sends this in the faulty step."
    assert sent(first) == (1, 0, 142)  # not the pre-vote
    assert first.why == "The first vote of replica 1."
    assert sent(request) == (0, 1, 130)
    assert request.why == "Its request, from replica 0."
    assert sent(cause) == (2, 1, 160)


def test_a_candidates_own_vote_is_its_first_request(path: Path) -> None:
    made = two_votes()
    violation = made.lines.pop()
    own = made.send(180, 1, 2, method=1, body="[2, 1, false]")
    made.violation(180, violation["text"], 1, own, earlier=violation["earlier"])
    _, second, first, *_ = of(made, path)
    assert sent(second) == (1, 2, 180)
    assert sent(first) == (1, 0, 142)


def test_an_earlier_step_without_a_message_is_known_by_its_cause(path: Path) -> None:
    made = two_votes()
    made.lines[-1]["earlier"][0]["at"] = 141 * US  # on the disk, before the answer leaves
    _, _, first, _ = of(made, path)
    assert sent(first) == (0, 1, 130)
    assert first.why == "The first vote of replica 1. It followed this."


def test_a_client_s_message_is_meant_rather_than_another_s(path: Path) -> None:
    made = Recording()
    for when, sender in ((1, 2), (2, 1000), (3, 0)):
        made.fate("read", 9, made.send(when, sender, 1))
    missed = {"replica": 1, "at": 9 * US, "read": True, "why": "The read should see this."}
    made.violation(32, "VIOLATION: replica 1 answers 1", 1, made.send(32, 1, 0), earlier=[missed])
    _, answer, earlier, *_ = of(made, path)
    assert sent(answer) == (1, 0, 32)
    assert sent(earlier) == (1000, 1, 2)
    assert earlier.why == "The read should see this."


@pytest.mark.parametrize("broken", [{"at": 999 * US}, {"replica": 7}])
def test_an_earlier_step_is_one_of_the_recording(path: Path, broken: dict[str, int]) -> None:
    made = two_votes()
    made.lines[-1]["earlier"][0] |= broken
    with pytest.raises(CannotDo, match="is no number up to"):
        of(made, path)


def restart(made: Recording, replica: int, died_us: float, up_us: float) -> None:
    made.add("death", died_us, replica=replica, why="crash")
    made.add("restart", up_us, replica=replica)
    made.add("note", up_us, text=f"replica {replica} restarts")


def marked(*marks: tuple[int, str, str], wrong: str) -> Recording:
    """A failed script. `wrong`: the word in the steps that go wrong."""
    made = Recording(replicas=1)
    for at, text, vote in marks:
        made.add("mark", 60, at=at * 1000, replica=0, text=text, vote=vote, wrong=wrong in text)
    made.add("failure", 60, text="a step goes wrong")
    return made


def chained() -> Recording:
    """A client asks replica 0, which asks 1. Replica 1 sends three messages in one step."""
    made = Recording()
    asked = made.send(10, 1000, 0, call="7")
    made.fate("read", 20, asked)
    passed_on = made.send(22, 0, 1, call="8")
    made.fate("read", 30, passed_on)
    made.send(32, 1, 2, call="9", body="[1]")
    made.send(32, 1, 0, method=1, kind="reply", call="8", body="[1]")
    made.send(32, 1, 0, kind="reply", call="8", body="[1]")
    return made


def test_a_violation_is_followed_to_the_client(path: Path) -> None:
    made = chained()
    made.violation(32, "VIOLATION: replica 1 acknowledges index 1", 1, 5)
    _, *steps = of(made, path)
    assert [sent(step) for step in steps] == [(1, 0, 32), (0, 1, 22), (1000, 0, 10)]


@pytest.mark.parametrize(
    ("message", "kind"),
    [(3, "AppendEntries request"), (4, "RequestVote reply"), (5, "AppendEntries reply")],
)
def test_of_the_messages_of_a_step_the_one_that_is_meant_is_shown(
    path: Path, message: int, kind: str
) -> None:
    made = chained()
    made.violation(32, "VIOLATION: replica 1 does wrong", 1, message)
    step = of(made, path)[1]
    assert isinstance(step.event, Message)
    assert step.event.type == kind


def test_a_step_that_sends_nothing_is_followed_from_what_it_had_read(path: Path) -> None:
    made = chained()
    made.violation(31, "VIOLATION: replica 1 applies index 7", 1)
    _, *steps = of(made, path)
    assert [sent(step) for step in steps] == [(0, 1, 22), (1000, 0, 10)]
    assert steps[0].why == "Replica 1 did that after it had read this."
    assert steps[1].why == "Replica 0 did that after it had read this."


def test_a_timer_is_a_cause_if_nothing_was_read_since(path: Path) -> None:
    made = chained()
    made.wait(12, 0, 3, event="TimeoutEvent at 21 us")
    made.woke(21, 0, 3)
    made.wait(12, 0, 4, event="DiskEvent append")
    made.woke(21.5, 0, 4)
    made.violation(32, "VIOLATION: replica 1 acknowledges index 7", 1, 5)
    _, _, _, timer = of(made, path)
    assert isinstance(timer.event, Wait)
    assert timer.event.coroutine == 3
    assert timer.why == "Replica 0 did that when its timer fired."


def test_a_replica_that_has_restarted_forgot_what_it_had_read(path: Path) -> None:
    made = chained()
    restart(made, 1, 32, 40)
    made.violation(42, "VIOLATION: replica 1 votes", 1, made.send(42, 1, 0))
    _, sent_, restarted = of(made, path)
    assert sent(sent_) == (1, 0, 42)
    assert isinstance(restarted.event, Note)
    assert restarted.event.text == "replica 1 restarts"
    assert restarted.why == "Replica 1 did that after its restart."


def test_a_message_that_was_read_after_a_restart_is_the_cause(path: Path) -> None:
    made = chained()
    made.add("death", 12, replica=1, why="crash")
    made.add("restart", 25, replica=1)
    made.add("note", 31, text="VIOLATION: replica 1 votes", violation=True, replica=1)
    _, *steps = of(made, path)
    assert [sent(step) for step in steps] == [(0, 1, 22), (1000, 0, 10)]


@pytest.mark.parametrize(("up_us", "cause"), [(14, "a message"), (17, "the restart")])
def test_a_restart_ends_the_search_for_a_message_of_the_same_call(
    path: Path, up_us: int, cause: str
) -> None:
    made = Recording()
    asked = made.send(10, 1000, 0, call="7", dep="client call 1000")
    restart(made, 0, 11, up_us)
    made.fate("read", 15, asked)
    made.send(20, 0, 1, call="8", dep="client call 1000")
    made.add("note", 20, text="VIOLATION: replica 0 sends", violation=True, replica=0)
    made.lines.sort(key=lambda line: line["t"])
    last = of(made, path)[-1].event
    assert ("a message" if isinstance(last, Message) else "the restart") == cause


def test_a_message_for_a_client_is_followed_to_the_one_that_asked_for_it(path: Path) -> None:
    made = Recording()
    for when, client in ((10, 1000), (12, 1001)):
        asked = made.send(when, client, 0, call="7", dep=f"client call {client}")
        made.fate("read", when + 5, asked)
    passed_on = made.send(20, 0, 1, call="8", dep="client call 1000")
    made.fate("read", 30, passed_on)
    made.add("note", 32, text="VIOLATION: replica 1 applies index 7", violation=True, replica=1)
    assert [sent(step) for step in of(made, path)[1:]] == [(0, 1, 20), (1000, 0, 10)]


def test_a_chain_has_an_end(path: Path) -> None:
    made = Recording()
    for number in range(20):
        ball = made.send(number * 10, number % 2, 1 - number % 2)
        made.fate("read", number * 10 + 5, ball)
    assert len(Causality(read(made, path)).chain(0, 1_000_000, CHAIN_MAX)) == CHAIN_MAX


def test_a_crash_shows_the_unread_message_and_the_last_deeds(path: Path) -> None:
    made = chained()
    made.wait(33, 1, 6, name="apply")
    made.woke(40, 1, 6)
    made.wait(34, 1, 7, name="apply")  # still waits
    made.fate("arrive", 40, made.send(36, 2, 1, call="10"))
    world = read(made, path)
    text = "replica 1 crashes at 0.000040 s, in coroutine 'apply'"
    world.notes.append(Note(40_000, text, "crash"))
    crash, arrived, last, waited = explain(world)
    assert crash.why == "The process crashes in this step."
    assert sent(arrived) == (2, 1, 36)
    assert sent(last)[0] == 1
    assert isinstance(waited.event, Wait)
    assert waited.event.coroutine == 6


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ("in coroutine 'RequestVote'", "RequestVote request"),
        ("in Raft::Submit", "AppendEntries request"),
    ],
)
def test_of_several_unread_messages_a_crash_shows_the_one_that_it_names_or_the_first(
    path: Path, report: str, kind: str
) -> None:
    made = chained()
    late = made.send(35, 2, 1, method=1, call="11")
    made.fate("arrive", 38, made.send(36, 2, 1, call="10"))
    made.fate("arrive", 39, late)
    world = read(made, path)
    world.notes.append(Note(40_000, f"replica 1 crashes at 0.000040 s, {report}", "crash"))
    arrived = explain(world)[1].event
    assert isinstance(arrived, Message)
    assert arrived.type == kind


def test_a_replica_that_dies_by_itself_is_the_faulty_step(path: Path) -> None:
    made = chained()
    made.add("death", 33, replica=1, why="a handler threw: bad index", own=True)
    made.add("note", 80, text="VIOLATION: replica 0 applies nothing", violation=True, replica=0)
    made.add("failure", 90, text="Failed\nreplica 1 died: a handler threw: bad index")
    died, read_, _ = of(made, path)
    assert died.event in read(made, path).downs
    assert sent(read_) == (0, 1, 22)


def test_of_a_history_that_is_not_linearizable_the_window_is_shown(path: Path) -> None:
    marked, *others = of(not_linearizable(), path)
    assert "nil" in str(marked.event)
    assert marked.why == "No order of these operations explains this reply."
    assert [step.why for step in others] == [
        "An operation of client 0 in the same window.",
        "An operation of client 2 in the same window.",
    ]


def test_of_a_script_the_wrong_step_and_the_votes_before_it_are_shown(path: Path) -> None:
    wrong, *votes = of(script(), path)
    world: World = read(script(), path)
    assert wrong.event == world.marks[3]
    assert [vote.event for vote in votes] == [*reversed(world.marks[:3])]


def test_of_a_script_the_step_before_the_wrong_one_is_shown(path: Path) -> None:
    steps = ((10, "add promise A", ""), (50, "wait", ""), (40, "look at quorum B", ""))
    made = marked(*steps, wrong="look")
    _, before = of(made, path)
    assert isinstance(before.event, Mark)
    assert before.event.text == "add promise A"  # the wait ended later
    assert before.why == "The step before it."


def test_of_scripts_that_are_made_shorter_the_last_wrong_one_is_shown(path: Path) -> None:
    made = marked(
        (10, "#1  voter: voter 0 says yes", "yes"),
        (11, "#2  voter: look", ""),
        (20, "#1  voter: voter 1 says no", "no"),
        (21, "#2  voter: look", ""),
        (30, "#1  voter: voter 2 says yes", "yes"),
        wrong="look",
    )
    world = read(made, path)
    assert [step.event for step in explain(world)] == [world.marks[3], world.marks[2]]


def test_a_failure_is_followed_from_the_answer_that_the_test_judges(path: Path) -> None:
    made = chained()
    answer = made.send(40, 0, 1000, kind="reply", call="7")
    made.fate("arrive", 50, answer)
    made.add("failure", 50, text="Expected: 5")
    judged, failure, request = of(made, path)
    assert isinstance(failure.event, Note)
    assert sent(judged) == (0, 1000, 40)
    assert sent(request) == (1000, 0, 10)


def test_a_failure_without_an_answer_shows_what_is_waited_for(path: Path) -> None:
    made = chained()
    made.wait(23, 0, 3)
    made.wait(31, 1, 3)
    made.woke(60, 1, 3)
    made.wait(22, 1, 4, event="TimeoutEvent at 900 us")
    made.add("failure", 70, text="no leader")
    failure, waits, timer = of(made, path)
    assert isinstance(failure.event, Note)
    assert isinstance(timer.event, Wait)
    assert timer.event.coroutine == 4
    assert waits.why == "Replica 0 still waits for this."


def lost_leader(judged: int) -> Recording:
    """The test expects that this replica leads."""
    made = Recording()
    for when, text in (
        (10, "replica 1 is leader in term 1"),
        (20, "replica 1 is follower in term 2"),
        (30, "replica 1 is candidate in term 3"),
        (40, "replica 2 is candidate in term 4"),
    ):
        made.add("note", when, text=text)
    made.add("judged", 50, rule="a healthy leader keeps its term", replica=judged, at=50_000)
    made.add("failure", 50, text="a healthy leader gave up")
    return made


def test_the_end_of_a_leadership_that_should_last_is_the_faulty_step(path: Path) -> None:
    lost, failure = of(lost_leader(1), path)
    assert isinstance(lost.event, Note)
    assert lost.event.text == "replica 1 is follower in term 2"
    assert lost.why == "Replica 1 gives up its leadership."
    assert isinstance(failure.event, Note)


def test_a_replica_that_never_led_has_not_given_up(path: Path) -> None:
    assert len(of(lost_leader(2), path)) == 1


@pytest.mark.parametrize(("when_us", "faulty"), [(15, "replica 2 restarts"), (16, None)])
def test_a_replica_that_should_have_refused_to_start_is_shown_as_it_restarts(
    path: Path, when_us: int, faulty: str | None
) -> None:
    made = Recording()
    for when, replica in ((10, 2), (20, 1)):
        restart(made, replica, when, when + 5)
    made.add("judged", 90, rule="damage is refused", replica=2, at=when_us * 1000)
    made.add("failure", 90, text="it starts from a damaged file")
    first = of(made, path)[0].event
    assert isinstance(first, Note)
    assert first.text == (faulty or "it starts from a damaged file")


@pytest.mark.parametrize(
    ("replies", "pause_us", "shown"), [(10, 10, True), (9, 10, False), (10, 20_000, False)]
)
def test_a_reply_that_is_repeated_is_the_faulty_step(
    path: Path, replies: int, pause_us: int, shown: bool
) -> None:
    made = Recording()
    made.send(1, 2, 0, kind="reply", call="1", body="[1]")
    for number in range(replies):
        when = 10 + number * pause_us
        asked = made.send(when, 0, 1, call=f"{number}", body=f"[{number}]")
        made.fate("read", when + 2, asked)
        made.send(when + 4, 1, 0, kind="reply", call=f"{number}", body="[false]")
    made.add("failure", 20 + replies * pause_us, text="the follower stays behind")
    first, *rest = of(made, path)
    assert isinstance(first.event, Message) == shown
    if shown:
        assert sent(first) == (1, 0, 104)
        assert first.why == "Replica 1 repeats this: 10 times in the last 100 ms."
        failure, request = rest
        assert isinstance(failure.event, Note)
        assert sent(request) == (0, 1, 100)


@pytest.mark.parametrize(("since_us", "is_faulty"), [(13, True), (52, False)])
def test_of_slow_answers_the_wait_that_delayed_the_slowest_one_is_the_faulty_step(
    path: Path, since_us: int, is_faulty: bool
) -> None:
    made = Recording()
    asked = made.send(10, 1000, 0, call="7")
    for coroutine, replica, begin, end in (
        (1, 0, 12, 20),
        (1, 0, 20, 30),
        (2, 0, 12, 27),  # the longest, of a coroutine that woke earlier
        (3, 0, 5, 31),  # before the request
        (4, 0, 12, 60),  # after the answer
        (5, 1, 12, 40),
    ):
        made.wait(begin, replica, coroutine)
        made.woke(end, replica, coroutine)
    made.fate("arrive", 50, made.send(40, 0, 1000, kind="reply", call="7"))
    made.fate("read", 11, asked)
    made.send(51, 1000, 0, call="8")
    made.fate("arrive", 54, made.send(53, 0, 1000, kind="reply", call="8"))
    made.lines.sort(key=lambda line: line["t"])
    made.add("judged", 58, rule="commands are slow", at=since_us * 1000)
    made.add("failure", 58, text="commands are slow")
    first, failure, *rest = of(made, path)
    assert isinstance(failure.event, Note)
    assert isinstance(first.event, Wait) == is_faulty
    if isinstance(first.event, Wait):
        assert (first.event.coroutine, first.event.start) == (1, 20_000)
        assert sent(rest[0]) == (0, 1000, 40)


@pytest.mark.parametrize(("replica", "is_faulty"), [(0, True), (1, False)])
def test_the_answer_that_a_test_says_it_judged_is_the_faulty_step(
    path: Path, replica: int, is_faulty: bool
) -> None:
    made = Recording()
    for when in (15, 25, 90):
        made.fate("arrive", when + 0.5, made.send(when - 5, 0, 1000, kind="reply", call=f"{when}"))
    made.add("judged", 26, rule="snapshots hold everything", replica=replica, at=25_500)
    made.add("failure", 90.5, text="Value of: world.AllInvariantsHold()")
    first, failure, *_ = of(made, path)
    assert sent(first) == (0, 1000, 20 if is_faulty else 85)
    assert isinstance(failure.event, Note)


@pytest.mark.parametrize(
    "bad", [{"replica": 3}, {"replica": -1}, {"replica": True}, {"at": 27_000}, {"at": "25500"}]
)
def test_a_judged_step_that_cannot_be_is_refused(path: Path, bad: dict[str, object]) -> None:
    made = Recording()
    made.add("judged", 26, **{"rule": "x", "replica": 1, "at": 25_500, **bad})
    with pytest.raises(CannotDo, match="is no record"):
        read(made, path)


def test_a_long_rule_is_cut_off(path: Path) -> None:
    made = Recording()
    made.add("judged", 26, rule="x" * 9999, replica=1, at=25_500)
    made.add("failure", 26, text="it fails")
    judged = read(made, path).notes[-1].judged
    assert judged is not None
    assert len(judged.rule) == RULE_MAX


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("Value of: f()\n  Actual: false\nExpected: true\nit stays behind", "it stays behind"),
        ("Expected equality of these values:\n  a\n    Which is: 1\n  2\none", "one"),
        ("Expected: (a) <= (b), actual: 2 vs 1\nslow\nGoogle Test trace:\nx.cc:3: here", "slow"),
        (
            "Value of: f()\n  Actual: false\nExpected: true\nGoogle Test trace:\nx.cc:3: here",
            "f() is false.",
        ),
        ("Failed\nstep #4 goes wrong\n  a look\nThe whole script:", "step #4 goes wrong"),
        ("replica 0 restarts", "replica 0 restarts"),
    ],
)
def test_a_failure_is_named_by_the_sentence_of_its_test(text: str, headline: str) -> None:
    assert Note(0, text, "failure").headline == headline


def test_an_amount_is_not_judged_by_the_answer_of_the_instant(path: Path) -> None:
    made = Recording()
    made.fate("arrive", 20, made.send(10, 0, 1000, kind="reply", call="7"))
    made.add("failure", 20, text="Expected: (held) <= (std::size_t{2} << 20), actual: 3139911 vs 2")
    first, answer = of(made, path)
    assert isinstance(first.event, Note)
    assert answer.why == "The last answer that a client got."


@pytest.mark.parametrize(
    ("waits", "event", "is_faulty"),
    [
        (3, "DiskEvent append", True),
        (2, "DiskEvent append", False),
        (3, "TimeoutEvent at 9 s", False),
    ],
)
def test_coroutines_that_get_stuck_at_one_place_are_the_faulty_step(
    path: Path, waits: int, event: str, is_faulty: bool
) -> None:
    made = Recording()
    made.wait(5, 0, 9, name="catch-up", event="RpcEvent")
    for number in range(waits):
        made.wait(10 + number, 0, number, event=event)
    made.add("failure", 90, text="nothing commits")
    first = of(made, path)[0].event
    assert isinstance(first, Wait) == is_faulty
    if isinstance(first, Wait):
        assert first.coroutine == 0
