"""The operators: each finds the places where its small mistake can be made.

A mistake is one that a programmer makes in review-sized code: a condition, a statement or a name.
Numbers that only tune (constants with a name) are not shifted, because most values are correct.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from failslow.mutation import change
from failslow.mutation.change import Change
from failslow.mutation.declarations import CONSTANT, WAITS, Declarations
from failslow.mutation.syntax import (
    Source,
    called,
    enclosing,
    function_around,
    name_of,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

NEGATED = "negated condition"
SHIFTED = "shifted condition"
DROPPED_OPERAND = "dropped condition"
FIXED = "fixed condition"
REMOVED = "removed statement"
DROPPED_WAIT = "dropped wait"
DROPPED_RESET = "dropped reset"
REMOVED_PERSISTENCE = "removed persistence"
SWAPPED_CONSTANT = "swapped constant"
OFF_BY_ONE = "off by one"
SWAPPED_OPERATOR = "swapped operator"
OTHER_FIELD = "other field"
EARLY_RETURN = "early return"

Found = tuple["Node", str, str]
"""A node, the operator, and the text that replaces the node."""

SHIFTS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATIONS = {"==": "!=", "!=": "=="}
SWAPS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
BOUNDS = {"min": "max", "max": "min"}
REMOVABLE = (
    "break_statement",
    "continue_statement",
    "for_range_loop",
    "for_statement",
    "while_statement",
)
CONDITIONAL = ("if_statement", "while_statement", "do_statement", "for_statement")
CLEARED = re.compile(
    r".*=\s*(\{\}|nullptr|true|false|\d+|k[A-Z]\w*|(\w+::)+k[A-Z]\w*)|.*\b(clear|reset|Reset)\(.*\)"
    r"|.*std::exchange\(.*",
    re.S,
)
SMALL = re.compile(r"[0-9]{1,3}")


def changes_of(sources: Iterable[Source], declared: Declarations) -> list[Change]:
    """All changes of the files, in the order of their places; each result once."""
    found: dict[tuple[str, int, int, str], Change] = {}
    for source in sources:
        for each in _changes_of(source, declared):
            found.setdefault((each.file, each.start, each.end, each.text), each)
    return sorted(found.values(), key=lambda each: (each.file, each.start, each.end, each.text))


def _changes_of(source: Source, declared: Declarations) -> Iterator[Change]:
    for node in walk(source.root):
        for finder in FINDERS:
            for where, operator, text in finder(node, declared):
                span = where.start_byte, where.end_byte
                yield change.make(source, operator, function_around(node), span, text)
        if node.type == "function_definition":
            for at, text in _early_returns(node):
                function = name_of(node)
                yield change.make(source, EARLY_RETURN, function, (at, at), text)


# ---- conditions ----


def _condition(node: "Node") -> "Node | None":
    """The whole condition of a statement or of `?:`; None if it is a declaration."""
    condition = node.child_by_field_name("condition")
    if condition is not None and condition.type == "condition_clause":
        condition = condition.child_by_field_name("value")
    if condition is not None and condition.type == "parenthesized_expression":
        condition = condition.named_children[0]
    if condition is None or condition.type in ("declaration", "condition_declaration"):
        return None
    return condition


def _whole_conditions(node: "Node", declared: Declarations) -> Iterator[Found]:
    if node.type not in (*CONDITIONAL, "conditional_expression"):
        return
    condition = _condition(node)
    if condition is None:
        return
    text = text_of(condition)
    yield condition, NEGATED, f"!({text})"
    if node.type not in ("if_statement", "conditional_expression") or text in ("true", "false"):
        return
    yield condition, FIXED, "true"
    if node.type == "conditional_expression" or node.child_by_field_name("alternative"):
        yield condition, FIXED, "false"  # without `else` this is the removal of the statement


def _comparisons(node: "Node", declared: Declarations) -> Iterator[Found]:
    if node.type != "binary_expression":
        return
    sign = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign is None or left is None or right is None:
        return
    text = text_of(sign)
    if text in SHIFTS:
        yield sign, SHIFTED, SHIFTS[text]
    if text in NEGATIONS and not _is_whole_condition(node):
        yield sign, NEGATED, NEGATIONS[text]
    if text in ("&&", "||"):
        yield node, DROPPED_OPERAND, text_of(left)
        yield node, DROPPED_OPERAND, text_of(right)


def _is_whole_condition(node: "Node") -> bool:
    around = node.parent
    while around is not None and around.type in ("condition_clause", "parenthesized_expression"):
        around = around.parent
    return around is not None and _condition(around) == node


def _negated_values(node: "Node", declared: Declarations) -> Iterator[Found]:
    """A `!` that is part of a larger expression."""
    if node.type == "unary_expression" and text_of(node.child_by_field_name("operator")) == "!":
        argument = node.child_by_field_name("argument")
        if not _is_whole_condition(node):
            yield node, NEGATED, text_of(argument)


# ---- statements ----


def _removed_statements(node: "Node", declared: Declarations) -> Iterator[Found]:
    around = node.parent
    if around is None or around.type not in ("compound_statement", "else_clause", *CONDITIONAL):
        return
    if around.child_by_field_name("initializer") == node or _condition(around) == node:
        return
    empty = "" if around.type == "compound_statement" else ";"
    if node.type in REMOVABLE:
        yield node, REMOVED, empty
    elif node.type == "if_statement" and node.child_by_field_name("alternative") is None:
        yield node, _kind_of_removal(node, declared), empty
    elif node.type == "return_statement" and not node.named_children:
        yield node, REMOVED, empty
    elif node.type == "expression_statement" and not _is_assertion(node):
        yield node, _kind_of_removal(node, declared), empty


def _is_assertion(statement: "Node") -> bool:
    return not statement.named_children or called(statement.named_children[0]) == "assert"


def _kind_of_removal(statement: "Node", declared: Declarations) -> str:
    if statement.type == "if_statement":
        return REMOVED
    calls = {called(node) for node in walk(statement)}
    if calls & {"storage", *declared.writing}:
        return REMOVED_PERSISTENCE
    if calls & {*WAITS, *declared.waiting} and not _holds_a_lambda(statement):
        return DROPPED_WAIT
    return DROPPED_RESET if CLEARED.fullmatch(text_of(statement).rstrip(";")) else REMOVED


def _holds_a_lambda(statement: "Node") -> bool:
    return any(node.type == "lambda_expression" for node in walk(statement))


def _values_of_waits(node: "Node", declared: Declarations) -> Iterator[Found]:
    """A wait whose outcome is used: as if it had been good, at once."""
    name = called(node)
    if node.parent is None or node.parent.type == "expression_statement":
        return
    if name == "Wait":
        yield node, DROPPED_WAIT, "Outcome::kReady"
    elif declared.waiting.get(name) == "bool":
        yield node, DROPPED_WAIT, "true"


def _early_returns(function: "Node") -> Iterator[tuple[int, str]]:
    """Where in a function's body to return, and the statement."""
    body = function.child_by_field_name("body")
    kind = text_of(function.child_by_field_name("type"))
    if body is None or body.type != "compound_statement" or not kind:
        return
    statements = [each for each in body.named_children if each.type != "comment"]
    if kind != "void":
        yield body.start_byte + 1, " return {};"
        return
    for statement in statements:
        yield statement.start_byte, "return; "


