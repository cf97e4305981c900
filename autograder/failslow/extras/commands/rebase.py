"""`kit mutants rebase`: carries mutants, alternatives, variants and attacks over a change of the
reference.

Each is a three-way merge of: the old reference patched, the old reference, the new reference. A
conflict is left in `build/rebase/LAB/mutants/NAME/`: `a/` is the new reference, `b/` the merge with
its conflict markers. Once somebody has edited `b/`, the next rebase takes `b/` for the patched
reference and `a/` for the old reference: it makes the patch from them.
"""

import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from failslow.base import atomic, console, parallel, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.check import attacks
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import (
    Patched,
    apply,
    load_alternatives,
    load_mutants,
    load_variants,
    split,
)
from failslow.lab.reference import whole_files

MARKER = re.compile(rb"^(<<<<<<<|>>>>>>>) ", re.M)

Files = dict[str, bytes]
"""Contents by the path that a patch names, without a/ or b/."""


class Fate(Enum):
    KEPT = "kept"
    REBASED = "rebased"
    BY_HAND = "needs a hand"


@dataclass(frozen=True)
class Result:
    """`reason`: one line for a person, when Fate.BY_HAND."""

    patched: Patched
    fate: Fate
    reason: str = ""


def run(kit: Kit, revision: str) -> int:
    """0 when all patches fit the reference now, 1 when some have conflicts (they are named).

    `revision`: the commit whose reference the patches fit.
    """
    labs = load_labs(kit)
    rebase = Rebase(kit, labs, revision)
    found: list[Patched] = [*load_mutants(kit), *load_alternatives(kit)]
    # A variant of another lab changes given code, too, which is no part of the reference.
    diagnosed = [lab.id for lab in labs.by_id.values() if lab.diagnosis]
    found += [variant for lab in diagnosed for variant in load_variants(kit, lab)]
    found += attacks.load_patches(kit)
    with console.progress("Rebasing") as advance:
        results = parallel.run_all(found, rebase.one, advance)
    for result in results:
        if result.fate is Fate.REBASED:
            print(f"rebased {result.patched.name}")
    for result in results:
        if result.fate is Fate.BY_HAND:
            print(f"{result.patched.name} {result.fate.value}: {result.reason}")
    by_fate = [result.fate for result in results]
    print(", ".join(f"{by_fate.count(fate)} {fate.value}" for fate in Fate))
    return 1 if Fate.BY_HAND in by_fate else 0


class Rebase:
    """Two references for all patches. `revision`: a commit of the old one."""

    def __init__(self, kit: Kit, labs: Labs, revision: str) -> None:
        self._kit = kit
        self._labs = labs
        self._new = _files_in(kit.reference, labs)
        self._old = _at(kit, labs, revision)

    def one(self, patched: Patched) -> Result:
        """Rewrites the patch, or leaves a conflict and says where."""
        begun = self._kit.rebase / patched.path.relative_to(patched.path.parents[2]).with_suffix("")
        new = self._of_lab(self._new, patched)
        if begun.is_dir():
            base, changed = _read(begun / "a", new), _read(begun / "b", new)
            if _conflicts(changed):
                return _conflict(patched, begun, changed)
        else:
            base = self._of_lab(self._old, patched)
            try:
                changed = _applied(patched, base)
            except CannotDo:
                return _fits_already(patched, new)
        merged = {name: _merge(changed.get(name), base.get(name), new[name]) for name in new}
        if _conflicts(merged):
            _write(begun / "a", new)
            _write(begun / "b", merged)
            return _conflict(patched, begun, merged)
        shutil.rmtree(begun, ignore_errors=True)
        return _rewrite(patched, new, merged)

    def _of_lab(self, files: Files, patched: Patched) -> Files:
        """The files of the patch's lab, and of those it needs."""
        labs = self._labs.closure(self._labs.get(patched.lab))
        names = [f"{lab.directory}/{file}" for lab in labs for file in lab.files]
        return {name: files[name] for name in names if name in files}


def _files_in(solutions: Path, labs: Labs) -> Files:
    """Those that are there."""
    files: Files = {}
    for lab in labs.by_id.values():
        directory = solutions / lab.directory
        whole = whole_files(directory) if directory.is_dir() else {}
        files |= {f"{lab.directory}/{name}": whole[name] for name in lab.files if name in whole}
    return files


