"""Looks for functions of one lab's solution among what the release gives of another lab.

Statements are compared, without comments and layout. A statement counts from STATEMENT_MIN
characters on. A solution's own lab may give some of its statements: these tell nobody anything. A
patch (a mutant, an alternative) is not read: most of its lines are the reference's.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from failslow.base.kit import Kit
from failslow.extras.release import tree
from failslow.extras.shared import cpp

STATEMENT_MIN = 12
STATEMENTS_MIN = 5
"""Shorter functions say nothing: four statements read a file."""
SHARE_MAX = 0.5

SOURCES = (".h", ".cc")
GIVEN_OF = re.compile(r"(?:labs|handouts)/(lab\d+)-")
SOLUTION_OF = re.compile(r"(?:reference-solutions/(?:fast/)?|labs/)(lab\d+)-")
NO_SOLUTION = ("*/tests/*", "*/bench/*")


@dataclass(frozen=True)
class Body:
    """A function at `place`, and how often it has each statement that counts. `lab`: its id, or ""
    for what all labs share."""

    lab: str
    name: str
    place: str
    statements: Counter[str]


@dataclass(frozen=True)
class Copy:
    given: Body
    solution: Body

    @property
    def share(self) -> float:
        """The part of the given function that is in the solution's."""
        both = self.given.statements & self.solution.statements
        return both.total() / self.given.statements.total()

    def __str__(self) -> str:
        given, solution = (f"{each.name} ({each.place})" for each in (self.given, self.solution))
        return f"{given} is {self.share:.0%} of {solution}"


def find(kit: Kit) -> list[Copy]:
    """The given functions of which more than SHARE_MAX is in one function of another lab's
    solution, each with the most similar one. CannotDo outside of a git checkout."""
    given = [*_given(kit)]
    solutions = [*_solutions(kit, given)]
    found = []
    for each in given:
        if each.statements.total() >= STATEMENTS_MIN:
            others = (Copy(each, other) for other in solutions if other.lab != each.lab)
            closest = max(others, key=lambda copy: copy.share, default=None)
            if closest and closest.share > SHARE_MAX:
                found.append(closest)
    return found


def _given(kit: Kit) -> Iterator[Body]:
    for name in tree.given(kit):
        if name.endswith((*SOURCES, ".md")):
            lab = GIVEN_OF.match(name)
            yield from _bodies(kit, name, lab[1] if lab else "")


def _solutions(kit: Kit, given: list[Body]) -> Iterator[Body]:
    """Without the statements that a lab gives of its own solution."""
    for name in tree.tracked(kit):
        lab = SOLUTION_OF.match(name)
        is_solution = tree.is_secret(name) and not tree.matches(name, NO_SOLUTION)
        if lab and is_solution and name.endswith(SOURCES):
            known = {word for each in given if each.lab == lab[1] for word in each.statements}
            for body in _bodies(kit, name, lab[1]):
                for statement in known & body.statements.keys():
                    del body.statements[statement]
                yield body


def _bodies(kit: Kit, name: str, lab: str) -> Iterator[Body]:
    """Those of a source, or of the code in a page."""
    path = kit.root / name
    for each in cpp.functions(path) if name.endswith(SOURCES) else cpp.code_blocks(path):
        counted = Counter(word for word in each.statements if len(word) >= STATEMENT_MIN)
        yield Body(lab, each.name, f"{name}:{each.line}", counted)
