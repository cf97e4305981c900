"""Loops of assertions over what may be empty are found, and no others."""

import textwrap
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.check import assertion_loops, assertion_loops_cpp
from failslow.extras.check.step import Context

MAY_HOLD_ALWAYS = [
    "for row in rows():\n    assert row",
    "for row in rows():\n    with pytest.raises(ValueError):\n        row()",
    "for row in rows():\n    expect(0, row)",
    "for row in [each for each in (1, 2) if each > n]:\n    assert row",
    "for row in *rows(), *rows():\n    assert row",
    "assert all(row for row in rows())",
    "assert n and not any(row for row in rows())",
    "found = rows()\nfor row in found:\n    assert row\nassert found",
    "for row in range(n):\n    assert row",
    "for row in (1, 2):\n    assert all(row for each in rows(row))",
]

HAVE_ITEMS = [
    "for row in (1, 2):\n    assert row",
    "for name, row in {'a': 1}.items():\n    assert row, name",
    "for row in enumerate(NAMES):\n    assert row",
    "for row in range(8):\n    assert row",
    "for row in some(rows()):\n    assert row",
    "found = rows()\nassert len(found) == n\nfor row in sorted(found):\n    assert row",
    "assert any(row for row in rows())",
    "assert not all(row for row in rows())",
    "for row in rows():\n    print(row)",
]


def python_test(body: str) -> str:
    return f'NAMES = ("a", "b")\n\n\ndef test_x(n: int) -> None:\n{textwrap.indent(body, "    ")}\n'


@pytest.mark.parametrize("body", MAY_HOLD_ALWAYS)
def test_a_loop_that_may_hold_always_is_found(body: str) -> None:
    assert len(assertion_loops.in_python(python_test(body))) == 1


@pytest.mark.parametrize("body", HAVE_ITEMS)
def test_a_loop_with_items_is_none(body: str) -> None:
    assert assertion_loops.in_python(python_test(body)) == []


def test_what_makes_the_objects_of_a_test_tests_nothing() -> None:
    made = "def made(rows):\n    for row in rows:\n        assert row\n    return rows\n"
    assert assertion_loops.in_python(f"{made}\n\ndef test_x():\n    assert made([1])\n") == []
    helper = made.replace("    return rows\n", "")
    assert assertion_loops.in_python(f"{helper}\n\ndef test_x():\n    made([1])\n") == [2]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (const Row& row : rows()) EXPECT_TRUE(row);", [2]),
        ("for (const auto& [a, b] : store.all()) {\n  if (a) ASSERT_EQ(a, b);\n}", [2]),
        ("EXPECT_TRUE(std::ranges::all_of(rows(), IsRight));", [2]),
        ('EXPECT_EQ(n, 1) << "; rows() }";\nfor (int row : rows()) EXPECT_EQ(row, n);', [3]),
        ("for (int row : rows()) ++count;\nEXPECT_EQ(n, 1);", []),
        ("for (const Row& row : testkit::Some(rows())) EXPECT_TRUE(row);", []),
        ("for (const int row : {1, 2}) EXPECT_TRUE(row);", []),
        ("for (const Row& row : fields::kRows) EXPECT_TRUE(row);", []),
        ("const std::vector<int> rows = {1, 2};\nfor (int row : rows) EXPECT_TRUE(row);", []),
        ("ASSERT_FALSE(rows.empty());\nfor (int row : rows) EXPECT_TRUE(row);", []),
        (
            "for (int row : rows()) {\n  EXPECT_TRUE(row);\n  seen.insert(row);\n}\n"
            "EXPECT_EQ(seen.size(), 3U);",
            [],
        ),
        ("for (int i = 0; i < n; ++i) EXPECT_TRUE(i);", []),
    ],
)
def test_loops_of_cpp(body: str, lines: list[int]) -> None:
    before = "TEST(Rows, AreMany) {\n  EXPECT_EQ(rows.size(), rows().size());\n}\n"
    text = f"TEST(Rows, Hold) {{\n{textwrap.indent(body, '  ')}\n}}\n"
    assert assertion_loops_cpp.in_text(text) == lines
    moved = [line + before.count("\n") for line in lines]
    assert assertion_loops_cpp.in_text(before + text) == moved


def test_the_check_names_a_planted_loop(tmp_path: Path) -> None:
    python, cpp = tmp_path / "autograder/tests", tmp_path / "labs/lab9/tests"
    python.mkdir(parents=True)
    cpp.mkdir(parents=True)
    (python / "test_x.py").write_text(python_test(MAY_HOLD_ALWAYS[0]))
    (python / "test_y.py").write_text(python_test(HAVE_ITEMS[0]))
    (cpp / "x_test.cc").write_text("TEST(X, X) {\n  for (int x : rows()) EXPECT_TRUE(x);\n}\n")
    counts = assertion_loops.run(Context(Kit(tmp_path), False, tmp_path))
    assert (counts.passed, counts.failed) == (1, 2)
    assert counts.problems == [
        "autograder/tests/test_x.py:5: assertions in a loop over what may be empty",
        "labs/lab9/tests/x_test.cc:2: assertions in a loop over what may be empty",
    ]
