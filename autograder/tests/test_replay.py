"""Replays: reading a recording, the page's data, the trace, and the command."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from demands import some
from failslow.base.errors import CannotDo
from failslow.extras.replay import html_report, recording, trace
from failslow.extras.replay.entries import Entry, entries_of
from failslow.extras.replay.recording import Message, World
from failslow.extras.replay.rows import rows_of
from failslow.lab.labs import Lanes
from failslow.lab.shown import Shown
from recordings import LANES, SHOWS, Recording, data_of, large, two_lanes

SUBJECT = html_report.Subject("lab2: Raft", "Raft.Fails", "It works.", "7", False, ("a < b",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record"


def first_of(
    worlds: list[World], shows: tuple[Shown, ...] = (), lanes: Lanes | None = None
) -> dict[str, Any]:
    """The page's data of the first world."""
    return data_of(html_report.document(SUBJECT, worlds, shows, lanes))["worlds"][0]


def long_run() -> World:
    """A thousand messages."""
    messages = [Message(n, 0, 1, n, "", "", "", 1, "") for n in range(1000)]
    return World(seed=1, replicas=3, end=1000, messages=messages)


def test_a_message_is_followed_to_its_end(path: Path) -> None:
    made = Recording()
    arrives, lost, released, open_ = (made.send(10, 0, 1) for _ in range(4))
    made.fate("wire", 11, arrives)
    made.fate("arrive", 20, arrives)
    made.fate("read", 25, arrives)
    made.fate("lose", 30, lost)
    made.fate("release", 40, released)
    (world,) = recording.read(made.write(path))
    fates = {m.id: (m.fate, m.wire, m.end, m.read) for m in world.messages}
    assert fates == {
        arrives: ("arrived", 11_000, 20_000, 25_000),
        lost: ("lost", None, 30_000, None),
        released: ("released", None, 40_000, None),
        open_: ("sent", None, None, None),
    }
    assert {m.type for m in world.messages} == {"AppendEntries request"}
    assert world.end == 40_000


def test_a_method_without_a_name_has_a_number(path: Path) -> None:
    made = Recording()
    made.send(1, 0, 1, method=9, kind="error")
    made.send(2, 0, 1, kind="malformed")
    del made.lines[-1]["method"]
    (world,) = recording.read(made.write(path))
    assert [m.type for m in world.messages] == ["method 9 error", "malformed"]


def test_waits_end_with_their_replica_or_never(path: Path) -> None:
    made = Recording()
    made.wait(1, 0, 1)
    made.wait(2, 1, 1)
    made.wait(3, 2, 1)
    made.woke(5, 0, 1)
    made.add("death", 6, replica=1, why="crash")
    made.add("restart", 8, replica=1)
    made.wait(9, 1, 1)
    (world,) = recording.read(made.write(path))
    assert [w.peers for w in world.waits][:2] == ["1 yes, 2 yes", "1 pending, 2 pending"]
    ends = [(w.replica, w.life, w.end, w.outcome) for w in world.waits]
    assert ends == [
        (0, 0, 5_000, "ready"),
        (1, 0, 6_000, "replica died"),
        (2, 0, None, ""),
        (1, 1, None, ""),
    ]
    assert [(d.start, d.end) for d in world.downs] == [(6_000, 8_000)]


def test_faults_end_or_last(path: Path) -> None:
    made = Recording()
    made.add("fault", 1, kind="drop", replicas=[1], text="drop")
    made.add("fault", 2, kind="cpu-slow", replicas=[2], text="slow")
    made.add("heal", 3, kind="drop", replicas=[1], text="drop")
    (world,) = recording.read(made.write(path))
    assert [(f.kind, f.end) for f in world.faults] == [("drop", 3_000), ("cpu-slow", None)]


def faults(made: Recording, path: Path) -> list[tuple[str, int, int | None]]:
    (world,) = recording.read(made.write(path))
    return [(fault.kind, fault.start, fault.end) for fault in world.faults]


def test_a_crash_ends_when_all_its_replicas_are_up(path: Path) -> None:
    made = Recording()
    made.add("fault", 1, kind="crash", replicas=[1, 2], text="crash")
    for replica in (1, 2):
        made.add("death", 1, replica=replica, why="crash")
    made.add("restart", 5, replica=1)
    assert faults(made, path) == [("crash", 1_000, None)]
    made.add("restart", 7, replica=2)
    made.add("heal", 9, kind="crash", replicas=[1, 2], text="crash")  # as it was scheduled
    assert faults(made, path) == [("crash", 1_000, 7_000)]


def test_a_second_crash_does_not_end_with_the_first(path: Path) -> None:
    made = Recording()
    for begin, end in ((1, 3), (5, 8)):
        made.add("fault", begin, kind="crash", replicas=[1], text=f"crash from {begin}")
        made.add("death", begin, replica=1, why="crash")
        made.add("restart", end, replica=1)
    assert faults(made, path) == [("crash", 1_000, 3_000), ("crash", 5_000, 8_000)]


