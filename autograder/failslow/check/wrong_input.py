"""Gives wrong input to the real `kit`: a one-line reason, exit code 2, no file written."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from failslow import console, process
from failslow.check.step import Context, Counts
from failslow.labs import Lab, load_labs


@dataclass(frozen=True)
class Case:
    """`says` must occur in the one-line reason."""

    arguments: tuple[str, ...]
    says: str


def run(context: Context) -> Counts:
    counts = Counts()
    cases = _cases(context)
    with console.progress("Giving wrong input") as advance:
        for number, case in enumerate(cases, start=1):
            counts.add(_try(context, case))
            advance(number, len(cases), " ".join(case.arguments))
    return counts


def _cases(context: Context) -> list[Case]:
    lab = next(iter(load_labs(context.kit).by_id.values()))
    empty = context.scratch / "empty"
    empty.mkdir()
    nowhere = str(context.scratch / "nowhere")
    return [
        Case(("frobnicate",), "invalid choice"),
        Case(("grade",), "required"),
        Case(("grade", nowhere), "no such directory"),
        Case(("grade", str(empty)), "holds no submission"),
        Case(("grade", str(context.kit.reference), "--lab", "lab99"), "unknown lab"),
        Case(("grade", str(context.kit.reference), "--seeds", "0"), "positive"),
        Case(("grade", str(context.kit.reference), "--key", nowhere), "No such file"),
        Case(("grade", str(_without_a_file(context, lab))), "is missing"),
        Case(("grade", str(_broken(context, lab)), "--lab", lab.id), "does not compile"),
        Case(("test",), "required"),
        Case(("test", "lab99"), "unknown lab"),
        Case(("test", lab.id, nowhere), "no such directory"),
        Case(("replay", lab.id, "No.Such", str(context.kit.reference)), "no public test"),
        Case(("replay", lab.id, "No.Such", "--seed", "-1"), "is not a seed"),
        Case(("explore", lab.id, str(context.kit.reference)), "no small scope"),
        Case(("explore", lab.id, "--bound", "2,dogs=1"), "is not a number"),
        Case(("diagnose", "--check", nowhere), "No such file"),
        Case(("diagnose", "--out", str(context.kit.course_key.parent / "kit")), "not a directory"),
        Case(("release", "answers", "--out", str(empty)), "exists"),
        Case(("release", "students", str(context.kit.root)), "is not empty"),
        Case(("submit", "lab99"), "unknown lab"),
        Case(("submit", "--out", str(empty)), "cannot write"),
        Case(("check", "--json"), "goes with --mutants"),
        Case(("mutants", "rebase", "--from", "nowhere"), "git knows no commit"),
        Case(("bench", "everything"), "invalid choice"),
        Case(("cluster", "up", "--lab", lab.id), "does not run as a cluster"),
        Case(("cluster", "build", "--lab", lab.id), "does not run as a cluster"),
        Case(("cluster", "up", "--data", str(context.kit.root)), "holds no cluster"),
        Case(("cluster", "status", "--data", nowhere), "there is no cluster"),
        Case(("site",), "required"),
        Case(("site", "serve", "--port", "0"), "not a port number"),
    ]


def _try(context: Context, case: Case) -> Counts:
    out = context.scratch / "wrong-input-out"
    argv: list[str | Path] = [context.kit.root / "kit", *case.arguments]
    argv += ["--out", out] if case.arguments[0] == "grade" else []
    done = process.run(argv, cwd=context.scratch)
    shown = f"kit {' '.join(case.arguments)}"
    said = [line for line in done.errors.splitlines() if line.startswith("kit: ")]
    counts = Counts()
    counts.expect(done.exit_code == 2, f"{shown}: {done.how_it_ended()} instead of exit code 2")
    counts.expect(
        len(said) == 1 and case.says in said[0],
        f"{shown}: should say '{case.says}' in one line, said: {done.errors[-500:]}",
    )
    counts.expect(not out.exists(), f"{shown}: wrote {out.name}")
    return counts


def _without_a_file(context: Context, lab: Lab) -> Path:
    tree = _copy(context, lab, "without-a-file")
    (tree / lab.directory / lab.files[-1]).unlink()
    return tree


def _broken(context: Context, lab: Lab) -> Path:
    tree = _copy(context, lab, "broken")
    source = tree / lab.directory / next(name for name in lab.files if name.endswith(".cc"))
    source.write_text(f"{source.read_text()}\nthis is not C++;\n")
    return tree


def _copy(context: Context, lab: Lab, name: str) -> Path:
    tree = context.scratch / name
    shutil.copytree(context.kit.reference / lab.directory, tree / lab.directory)
    return tree
