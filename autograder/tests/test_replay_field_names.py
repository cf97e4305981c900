"""Replays: the names of messages' fields, read from headers."""

from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.replay import field_names, recording
from failslow.extras.replay.field_names import Field
from failslow.extras.replay.recording import Message, World
from failslow.extras.shared.sims import headers_of
from failslow.lab.labs import load_labs
from recordings import Recording

HEADER = """
struct Value {
  std::uint64_t term = 0;
  std::string text;  // of a client
  DEPFAST_FIELDS(term, text)
};

using Values = std::vector<Value>;

struct VoteReply {
  struct Inner {
    int other = 0;
    DEPFAST_FIELDS(other)
  };
  std::uint64_t term = 0;
  bool granted = false;
  DEPFAST_FIELDS(term,
                 granted)
};

struct Vote {
  using Reply = raft::VoteReply;
  static constexpr const char* kName = "Vote";
  std::uint64_t term = 0;
  Values log;
  DEPFAST_FIELDS(term, log)
};

struct Twice {
  using Reply = VoteReply;
  static constexpr const char* kName = "Twice";
  Value value = {};
  std::array<raft::Value, 2> others{};
  std::vector<std::uint64_t> numbers;
  DEPFAST_FIELDS(value, others, numbers)
};

struct LateVote : Vote {
  using Reply = Unknown;
  static constexpr const char* kName = "LateVote";
};
"""


@pytest.fixture
def names(tmp_path: Path) -> field_names.FieldNames:
    header = tmp_path / "messages.h"
    header.write_text(HEADER)
    return field_names.read([header])


def contents(names: field_names.FieldNames, kind: str, body: str) -> str:
    message = Message(1, 0, 1, 0, kind, "", "", 1, body)
    field_names.name([World(seed=1, replicas=2, messages=[message])], names)
    return message.contents


def test_names_are_those_of_the_declaration(names: field_names.FieldNames) -> None:
    told = {kind: tuple(field.name for field in fields) for kind, fields in names.items()}
    assert told == {
        "Vote request": ("term", "log"),
        "Vote reply": ("term", "granted"),
        "Twice request": ("value", "others", "numbers"),
        "Twice reply": ("term", "granted"),
        "LateVote request": ("term", "log"),
        "LateVote reply": (),
    }


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("Vote reply", "[3, true]", "term: 3, granted: true"),
        (
            "Vote request",
            '[3, [[1, "a, b]"], [2, ""]]]',
            'term: 3, log: [{term: 1, text: "a, b]"}, {term: 2, text: ""}]',
        ),
        ("Vote request", "[3, []]", "term: 3, log: []"),
        (
            "Vote request",
            '[3, [[1, "a"], ... (9 in all)]]',
            'term: 3, log: [{term: 1, text: "a"}, ... (9 in all)]',
        ),
        ("Vote request", "[3, [[1, 2, 3], 4]]", "term: 3, log: [[1, 2, 3], 4]"),
        (
            "Twice request",
            '[[1, "a"], [[2, "b"], [3]], [4, 5]]',
            'value: {term: 1, text: "a"}, others: [{term: 2, text: "b"}, {term: 3}],'
            " numbers: [4, 5]",
        ),
        ("Vote request", r'[3, "a \" b, c"]', r'term: 3, log: "a \" b, c"'),
        ("Vote request", '[3, "cut"... (99 bytes)]', 'term: 3, log: "cut"... (99 bytes)'),
        ("Vote request", "[3]", "term: 3"),
        ("Vote reply", "[1, 2, 3]", "[1, 2, 3]"),
        ("Vote reply", "[]", "[]"),
        ("Vote error", "[3, true]", "[3, true]"),
        ("LateVote reply", "[1]", "[1]"),
        ("malformed", "it ends too early", "it ends too early"),
    ],
)
def test_contents_are_named_if_they_are_as_declared(
    names: field_names.FieldNames, kind: str, body: str, said: str
) -> None:
    assert contents(names, kind, body) == said


def test_the_labs_declare_the_messages_of_their_replicas() -> None:
    kit = Kit(Path(__file__).resolve().parents[2])
    labs = load_labs(kit)
    named = {lab.id: field_names.read(headers_of(kit, labs, lab)) for lab in labs.by_id.values()}
    entry = (Field("term"), Field("command"))
    assert named["lab1"]["Ask reply"] == (Field("yes"),)
    for lab in ("lab2", "lab3", "lab4"):
        assert named[lab]["RequestVote reply"] == (Field("term"), Field("granted")), lab
        assert Field("entries", entry, is_list=True) in named[lab]["AppendEntries request"], lab
    assert [field.name for field in named["lab3"]["Kv request"]] == ["command", "forward_id"]
    assert named["lab5"]["Commit reply"] == (Field("known"),)
    (commands,) = (each for each in named["lab5"]["Accept request"] if each.name == "commands")
    assert commands == Field("commands", (Field("name"), Field("text")), is_list=True)
    (record,) = (each for each in named["lab5"]["Prepare reply"] if each.name == "record")
    assert "dependency" in [field.name for field in record.parts]


def test_a_recorded_message_tells_its_fields(tmp_path: Path, names: field_names.FieldNames) -> None:
    made = Recording()
    made.add("method", 0, id=7, name="Vote")
    made.send(1, 0, 1, method=7, body='[3, ["x"]]')
    worlds = recording.read(made.write(tmp_path / "record"))
    field_names.name(worlds, names)
    assert worlds[0].messages[0].fields == {"term": "3", "log": '["x"]'}