def test_bits_are_flipped_at_an_instant(path: Path) -> None:
    made = Recording()
    made.add("fault", 4, kind="bit-flip", replicas=[1], text="bit-flip 10 %")
    made.add("heal", 9, kind="bit-flip", replicas=[1], text="bit-flip 10 %")
    assert faults(made, path) == [("bit-flip", 4_000, 4_000)]


def test_a_violation_comes_before_a_failure(path: Path) -> None:
    made = Recording()
    made.add("note", 1, text="harmless")
    assert recording.read(made.write(path))[0].first_problem() is None
    made.add("failure", 2, text="late")
    made.add("note", 3, text="broken", violation=True)
    made.add("note", 4, text="broken again", violation=True)
    problem = recording.read(made.write(path))[0].first_problem()
    assert problem is not None
    assert problem.text == "broken"


def test_the_world_with_the_problem_is_shown_first(path: Path) -> None:
    one, other = Recording(world=1), Recording(replicas=5, world=2)
    other.add("failure", 2, text="wrong")
    one.lines += other.lines
    worlds = recording.read(one.write(path))
    assert [world.replicas for world in worlds] == [3, 5]
    assert recording.most_telling(worlds) == 1
    assert recording.most_telling(worlds[:1]) == 0


def test_a_record_that_breaks_off_is_good_up_to_there(path: Path) -> None:
    made = Recording()
    made.add("note", 1, text="last words")
    text = made.write(path).read_text()
    path.write_text(text + '{"do":"note","w":1,"t":20')
    (world,) = recording.read(path)
    assert [note.text for note in world.notes] == ["last words"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "7",
        '{"do":"dance","w":1,"t":1}',
        '{"do":"note","w":2,"t":1,"text":"of no world"}',
        '{"do":"note","w":1,"t":1}',
        '{"do":"arrive","w":1,"t":1,"id":99}',
        '{"do":"restart","w":1,"t":1,"replica":0}',
    ],
)
def test_a_damaged_record_is_one_sentence(path: Path, line: str) -> None:
    text = Recording().write(path).read_text()
    path.write_text(f"{text}{line}\n")
    with pytest.raises(CannotDo, match="line 4 is no record"):
        recording.read(path)


def test_coroutines_that_live_at_the_same_time_have_rows_of_their_own(path: Path) -> None:
    made = Recording()
    made.wait(1, 0, 1)
    made.wait(1, 0, 2)
    made.woke(2, 0, 1)
    made.wait(3, 0, 3)  # while 1 is between two waits: it still lives
    made.wait(4, 0, 1)
    made.woke(5, 0, 2)
    made.wait(6, 0, 4)  # takes the row of 2, which has ended
    made.wait(6, 1, 1)
    (world,) = recording.read(made.write(path))
    rows = rows_of(world.waits)
    by_coroutine = [(w.replica, w.coroutine, row) for w, row in zip(world.waits, rows, strict=True)]
    assert by_coroutine == [
        (0, 1, 0),
        (0, 2, 1),
        (0, 3, 2),
        (0, 1, 0),
        (0, 4, 1),
        (1, 1, 0),
    ]


def test_nothing_in_a_recording_ends_its_script(path: Path) -> None:
    made = Recording()
    made.send(1, 0, 1, body="</script><script>alert(1)</script>")
    text = html_report.document(SUBJECT, recording.read(made.write(path)), SHOWS)
    assert "<script>alert" not in text
    assert "a &lt; b" in text
    body = data_of(text)["worlds"][0]["messages"][0][12]
    assert body == "</script><script>alert(1)</script>"


def test_the_page_carries_every_module_that_it_imports() -> None:
    text = html_report.document(SUBJECT, [World(seed=1, replicas=3)], ())
    found = re.search(r'<script type="importmap">(.*?)</script>', text)
    assert found is not None
    modules = {name: unquote(url) for name, url in json.loads(found[1])["imports"].items()}
    exports = {
        name: set(re.findall(r"^export (?:const|function) (\w+)", source, re.M))
        for name, source in modules.items()
    }
    assert 'import "replay/main.js"' in text
    imports = re.compile(r'^import \{([^}]*)\} from "([^"]+)"', re.M)
    for names, module in some(imports.findall("\n".join(modules.values()))):
        assert set(re.findall(r"\w+", names)) <= exports[module]


def test_a_replica_shows_a_value_once(path: Path) -> None:
    made = Recording()
    for when, commit in enumerate([1, 1, 2]):
        made.add("saw", when, replica=0, kind=2, values=[commit, 0, 0, 0])
    made.add("saw", 5, replica=0, kind=1, values=[3, 2, 0, 0])
    world = first_of(recording.read(made.write(path)), SHOWS)
    assert world["shown"] == [[[5000, 0, 2]], [[0, 0, 1], [2000, 0, 2]]]


@pytest.mark.parametrize("when", [0.0, 0.5, 1.0])
def test_of_a_long_run_the_part_around_the_problem_is_kept(
    monkeypatch: pytest.MonkeyPatch, when: float
) -> None:
    monkeypatch.setattr(html_report, "MESSAGES_MAX", 40)
    problem = int(999 * when)
    world = long_run()
    world.notes.append(recording.Note(problem, "broken", "violation"))
    shown = first_of([world])
    assert len(shown["messages"]) == 40
    assert shown["left_out"] == 960
    assert shown["begin"] <= problem <= shown["end"]


