"""Submission builds: complete or absent, and never repeated without need."""

import shutil
from pathlib import Path

import pytest

from demands import some
from failslow.base import process
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build import compile, sandbox
from failslow.build.compile import build_submission, may_read_any_file
from failslow.build.recipe import given, load_libraries, load_recipe
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect
from fakes import write_lab, write_reply, write_submission


def build(kit: Kit, tree: Path) -> Path:
    labs, recipe = load_labs(kit), load_recipe(kit)
    submission = collect(kit, labs, tree)
    targets = [recipe.replica(lab) for lab in submission.labs]
    return build_submission(kit, labs, submission, recipe, targets)


def test_links_needed_labs_and_the_driver(kit: Kit, tmp_path: Path) -> None:
    programs = build(kit, write_submission(tmp_path / "mine", "VOTES", "RAFT"))
    text = (programs / "lab2_replica").read_text()
    assert "VOTES" in text
    assert "RAFT" in text
    assert "driver" in text


def test_links_no_lab_that_is_replaced(kit: Kit, tmp_path: Path) -> None:
    write_lab(kit, "lab3", "kv.cc", "needs: [lab1, lab2]")
    write_lab(kit, "lab4", "raft.cc", "needs: [lab1, lab3]\nreplaces: [lab2]")
    names = ["lab1_replica", "lab2_replica", "lab3_replica", "lab4_replica"]
    write_reply(kit, load_recipe(kit).compiler, "-O2", {name: {} for name in names})
    tree = write_submission(tmp_path / "mine", "VOTES", "RAFT")
    for lab, file, text in (("lab3", "kv.cc", "STORE"), ("lab4", "raft.cc", "ANOTHER")):
        (tree / lab).mkdir()
        (tree / lab / file).write_text(f"// {text}\n")
    programs = build(kit, tree)
    text = (programs / "lab4_replica").read_text()
    assert [word for word in ("VOTES", "RAFT", "STORE", "ANOTHER") if word in text] == [
        "VOTES",
        "STORE",
        "ANOTHER",
    ]
    assert "RAFT" in (programs / "lab3_replica").read_text()


def test_an_unchanged_submission_is_not_built_again(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine")
    first = build(kit, tree)
    marker = first / "marker"
    marker.write_text("still here")
    assert build(kit, tree) == first
    assert marker.exists()


def test_a_build_does_not_mind_that_another_one_removes_old_builds(
    kit: Kit, tmp_path: Path
) -> None:
    build(kit, write_submission(tmp_path / "first", "VOTES"))
    gone = kit.submissions / "removed-meanwhile"
    gone.symlink_to(tmp_path / "nowhere")
    assert (build(kit, write_submission(tmp_path / "mine", "OTHER")) / "lab1_replica").exists()


def test_a_changed_input_of_any_kind_is_built_again(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine")
    seen = {build(kit, tree)}
    (tree / "lab1-quorum-event" / "quorum_event.h").write_text("// changed\n")
    seen.add(build(kit, tree))
    (kit.root / "driver.cc").write_text("// changed\n")
    seen.add(build(kit, tree))
    compiler = load_recipe(kit).compiler
    write_reply(kit, compiler, "-O1", {"lab1_replica": {}})
    seen.add(build(kit, tree))
    write_reply(kit, compiler, "-O1", {"lab1_replica": {"-lm": "libraries"}})
    seen.add(build(kit, tree))
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("line", "compiled"),
    [
        ('#include "quorum_event.h"', 1),
        ("#include <vector>", 1),
        ('  # include "quorum_event.h"  // its includes, too', 1),
        ("// Votes are included.", 1),
        ('#include "quorum_event.cc"', 2),
        ("#include <quorum_event.cc>", 2),
        ('#include "quorum_event.cc"  // not "quorum_event.h"', 2),
        ("# include NAME", 2),
        ('#inc\\\nlude "quorum_event.cc"', 2),
        ('#inc\\ \t\nlude "quorum_event.cc"', 2),
        ('asm(".incbin \\"quorum_event.cc\\"");', 2),
    ],
)
def test_an_object_depends_on_every_file_that_its_source_may_read(
    kit: Kit, tmp_path: Path, line: str, compiled: int
) -> None:
    """Objects are kept for all submissions: one of them must not get another one's code.

    Two objects are that of the votes, and that of the source. Its driver reads no header of theirs.
    """
    objects = kit.submissions.with_name("submission-objects")
    tree = write_submission(tmp_path / "mine", "VOTES", "RAFT")
    source = next(tree.rglob("raft.cc"))
    source.write_text(f"{line}\n{source.read_text()}")
    build(kit, tree)
    before = set(objects.iterdir())
    votes = next(tree.rglob("quorum_event.cc"))
    votes.write_text(f"{votes.read_text()}// changed\n")
    build(kit, tree)
    assert len(set(objects.iterdir()) - before) == compiled


@pytest.mark.parametrize(
    ("line", "compiled"),
    [
        ("// the header", 0),
        ("#include <vector>  // and quorum_event.h", 0),
        ('#include "quorum_event.h"', 1),
        ("#include <quorum_event.h>", 1),
        ('  #  include "../lab1-quorum-event/quorum_event.h"  // votes', 1),
        ('#inc\\\nlude "quorum_event.h"', 1),
        ('#import "quorum_event.h"', 1),
        ('#include "raft.h"', 1),  # which includes it
    ],
)
def test_an_object_depends_on_the_headers_that_its_source_may_include(
    kit: Kit, tmp_path: Path, line: str, compiled: int
) -> None:
    objects = kit.submissions.with_name("submission-objects")
    lab = kit.labs / "lab2-raft" / "lab.yaml"
    lab.write_text(lab.read_text().replace("[raft.cc]", "[raft.cc, raft.h]"))
    tree = write_submission(tmp_path / "mine", "VOTES", "RAFT")
    source = next(tree.rglob("raft.cc"))
    source.with_name("raft.h").write_text('#include "quorum_event.h"\n')
    source.write_text(f"{line}\n{source.read_text()}")
    build(kit, tree)
    before = set(objects.iterdir())
    header = next(tree.rglob("quorum_event.h"))
    header.write_text(f"{header.read_text()}// changed\n")
    build(kit, tree)
    assert len(set(objects.iterdir()) - before) == compiled


def test_the_labs_own_sources_read_headers_only() -> None:
    """One that seems to read more is compiled again for every mutant of its neighbours."""
    checkout = this_kit()
    sources = [*checkout.labs.rglob("*"), *checkout.reference.glob("lab*/*")]
    texts = {path: path.read_bytes() for path in sources if path.suffix in (".h", ".cc")}
    assert len(texts) > 100
    assert [path for path, text in texts.items() if may_read_any_file(text)] == []


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (
            "SYNTAX",
            r"the submission does not compile: lab1-quorum-event/quorum_event.cc:3:1: error",
        ),
        ("UNDEFINED", r"lab1 does not link: undefined reference to `Start\(\)'"),
    ],
)
def test_a_failed_build_leaves_nothing(kit: Kit, tmp_path: Path, code: str, complaint: str) -> None:
    with pytest.raises(BadSubmission, match=complaint):
        build(kit, write_submission(tmp_path / "mine", code))
    assert list(kit.submissions.iterdir()) == []


