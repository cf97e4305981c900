"""The report on a submission that behaves differently when run twice."""

from failslow.build.determinism import describe, first_difference


def test_finds_the_first_line_that_differs() -> None:
    assert first_difference(["a", "b"], ["a", "b"]) is None
    assert first_difference(["a", "b", "c"], ["a", "x", "y"]) == 1


def test_a_shorter_run_differs_where_it_ends() -> None:
    assert first_difference(["a"], ["a", "b"]) == 1
    assert "(the run had ended)" in describe(["a"], ["a", "b"])


def test_shows_both_lines_and_three_before() -> None:
    first = [f"line {number}" for number in range(1, 11)]
    second = [*first[:6], "other", *first[7:]]
    text = describe(first, second)
    assert "is number 7" in text
    assert "run 1:  line 7" in text
    assert "run 2:  other" in text
    assert [number for number in range(1, 11) if f"line {number}\n" in text] == [4, 5, 6, 7]


def test_a_difference_that_does_not_come_again_is_reported_too() -> None:
    assert "only now and then" in describe(["a"], ["a"])