def _at(kit: Kit, labs: Labs, revision: str) -> Files:
    """Those that the revision has. CannotDo if there is no such revision."""
    git = ["git", "-C", str(kit.reference)]
    known = process.run([*git, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"])
    if known.exit_code != 0:
        raise CannotDo(f"git knows no commit '{revision}' here", known.errors)
    with tempfile.TemporaryDirectory(prefix="failslow-revision-") as name:
        archive = Path(name) / "reference.tar"
        done = process.run([*git, "archive", "-o", archive, revision, "."])
        if done.exit_code != 0:
            raise CannotDo(f"git has no reference solutions in '{revision}'", done.errors)
        with tarfile.open(archive) as opened:
            opened.extractall(name)
        return _files_in(Path(name), labs)


def _applied(patched: Patched, files: Files) -> Files:
    with tempfile.TemporaryDirectory(prefix="failslow-rebase-") as name:
        tree = Path(name)
        _write(tree, files)
        apply(patched, tree)
        return _read(tree, files)


def _fits_already(patched: Patched, new: Files) -> Result:
    """A patch that does not fit the old reference was carried over before, or never fitted."""
    try:
        _applied(patched, new)
    except CannotDo:
        reason = "it applies neither to the old reference nor to the new one"
        return Result(patched, Fate.BY_HAND, reason)
    return Result(patched, Fate.KEPT)


def _merge(changed: bytes | None, base: bytes | None, new: bytes) -> bytes:
    """`new` with the difference of `changed` from `base`; conflict markers where both changed."""
    if changed is None or base is None or changed == base:
        return new
    with tempfile.TemporaryDirectory(prefix="failslow-merge-") as name:
        sides = [Path(name) / side for side in ("patched", "old", "new")]
        for side, content in zip(sides, (changed, base, new), strict=True):
            side.write_bytes(content)
        labels = [word for side in sides for word in ("-L", side.name)]
        done = process.run(["git", "merge-file", "-p", "--diff3", *labels, *sides])
        # The exit code is the number of conflicts, or as good as negative.
        if not 0 <= done.exit_code <= 127:
            raise CannotDo("git merge-file does not merge", done.errors)
        return done.output.encode()


def _conflicts(files: Files) -> list[str]:
    return [name for name, content in files.items() if MARKER.search(content)]


def _conflict(patched: Patched, begun: Path, merged: Files) -> Result:
    files = ", ".join(str(begun / "b" / name) for name in _conflicts(merged))
    return Result(patched, Fate.BY_HAND, f"end the conflict in {files}, then rebase again")


def _rewrite(patched: Patched, new: Files, merged: Files) -> Result:
    """Leaves a patch unchanged that gives the merged files, even with other line numbers."""
    if new == merged:
        return Result(patched, Fate.BY_HAND, "the new reference has its change, too")
    with suppress(CannotDo):
        if _applied(patched, new) == merged:
            return Result(patched, Fate.KEPT)
    header = split(patched.path)[0]
    atomic.write_text(patched.path, header + _diff(new, merged))
    return Result(patched, Fate.REBASED)


def _diff(new: Files, merged: Files) -> str:
    with tempfile.TemporaryDirectory(prefix="failslow-diff-") as directory:
        tree = Path(directory)
        _write(tree / "a", new)
        _write(tree / "b", merged)
        changed = sorted(name for name in new if new[name] != merged[name])
        return "".join(_diff_of_one(tree, name) for name in changed)


def _diff_of_one(tree: Path, name: str) -> str:
    labels = ["--label", f"a/{name}", "--label", f"b/{name}"]
    done = process.run(["diff", "-u", *labels, f"a/{name}", f"b/{name}"], cwd=tree)
    if done.exit_code != 1:
        raise CannotDo("diff does not compare", done.errors)
    return done.output


def _read(tree: Path, names: Files) -> Files:
    return {name: (tree / name).read_bytes() for name in names if (tree / name).is_file()}


def _write(tree: Path, files: Files) -> None:
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
