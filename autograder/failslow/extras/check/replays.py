"""Does a replay show the faulty step? A few mutants are replayed in a browser.

A mutant names its step by `Shows`, or by the invariant that it `Trips`. Each mutant of a lab
whose kit says so names one, unless no test must catch it first: a measurement has no replay.
Without --full they are of one lab, another one after each change.
"""

from collections.abc import Sequence
from pathlib import Path

from failslow.base import console, parallel
from failslow.base.errors import CannotDo
from failslow.build.gtest import Options
from failslow.extras.check import sample
from failslow.extras.check.step import Context, Counts
from failslow.extras.replay import html_report, one_test
from failslow.extras.site import browser
from failslow.lab.mutants import Mutant, load_mutants

FEW = 2
MANY = 4
"""Mutants of a lab."""

# The key for the faulty step, then the step and whether its instant is in view.
PRESS_V = """
(async () => {
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "v", bubbles: true}));
  while (document.body.dataset.settled !== "yes") await new Promise(requestAnimationFrame);
  const {state} = await import("replay/state.js");
  const event = state.selected;
  const [from, to] = state.x.domain().map(Math.round);  // computed from pixels
  return event === null ? null : {
    words: `${event.what} ${event.where} ${event.text}`,
    inView: event.start >= from && event.start <= to,
  };
})()
"""


def run(context: Context) -> Counts:
    """Mutants of one lab, drawn; with --full of each lab."""
    program = browser.find()
    if program is None:
        return Counts(skipped=browser.NONE)
    named = [each for each in load_mutants(context.kit) if each.faulty_step is not None]
    lab = sample.drawn_lab(context.kit, sorted({each.lab for each in named}))
    chosen = of_each_lab(
        [each for each in named if context.full or each.lab == lab], MANY if context.full else FEW
    )
    counts = Counts(remarks=[f"{len(chosen)} of {len(named)} mutants that name their faulty step"])
    with console.progress("Replaying mutants") as advance:
        drawings = parallel.run_all(chosen, lambda mutant: _drawn(context, mutant), advance)
    with browser.open_tab(program) as tab:
        for mutant, drawing in zip(chosen, drawings, strict=True):
            counts.add(_shown(tab, mutant, drawing))
    return counts


def of_each_lab(mutants: Sequence[Mutant], count: int) -> list[Mutant]:
    """At most `count` of each lab."""
    labs = dict.fromkeys(mutant.lab for mutant in mutants)
    return [
        mutant
        for lab in labs
        for mutant in spread([each for each in mutants if each.lab == lab], count)
    ]


def spread(mutants: Sequence[Mutant], count: int) -> list[Mutant]:
    """At most `count` of the mutants, at equal distances."""
    if len(mutants) <= count:
        return list(mutants)
    return [mutants[index * len(mutants) // count] for index in range(count)]


def _drawn(context: Context, mutant: Mutant) -> Path | str:
    """The page of the first test that must catch it; or why there is none."""
    name = mutant.name.replace("/", "-")
    record, drawing = context.scratch / f"{name}.record", context.scratch / f"{name}.html"
    try:
        sims, test = one_test.find(context.kit, mutant.lab, mutant.caught_by[0], mutant.path)
        outcome = sims.run(test, Options(record=record))
        worlds = one_test.worlds_of(sims, outcome, record)
    except CannotDo as error:
        return f"{error}\n{error.detail}".rstrip()
    if outcome.passed:
        return f"{test.name} passes"
    view = sims.lab.cluster
    subject = one_test.subject_of(sims, test, outcome)
    drawing.write_text(html_report.document(subject, worlds, view.shows if view else ()), "utf-8")
    return drawing


def _shown(tab: browser.Tab, mutant: Mutant, drawing: Path | str) -> Counts:
    counts = Counts()
    where = f"mutant {mutant.name}: the replay"
    if isinstance(drawing, str):
        counts.problems.append(f"{where} cannot be drawn: {drawing}")
        return counts
    complaints = tab.open(drawing)
    step = tab.evaluate(PRESS_V)
    counts.expect(not complaints, f"{where}: {'; '.join(complaints)}")
    wanted = mutant.faulty_step
    said = "nothing" if step is None else step["words"]
    shows = step is not None and str(wanted) in said
    counts.expect(shows, f"{where} shows {said!r}, not {wanted!r}")
    counts.expect(step is None or step["inView"], f"{where} shows another instant than its step's")
    return counts
