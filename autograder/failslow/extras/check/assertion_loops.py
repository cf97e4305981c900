"""Loops of assertions over what may be empty: a test of nothing else cannot fail.

A loop that asserts goes over a literal, over what an earlier assertion of its function names, or
over `some(...)`, which demands at least one item. The items of `assert all(...)` and of
`assert not any(...)` are such a loop, too. C++ tests have `testkit::Some(...)`, and constants
(`kName`); their loop may also gather what an assertion outside it names.
"""

import ast
from collections.abc import Iterable, Iterator

from failslow.extras.check import assertion_loops_cpp
from failslow.extras.check.step import Context, Counts
from failslow.extras.check.style import CPP_DIRECTORIES, PYTHON_DIRECTORIES, sources

HELPER = "some"

AS_LONG_AS_ARGUMENTS = {"enumerate", "sorted", "zip"}
AS_LONG_AS_OBJECT = {"items", "keys", "values"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp


def run(context: Context) -> Counts:
    """Counts each file without such a loop as passed, and each loop as a problem."""
    counts = Counts()
    for directories, suffixes, find in (
        (PYTHON_DIRECTORIES, (".py",), in_python),
        (CPP_DIRECTORIES, (".cc",), assertion_loops_cpp.in_text),
    ):
        for path in sources(context.kit, directories, suffixes):
            name = path.relative_to(context.kit.root)
            lines = find(path.read_text(encoding="utf-8"))
            counts.problems += [
                f"{name}:{line}: assertions in a loop over what may be empty" for line in lines
            ]
            counts.passed += not lines
    return counts


def in_python(text: str) -> list[int]:
    """The lines of the loops of a file with tests. A function that returns a value makes what a
    test looks at, and tests nothing."""
    if "def test_" not in text:
        return []
    module = ast.parse(text)
    classes = (each for each in module.body if isinstance(each, ast.ClassDef))
    scopes: list[ast.Module | ast.ClassDef] = [module, *classes]
    functions = [each for scope in scopes for each in scope.body if isinstance(each, Function)]
    asserting = {each.name for each in functions if any(map(_asserts, ast.walk(each)))}
    constants = _literals(module.body, set())
    return sorted(
        line
        for each in functions
        if each.name.startswith("test_") or not any(map(_is_result, ast.walk(each)))
        for line in _loops(each, asserting, constants)
    )


def _loops(function: Function, asserting: set[str], constants: set[str]) -> Iterator[int]:
    nodes = list(ast.walk(function))
    known = _literals(nodes, constants)
    for node in nodes:
        ranges: Iterable[ast.expr] = ()
        if isinstance(node, ast.Assert):
            ranges = _quantified(node.test)
        elif isinstance(node, ast.For) and any(
            _asserts(each, asserting) for each in ast.walk(node)
        ):
            ranges = [node.iter]
        for items in ranges:
            if not _has_items(items, known) and not _is_named(items, nodes, items.lineno):
                yield items.lineno


def _asserts(node: ast.AST, asserting: Iterable[str] = ()) -> bool:
    if isinstance(node, ast.Call):
        name = _name_of(node)
        return name in {"expect", "raises", *asserting} or name.startswith("assert")
    return isinstance(node, ast.Assert)


def _is_result(node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Yield) and node.value is not None


def _name_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _quantified(test: ast.expr, negated: bool = False) -> Iterator[ast.expr]:
    """The comprehensions that make this assertion hold when they are empty."""
    if isinstance(test, ast.UnaryOp):
        yield from _quantified(test.operand, not negated)
    elif isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _quantified(each, negated)
    elif isinstance(test, ast.Call) and _name_of(test) == ("any" if negated else "all"):
        yield from (each for each in test.args if isinstance(each, Comprehension))


def _literals(nodes: Iterable[ast.AST], known: set[str]) -> set[str]:
    """The names that are bound to literals with items, besides those known."""
    found = set(known)
    others: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            (target, *_) = node.targets if isinstance(node, ast.Assign) else [node.target]
            (found if _has_items(node.value, found) else others).add(ast.unparse(target))
    return found - others


def _has_items(items: ast.expr, known: set[str]) -> bool:
    """Whether it is never empty. `known`: names and expressions that are not."""
    if ast.unparse(items) in known:
        return True
    if isinstance(items, ast.Constant):
        return bool(items.value)
    if isinstance(items, ast.Tuple | ast.List | ast.Set):
        return any(not isinstance(each, ast.Starred) for each in items.elts)
    if isinstance(items, ast.Dict):
        return any(items.keys)
    if isinstance(items, Comprehension):
        return all(not each.ifs and _has_items(each.iter, known) for each in items.generators)
    return isinstance(items, ast.Call) and _returns_items(items, known)


def _returns_items(call: ast.Call, known: set[str]) -> bool:
    name = _name_of(call)
    if name == "range":
        return _has_items(call.args[-1] if len(call.args) < 3 else call.args[1], known)
    if name in AS_LONG_AS_ARGUMENTS:
        return all(_has_items(each, known) for each in call.args)
    if name in AS_LONG_AS_OBJECT and isinstance(call.func, ast.Attribute):
        return _has_items(call.func.value, known)
    return name == HELPER


def _is_named(items: ast.expr, nodes: Iterable[ast.AST], line: int) -> bool:
    """Whether assertions above this line name what makes it non-empty."""
    above = (each for each in nodes if isinstance(each, ast.Assert) and each.lineno < line)
    named = {ast.unparse(part) for each in above for part in ast.walk(each.test)}
    return _has_items(items, named)
