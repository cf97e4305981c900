"""`kit grade --batch`: grades a folder of submissions, each content once, and writes a summary."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import BadSubmission
from failslow.base.kit import Kit
from failslow.build import cmake, sandbox
from failslow.build.recipe import load_recipe
from failslow.extras.batch import folder, job, machines, summary
from failslow.extras.batch.folder import Handed
from failslow.extras.batch.job import Done, Job
from failslow.extras.batch.machines import Machines
from failslow.extras.batch.result_store import (
    ResultStore,
    Terms,
    content_key,
    digest_of_kit,
    key_of_words,
)
from failslow.extras.batch.summary import Row
from failslow.extras.shared.solution import check_out
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs, load_labs
from failslow.lab.submission import BASE, Submission, collect

RESULTS = "results"
SOURCES = "sources"


@dataclass(frozen=True)
class Options:
    """`jobs`: gradings side by side on this machine. `on`: see machines.cluster; HERE for none."""

    lab: str | None = None
    seeds: int | None = None
    minutes: float | None = None
    jobs: int = 1
    on: str = machines.HERE


def run(kit: Kit, directory: Path, out: Path, key: CourseKey | None, options: Options) -> int:
    """0 when every submission has a grade, 1 when the summary has remarks."""
    check_out(out)
    key = key or course_key.find(kit)
    labs = load_labs(kit)
    if options.lab:
        labs.get(options.lab)
    handed = folder.find(directory)
    before = summary.read(out)
    try:
        with _machines(options) as on:  # before the build, which takes minutes
            cmake.build(kit, targets=[cmake.GRADING])
            if missing := sandbox.remark(sandbox.of_this_machine(kit)):
                console.note(missing)
            rows = _Batch(kit, labs, key, options, out, before).grade(handed, on)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where it was") from None
    print(summary.counts(rows))
    for row in rows:
        if row.before is not None:
            print(f"{row.name}: {row.before:g} -> {row.score:g}")
        if row.remark:
            print(f"{row.name}: {row.remark}")
    console.note(f"Wrote {out / summary.CSV_NAME} and {out / summary.PAGE_NAME}")
    return 1 if any(row.remark for row in rows) else 0


@contextmanager
def _machines(options: Options) -> Iterator[Machines]:
    if options.on == machines.HERE:
        yield machines.here(options.jobs)
    else:
        with machines.cluster(options.on) as on:
            yield on


class _Batch:
    def __init__(
        self,
        kit: Kit,
        labs: Labs,
        key: CourseKey,
        options: Options,
        out: Path,
        before: dict[str, Row],
    ) -> None:
        self._kit = kit
        self._labs = labs
        self._key = key
        self._options = options
        self._out = out
        self._before = before
        self._store = ResultStore(out / RESULTS)
        self._recipe = load_recipe(kit)
        self._terms = Terms(digest_of_kit(kit, labs), key, options.seeds)

    def grade(self, handed: Sequence[Handed], on: Machines) -> list[Row]:
        """A row for each, in order. The summary is written after each grading: a batch that is
        ended goes on where it was."""
        keys = {each.name: self._content(each) for each in handed}
        found = {name: self._store.find(key) for name, key in keys.items()}
        rows = {
            each.name: self._row(each.name, keys[each.name], Done(found[each.name]))
            if found[each.name]
            else self._pending(each.name)
            for each in handed
        }
        # Students who hand in the same are graded once.
        first: dict[str, Handed] = {}
        for each in handed:
            if not found[each.name]:
                first.setdefault(keys[each.name], each)
        jobs = {self._job(each): key for key, each in first.items()}
        with console.progress(f"Grading {len(handed)} submissions") as advance:
            for count, (graded, done) in enumerate(on([*jobs]), start=1):
                key = jobs[graded]
                if done.result:
                    self._store.add(key, done.result)
                for name in [name for name, other in keys.items() if other == key]:
                    rows[name] = self._row(name, key, done)
                summary.write(self._out, [*rows.values()])
                advance(count, len(jobs), graded.name)
        summary.write(self._out, [*rows.values()])
        return [*rows.values()]

    def _content(self, handed: Handed) -> str:
        """The key of its content. One that cannot be read has the key of the reason."""
        try:
            with folder.tree_of(handed, self._labs) as tree:
                submission = collect(self._kit, self._labs, tree, self._options.lab)
        except BadSubmission as error:
            # The reason may have a student's words: they are no file name.
            return key_of_words("unreadable", handed.name, str(error))
        self._export(handed.name, submission)
        return content_key(self._kit, self._labs, self._recipe, submission, self._terms)

    def _export(self, name: str, submission: Submission) -> None:
        """The student's own files, for a tool that compares submissions."""
        for place, content in submission.files.items():
            if not place.startswith(BASE):
                atomic.write_bytes(self._out / SOURCES / name / place, content)

    def _job(self, handed: Handed) -> Job:
        return Job(
            root=str(self._kit.root),
            name=handed.name,
            path=str(handed.path.absolute()),
            lab=self._options.lab,
            seeds=self._options.seeds,
            minutes=self._options.minutes or job.MINUTES,
            secret=self._key.secret.hex(),
        )

    def _pending(self, name: str) -> Row:
        kept = self._before.get(name, Row(name))
        return replace(kept, before=None, remark="not graded yet")

    def _row(self, name: str, key: str, done: Done) -> Row:
        """An error of the grader never replaces a grade."""
        known = self._before.get(name)
        if done.result is None:
            kept = known or Row(name)
            return replace(kept, before=None, remark=f"grader error: {done.error}")
        extra = done.result["extra_data"]
        missing = extra.get("without_verdict")
        if missing:
            remark = f"no verdict on {len(missing)} tests: grade again"
            if known and known.key:  # its result is in the store of results
                return replace(known, before=None, remark=f"{remark}; the grade before is kept")
        elif "max_score" not in extra:
            reason = extra.get("rejected", "")
            remark = f"{summary.REFUSED}{reason}"
        else:
            remark = ""
        score = float(done.result["score"])
        was = known.score if known else None
        return Row(
            name,
            score,
            float(extra.get("max_score", extra.get("points", 0))),
            key if self._store.path(key).is_file() else "",
            was if was != score else None,
            remark,
        )
