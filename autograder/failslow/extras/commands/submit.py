"""`kit submit`: makes the file that a student hands in, of the files that the labs list."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from failslow.base import atomic, console, zip_file
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.journal import entries as journal
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import listed, read_file

OUT = Path("out/submission.zip")


def run(kit: Kit, lab: str | None, out: Path) -> int:
    """0 when the file is written. CannotDo, with a line for each problem, when it is not."""
    labs = load_labs(kit)
    handed_in = labs.closure(labs.get(lab)) if lab else list(labs.by_id.values())
    files, problems = _collect(kit, handed_in)
    if len(problems) == 1:
        raise CannotDo(problems[0])
    if problems:
        text = f"{len(problems)} files cannot be handed in; nothing was written"
        raise CannotDo(text, "\n".join(problems))
    journal.add_step(kit, "submit", lab, None, result=f"{len(files)} files")
    if journal.is_kept(kit):
        files[journal.FILE] = journal.path_of(kit).read_bytes()
    entries = {name: Entry(content) for name, content in files.items()}
    atomic.write_bytes(out, zip_file.archive(entries, zipfile.ZIP_STORED))
    for name in sorted(files):
        print(name)
    console.note(f"Wrote {out} ({len(files)} files)")
    return 0


def _collect(kit: Kit, labs: Sequence[Lab]) -> tuple[dict[str, bytes], list[str]]:
    """The contents by their names in the zip file, and the files that cannot be handed in."""
    files: dict[str, bytes] = {}
    problems: list[str] = []
    for lab in labs:
        for name in listed(lab):
            path = kit.labs / lab.directory / "src" / name
            try:
                files[f"{lab.directory}/{name}"] = read_file(kit.labs, path)
            except BadSubmission as error:
                problems.append(f"labs/{error}")
    return files, problems
