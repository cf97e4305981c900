"""The layout of committed results."""

import json

from failslow.base import records


def test_each_record_has_one_line() -> None:
    document = {
        "options": {"lab": "lab2", "sizes": (3, 5)},
        "cells": [{"fault": "a", "of": {"x": 1}}, {"fault": "b", "of": {}}],
        "by_name": {"one": {"calls": [1, 2]}, "two": None},
    }
    text = records.text(document)
    assert text == (
        "{\n"
        ' "options": {"lab": "lab2", "sizes": [3, 5]},\n'
        ' "cells": [\n'
        '  {"fault": "a", "of": {"x": 1}},\n'
        '  {"fault": "b", "of": {}}\n'
        " ],\n"
        ' "by_name": {\n'
        '  "one": {"calls": [1, 2]},\n'
        '  "two": null\n'
        " }\n"
        "}\n"
    )
    assert records.text(json.loads(text)) == text


def test_floats_have_the_digits_that_a_figure_is_good_for() -> None:
    assert records.text([1 / 3, 123456.7, float("inf"), 7]) == "[0.33333, 123460.0, null, 7]\n"