def test_of_a_long_run_with_a_fault_most_is_after_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html_report, "MESSAGES_MAX", 40)
    world = long_run()
    world.faults.append(recording.Fault(600, "cpu-slow", [0], "", 700))
    shown = first_of([world])
    assert (shown["begin"], shown["end"]) == (591, 630)


def test_clusters_share_the_page_and_the_one_to_look_at_has_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html_report, "MESSAGES_MAX", 40)
    worlds = [long_run() for _ in range(3)]
    worlds[1].notes.append(recording.Note(500, "broken", "violation"))
    shown = data_of(html_report.document(SUBJECT, worlds, ()))["worlds"]
    assert [len(world["messages"]) for world in shown] == [10, 20, 10]


def test_an_entry_is_followed_from_its_proposal_to_its_runs(path: Path) -> None:
    (world,) = recording.read(two_lanes().write(path))
    p1, q1, q2, p2, p3 = entries_of(world, LANES)
    ran = {2: 32_000, 0: 33_000}
    assert p1 == Entry(0, 1, 1, 10_000, {0: 20_000, 2: 30_000}, ran)
    assert (q1.dependency, q1.ran) == (1, {2: 34_000})
    assert (q2.lane, q2.index, q2.dependency, q2.ran) == (1, 2, 1, {})
    assert (p2.dependency, p2.decided) == (None, {1: 55_000})
    assert (p3.dependency, p3.decided, p3.start) == (None, {}, 60_000)


def test_of_two_decisions_the_first_counts(path: Path) -> None:
    made = Recording()
    for when, dependency in ((5, 3), (6, 4)):
        made.add("saw", when, replica=0, kind=7, values=[0, 1, 1 + dependency, 0])
    (entry,) = entries_of(recording.read(made.write(path))[0], LANES)
    assert (entry.dependency, entry.decided) == (3, {0: 5_000})


@pytest.mark.parametrize("body", ["", "[]", "[0, 9]", '["x", 9, 1]', '[0, 9, "1"]', "malformed"])
def test_a_malformed_proposal_is_none(path: Path, body: str) -> None:
    made = Recording()
    made.add("method", 0, id=3, name="Propose")
    made.send(1, 0, 1, method=3, body=body)
    assert entries_of(recording.read(made.write(path))[0], LANES) == []


def test_a_log_without_lanes_has_no_entries(path: Path) -> None:
    worlds = recording.read(two_lanes().write(path))
    assert first_of(worlds, SHOWS)["entries"] == []
    assert len(first_of(worlds, SHOWS, LANES)["entries"]) == 5


def test_requests_are_listed_before_replies(path: Path) -> None:
    made = Recording()
    for kind in ("reply", "error", "request"):
        made.send(1, 0, 1, kind=kind)
    types = first_of(recording.read(made.write(path)))["types"]
    names = [name.split()[1] for name in types]
    assert names == ["request", "error", "reply"]


def test_the_trace_is_what_perfetto_reads(path: Path) -> None:
    worlds = recording.read(large(replicas=5, rounds=40).write(path))
    document = json.loads(trace.document(worlds, SHOWS))
    events = document["traceEvents"]
    for event in some(events):
        assert event["ph"] in "MXsfCbei"
        assert event["pid"] > 0
        assert event["name"]
        assert event["ph"] == "M" or event["ts"] >= 0
        assert event["ph"] != "X" or event["dur"] >= 0
    starts, ends = (
        Counter(event["id"] for event in events if event["ph"] == phase) for phase in "sf"
    )
    assert starts == ends
    assert set(starts.values()) == {1}
    arrived = [m for m in worlds[0].messages if m.fate == "arrived"]
    assert len(starts) == len(arrived) < len(worlds[0].messages)
    slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    flows = [e for e in events if e["ph"] in "sf"]
    assert all((e["pid"], e["tid"], e["ts"]) in slices for e in some(flows))
    assert {e["id"] for e in events if e["ph"] == "b"} == {
        e["id"] for e in events if e["ph"] == "e"
    }
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(names.values())[:5] == [f"replica {n}" for n in range(5)]
    assert {e["pid"] for e in events} <= set(names)
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert counters == {"role", "commit", "held bytes for replica 4"}
    assert [e["s"] for e in events if e["name"].startswith("violation")] == ["g"]


def test_two_clusters_are_apart_in_the_trace(path: Path) -> None:
    one, other = Recording(world=1), Recording(world=2)
    for made in (one, other):
        made.fate("arrive", 2, made.send(1, 0, 1))
    one.lines += other.lines
    events = json.loads(trace.document(recording.read(one.write(path)), ()))["traceEvents"]
    names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert "replica 0 (cluster 1)" in names
    assert "replica 0 (cluster 2)" in names
    flows = Counter(e["id"] for e in events if e["ph"] == "s")
    assert set(flows.values()) == {1}
    assert len({e["pid"] for e in events if e["ph"] == "s"}) == 2