# ---- names and numbers ----


def _other_names(node: "Node", declared: Declarations) -> Iterator[Found]:
    text = text_of(node)
    if node.type in ("true", "false"):
        yield node, SWAPPED_CONSTANT, "false" if text == "true" else "true"
    elif node.type == "qualified_identifier":
        yield from _other_enumerators(node, declared)
    elif node.type == "field_identifier" and not _is_declared_or_called(node):
        for group in declared.fields:
            yield from _next_of(node, group, OTHER_FIELD)
    elif node.type == "identifier" and not _is_declared_or_called(node):
        if CONSTANT.fullmatch(text):
            for group in declared.constants:
                yield from _next_of(node, group, SWAPPED_CONSTANT)
        elif text.endswith("_"):
            for group in declared.fields:
                yield from _next_of(node, group, OTHER_FIELD)


def _next_of(node: "Node", group: tuple[str, ...], operator: str) -> Iterator[Found]:
    text = text_of(node)
    if text in group:
        yield node, operator, group[(group.index(text) + 1) % len(group)]


def _is_declared_or_called(node: "Node") -> bool:
    around = node.parent
    if around is None:
        return False
    if around.type == "field_expression":
        outer = around.parent
        return (
            outer is not None
            and outer.type == "call_expression"
            and outer.child_by_field_name("function") == around
        )
    return around.type in ("field_declaration", "function_declarator", "init_declarator") and (
        around.child_by_field_name("declarator") == node
    )


def _other_enumerators(node: "Node", declared: Declarations) -> Iterator[Found]:
    around = node.parent
    if around is not None and around.type == "qualified_identifier":
        return  # the end of a longer name
    if around is not None and around.type == "case_statement" and around.children[1] == node:
        return  # a second case of the same value
    scope, _, name = text_of(node).rpartition("::")
    names = declared.enumerators.get(scope.rpartition("::")[2], ())
    if name in names and len(names) > 1:
        other = names[(names.index(name) + 1) % len(names)]
        operator = REMOVED_PERSISTENCE if scope.endswith("Sync") else SWAPPED_CONSTANT
        yield node, operator, f"{scope}::{other}"


def _numbers(node: "Node", declared: Declarations) -> Iterator[Found]:
    text = text_of(node)
    if node.type != "number_literal" or not SMALL.fullmatch(text) or _is_named(node):
        return
    yield node, OFF_BY_ONE, str(int(text) + 1)
    if int(text) > 0:
        yield node, OFF_BY_ONE, str(int(text) - 1)


def _is_named(node: "Node") -> bool:
    """Whether the number is of a named constant."""
    around = enclosing(node, "init_declarator")
    return (
        around is not None
        and CONSTANT.fullmatch(text_of(around.child_by_field_name("declarator"))) is not None
    )


def _swapped_operators(node: "Node", declared: Declarations) -> Iterator[Found]:
    if node.type in ("binary_expression", "assignment_expression", "update_expression"):
        sign = node.child_by_field_name("operator")
        if sign is not None and text_of(sign) in SWAPS:
            yield sign, SWAPPED_OPERATOR, SWAPS[text_of(sign)]
    if node.type == "call_expression" and text_of(node).startswith("std::"):
        function = node.child_by_field_name("function")
        name = None if function is None else function.child_by_field_name("name")
        if name is not None and text_of(name) in BOUNDS:
            yield name, SWAPPED_OPERATOR, BOUNDS[text_of(name)]


FINDERS: tuple[Callable[["Node", Declarations], Iterator[Found]], ...] = (
    _whole_conditions,
    _comparisons,
    _negated_values,
    _removed_statements,
    _values_of_waits,
    _other_names,
    _numbers,
    _swapped_operators,
)