def test_a_recipe_is_what_cmake_tells(kit: Kit) -> None:
    words = {"-O1 '-rdynamic'": "flags", "lib/libgiven.a": "libraries", "-ldl": "libraries"}
    write_reply(
        kit, "/usr/bin/c++", "-O1 -Wall", {"lab1_public_sim": words}, ["build/release/test.cc.o"]
    )
    recipe = load_recipe(kit)
    assert recipe.compiler == "/usr/bin/c++"
    assert recipe.flags == ("-O1", "-Wall", "-DDEFINED=1", "-I/given", "-isystem/system")
    target = recipe.sim(load_labs(kit).get("lab1"), "lab1_public")
    build_directory = kit.preset("release")
    assert target.sources == (str(kit.root / "driver.cc"),)
    assert target.link == (
        str(build_directory / "test.cc.o"),
        "-O1",
        "-rdynamic",
        str(build_directory / "lib/libgiven.a"),
        "-ldl",
    )
    assert given(kit, [target]) == ["lib/libgiven.a", "test.cc.o"]
    library = str(build_directory / "lib/libcontract.a")
    assert load_libraries(kit) == {library: (str(kit.root / "contract.cc"),)}


def test_an_unbuilt_kit_is_said_in_one_line(kit: Kit) -> None:
    shutil.rmtree(kit.preset("release") / ".cmake")
    with pytest.raises(CannotDo, match="build the kit first"):
        load_recipe(kit)


def test_a_student_reads_the_compilers_warnings(
    kit: Kit, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    build(kit, write_submission(tmp_path / "mine", "UNUSED"))
    assert capfd.readouterr().err.count("quorum_event.cc:3:1: warning: unused variable") == 1


def test_the_linker_compiles_nothing_and_has_walls(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object may hold intermediate code, which the linker would compile."""
    commands: list[list[str]] = []
    run = process.run

    def record(argv: list[str], **options: object) -> process.Completed:
        commands.append([str(word) for word in argv])
        return run(argv, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "run", record)
    labs, recipe = load_labs(kit), load_recipe(kit)
    submission = collect(kit, labs, write_submission(tmp_path / "mine"))
    targets = [recipe.replica(lab) for lab in submission.labs]
    options = compile.Options(sandbox=sandbox.of_compiler(kit))
    build_submission(kit, labs, submission, recipe, targets, options)
    links = [words for words in commands if "-c" not in words]
    assert links
    assert all({"-fno-lto", "-fno-use-linker-plugin"} <= {*words} for words in links)
    assert all(words[0].endswith(sandbox.COMPILER_SANDBOX) for words in some(commands))
    compilers = [words[words.index("--") + 1 :] for words in commands]
    assert not [word for words in compilers for word in words[1:] if str(kit.root) in word]
