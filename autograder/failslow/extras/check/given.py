"""The given half of the labs: no answer to another lab, and no class with too many fields."""

from failslow.extras.check.step import Context, Counts
from failslow.extras.release import copies
from failslow.extras.shared import cpp

FIELDS_MAX = 20
"""A class with more does more than one job."""


def answers(context: Context) -> Counts:
    """No given function is for the most part a function of another lab's solution."""
    found = copies.find(context.kit)
    return Counts(passed=int(not found), problems=[str(each) for each in found])


def fields(context: Context) -> Counts:
    """No class below labs/ has more than FIELDS_MAX fields."""
    counts = Counts()
    for path in sorted(context.kit.labs.rglob("*.[ch]*")):
        for each in cpp.classes(path):
            place = f"{path.relative_to(context.kit.root)}:{each.line}"
            counts.expect(
                each.fields <= FIELDS_MAX,
                f"{place}: {each.name} has {each.fields} fields, and {FIELDS_MAX} at most may be",
            )
    return counts
