"""`kit questions`: oral questions on a submission, made from its own runs."""

import tempfile
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras import lab_kits
from failslow.extras.oral import runs, sheet
from failslow.extras.shared.sims import sims_of
from failslow.extras.shared.solution import check_out, submission_in
from failslow.lab.labs import load_labs

OUT = Path("out/questions")


def run(kit: Kit, lab: str, directory: Path, number: int, out: Path) -> int:
    """`number`: another number gives other runs and questions. CannotDo if the runs have fewer
    situations than a sheet has questions."""
    check_out(out)
    labs = load_labs(kit)
    with submission_in(kit, labs, directory, labs.get(lab).id) as submission:
        sims = sims_of(kit, labs, labs.get(lab), submission)
        chance = runs.chance_of(submission, number)
        with (
            tempfile.TemporaryDirectory(prefix="failslow-questions-") as scratch,
            console.progress(f"Recording {lab}") as advance,
        ):
            recorded = [*runs.record(sims, chance, Path(scratch), advance)]
        asked = sheet.choose(recorded, chance, lab_kits.oral_kinds_of(kit, sims.lab))
    if len(asked) < sheet.QUESTIONS:
        raise CannotDo(f"the runs of {lab} have situations for {len(asked)} questions alone")
    for place, (run, question) in enumerate(asked, start=1):
        atomic.write_text(out / f"{run.test.name}.html", run.page)
        text = f"{place}. {sheet.title(run)}. {question.text}\n"
        console.stdout().print(text, markup=False, soft_wrap=True)
    atomic.write_text(out / "questions.md", sheet.markdown(lab, str(directory), asked))
    console.note(f"Wrote {out / 'questions.md'}, with answers for staff, and the replays beside it")
    return 0
