"""`kit site` against a small checkout, with the real MkDocs; and the checks around it."""

import re
from pathlib import Path

import pytest

from demands import some
from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.cli import main
from failslow.extras.check import site as check
from failslow.extras.release.students import COMMANDS
from failslow.extras.site import build, hooks, readers
from failslow.lab.labs import load_labs
from running import Expect

# The handbook's own plugins and hooks, without those that a small site does not need.
CONFIG = f"""INHERIT: {this_kit().site / "mkdocs.yml"}
theme: {{custom_dir: {this_kit().site / "overrides"}}}
hooks: [{Path(hooks.__file__)}]
extra: {{polyfills: [iframe-worker.js]}}
extra_css: []
extra_javascript: []
watch: []
not_in_nav: a.md
nav: [index.md, Reference: reference/index.md]
"""
HEADER = "// Thing: a thing.\n#pragma once\nnamespace depfast {\nstruct Thing {\n};\n}\n"


@pytest.fixture
def handbook(kit: Kit) -> Kit:
    """The fake checkout with a handbook of two pages."""
    docs = kit.site / "docs"
    docs.mkdir(parents=True)
    (docs / "index.md").write_text("# Start\n\n[A thing](reference/thing.md)\n{{ decisions }}\n")
    (docs / "a.md").write_text("# Disks\n\nStatus: in force since 2026-11-28.\n")
    (docs / "iframe-worker.js").write_text("")
    (kit.site / "mkdocs.yml").write_text(CONFIG)
    kit.headers.mkdir(parents=True)
    (kit.headers / "thing.h").write_text(HEADER)
    return kit


def test_builds_and_says_where(handbook: Kit, expect: Expect) -> None:
    said = expect(0, "site", "build")
    start = handbook.handbook / "index.html"
    assert said.out == f"The handbook's start page: {start}\n"
    assert 'href="reference/thing.html"' in start.read_text()
    assert '<a href="a.html">Disks</a>: in force since 2026-11-28.' in start.read_text()
    assert (handbook.handbook / "reference" / "thing.html").is_file()
    assert not list(handbook.build.glob(".site-*")), "rests are left"


@pytest.mark.parametrize("section", ["Instructors", "Maintainers"])
def test_students_get_no_pages_of_others(handbook: Kit, tmp_path: Path, section: str) -> None:
    docs, directory = handbook.site / "docs", section.lower()
    (docs / directory).mkdir()
    (docs / directory / "why.md").write_text("# Reasons\n")
    (docs / "index.md").write_text(f"# Start\n\nHere is [the reason]({directory}/why.md#x).\n")
    config = handbook.site / "mkdocs.yml"
    config.write_text(
        config.read_text().replace("nav: [", f"nav: [{section}: [{directory}/why.md], ")
    )
    assert build.build_for_students(handbook, tmp_path / "built") == []
    assert "Here is the reason." in (tmp_path / "built" / "index.html").read_text()
    assert section not in (tmp_path / "built" / "index.html").read_text()
    assert not (tmp_path / "built" / directory).exists()
    assert build.build(handbook) != [], "there the link is one, and #x is missing"


def test_students_read_nothing_that_is_for_others(handbook: Kit, tmp_path: Path) -> None:
    """Sections, and rows of a table."""
    part = "<!-- instructors: begin -->\n{}\n<!-- instructors: end -->\n"
    table = "| who | where |\n| --- | --- |\n| a student | here |\n" + part.format("| staff | x |")
    text = f"# Start\n\n{table}\nkit test\n\n{part.format('## For staff')}"
    (handbook.site / "docs" / "index.md").write_text(text)
    assert build.build_for_students(handbook, tmp_path / "built") == []
    page = (tmp_path / "built" / "index.html").read_text()
    assert "a student" in page and "kit test" in page
    assert not re.search("staff|instructors:", page)
    assert build.build(handbook) == []
    page = (handbook.handbook / "index.html").read_text()
    assert "<td>staff</td>" in page and "For staff" in page
    assert "instructors:" not in page


def test_students_read_nothing_of_a_lab_that_is_left_out(handbook: Kit, tmp_path: Path) -> None:
    docs = handbook.site / "docs"
    (docs / "labs").mkdir()
    handbook.handouts.mkdir()
    for lab in ("lab1-quorum-event", "lab2-raft", "lab2-raft-help"):
        (handbook.handouts / f"{lab}.md").write_text(f"# Page of {lab}\n")
    (docs / "labs" / "lab2-raft.md").write_text("# Page with [its own](lab2-raft-help.md)\n")
    (docs / "index.md").write_text(
        "# Start\n\n[The first](labs/lab1-quorum-event.md), [the next](labs/lab2-raft.md#x).\n"
    )
    config = handbook.site / "mkdocs.yml"
    labs = "Students: [{Labs: labs/lab1-quorum-event.md}]"
    config.write_text(config.read_text().replace("nav: [", f"nav: [{labs}, "))
    assert build.build_for_students(handbook, tmp_path / "built", left_out=["lab2"]) == []
    page = (tmp_path / "built" / "index.html").read_text()
    assert 'href="labs/lab1-quorum-event.html"' in page
    assert ", the next." in page
    assert not re.search("lab2|lab 2", page)
    assert [path.name for path in (tmp_path / "built" / "labs").iterdir()] == [
        "lab1-quorum-event.html"
    ]


def test_parts_about_labs_that_are_left_out_go() -> None:
    page = """# Page
| lab 1 | a |
| in lab 2, a tick | b |
| `x` | `labs/lab2-raft/src/raft.h` |
| labs 1 and 2 | c |

See [lab 2](../labs/lab2-raft.md#top) and [lab 1](lab1-quorum-event.md).
<!-- clusters: begin -->
<!-- lab2: begin -->
Part 2.
<!-- lab2: end -->
Clusters.
<!-- clusters: end -->

## Lab 2

Asks.

## Lab 21

End.
"""
    without = readers.to_students(page, ["lab2"])
    assert without.splitlines() == [
        "# Page",
        "| lab 1 | a |",
        "| labs 1 and 2 | c |",
        "",
        "See lab 2 and [lab 1](lab1-quorum-event.md).",
        "Clusters.",
        "",
        "## Lab 21",
        "",
        "End.",
    ]
    assert "lusters" not in readers.to_students(page, [readers.CLUSTERS])
    marks = re.compile("<!-- .*\n")
    assert readers.to_students(page) == readers.to_all(page) == marks.sub("", page)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("[x](none.md)", "none.md"),
        ("[x](#none)", "#none"),
        ('<img alt="x" src="https://a.example/x.png">', "External file: https://a.example/x.png"),
        ('<a href="none.html">x</a>', "invalid url - none.html"),
    ],
)
def test_an_error_is_shown_and_the_old_pages_stay(
    handbook: Kit, expect: Expect, page: str, says: str
) -> None:
    expect(0, "site", "build")
    before = (handbook.handbook / "index.html").read_text()
    (handbook.site / "docs" / "index.md").write_text(f"# Start\n\n{page}\n")
    said = expect(1, "site", "build")
    assert says in said.err
    assert said.out == ""
    assert (handbook.handbook / "index.html").read_text() == before


def test_the_page_for_unknown_addresses_works_below_a_path(handbook: Kit, expect: Expect) -> None:
    expect(0, "site", "build", "--url", "https://course.example/some/path")
    page = (handbook.handbook / "404.html").read_text()
    assert 'href="/some/path/index.html"' in page
    assert "There is no such page" in page
    expect(0, "site", "build")
    assert 'href="/index.html"' in (handbook.handbook / "404.html").read_text()


@pytest.mark.parametrize("url", ["course.example", "ftp://x.example/", "https://x.example/?a"])
def test_an_address_that_is_none_is_refused(expect: Expect, url: str) -> None:
    assert "is no address" in expect(2, "site", "build", "--url", url).reason


def test_students_pages_are_built_beside_the_others(handbook: Kit, expect: Expect) -> None:
    said = expect(0, "site", "build", "--for-students")
    assert (handbook.build / "site-for-students" / "index.html").is_file()
    assert "site-for-students" in said.out
    assert not handbook.handbook.exists()


def test_without_mkdocs_it_cannot(handbook: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = process.Completed(1, "python: No module named mkdocs", "", False)
    monkeypatch.setattr(build.process, "run", lambda *_, **__: missing)
    with pytest.raises(CannotDo, match="MkDocs gave no site"):
        build.build(handbook)


def test_complaints_of_mkdocs_are_told_with_what_belongs_to_them() -> None:
    output = """WARNING -  A relative path 'x' is included in the 'nav'.
  - it is not there
ERROR   -  Error reading page 'a.md': no snippet
Traceback (most recent call last):
  File "x.py", line 1
SnippetMissingError: no snippet
"""
    assert build.complaints(output) == [
        "A relative path 'x' is included in the 'nav'.\n  - it is not there",
        "Error reading page 'a.md': no snippet",
    ]


def test_a_type_without_a_comment_is_noticed(handbook: Kit) -> None:
    assert check.described(handbook).problems == []
    header = handbook.headers / "thing.h"
    header.write_text(HEADER + "class New {\n};\n")
    assert check.described(handbook).problems == ["thing.h: New has no comment"]


def test_a_changed_or_unknown_script_of_others_is_noticed(handbook: Kit) -> None:
    directory = handbook.site / "docs" / "assets" / "vendor"
    directory.mkdir(parents=True)
    (directory / "x.js").write_text("changed")
    (directory / "y.js").write_text("from nowhere")
    (handbook.site / "vendor.sha256").write_text(f"{'0' * 64}  docs/assets/vendor/x.js\n")
    changed, unknown = check.vendored(handbook).problems
    assert changed.startswith("docs/assets/vendor/x.js: FAILED")
    assert unknown == "vendor.sha256 does not list y.js"


def test_a_list_that_became_a_paragraph_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text("<p>Two:</p><ol><li><p>One.</p></li></ol><p>3 - 1\n= 2</p>")
    assert check.lists_are_lists(tmp_path).failed == 0
    (tmp_path / "bad.html").write_text("<p>A read.\n5. <b>Errors</b> are honest.</p>")
    assert check.lists_are_lists(tmp_path).failed == 1
    (tmp_path / "worse.html").write_text("<p>Two:\n    - one</p>")
    assert check.lists_are_lists(tmp_path).failed == 2


def test_a_handout_without_a_page_is_noticed(handbook: Kit) -> None:
    handouts = handbook.root / "handouts"
    handouts.mkdir(exist_ok=True)
    (handouts / "lab9.md").write_text("<details><summary>x</summary>\n*y*\n</details>\n")
    problems = check.listed(handbook, handbook.handbook).problems
    assert "lab9.md has no page in the handbook" in problems
    assert any("<details markdown>" in problem for problem in problems)


def test_the_table_of_commands_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    names = re.findall(r"^    ([\w-]+)  ", capsys.readouterr().out, re.M)
    table = (this_kit().root / COMMANDS).read_text()
    assert len(names) > 5
    assert [name for name in names if f"./kit {name}" not in table] == []
    assert "\\|" not in table, "MkDocs shows the backslash"


def test_a_package_is_pinned_alike_everywhere() -> None:
    """All requirements files are installed into one environment: the last would win."""
    pins: dict[str, set[str]] = {}
    for file in (this_kit().root / "autograder").glob("requirements*.txt"):
        for line in file.read_text().splitlines():
            name, pinned, version = line.partition("==")
            if pinned and "python_version" not in version:
                pins.setdefault(name.lower(), set()).add(version)
    assert len(pins) > 20
    assert {name: versions for name, versions in pins.items() if len(versions) > 1} == {}


def test_no_page_of_students_names_a_hidden_test() -> None:
    root = this_kit().root
    declared = re.compile(r"GRADED_TEST\(\s*(\w+),\s*(\w+),")
    hidden = {
        f"{suite}.{name}"
        for source in root.glob("autograder/hidden/**/*.cc")
        for suite, name in declared.findall(source.read_text())
    }
    assert len(hidden) > 200
    found = {
        f"{page.relative_to(root)}: {test}"
        for page in students_pages(root)
        for test in hidden
        if test in readers.to_students(page.read_text())
    }
    assert found == set()


def students_pages(root: Path) -> list[Path]:
    pages = some(root.glob("site/docs/**/*.md"))
    others = [name.lower() for name in readers.NOT_FOR_STUDENTS]
    kept = [page for page in pages if page.relative_to(root / "site/docs").parts[0] not in others]
    return [*kept, *some(root.glob("handouts/*.md"))]


def test_the_points_of_an_assignment_follow_from_the_labs() -> None:
    points = [
        sum(part.points for part in lab.parts) for lab in load_labs(this_kit()).by_id.values()
    ]
    assert hooks.points(this_kit()).endswith(f"; {sum(points):,} for all")
    page = (this_kit().site / "docs/instructors/index.md").read_text()
    assert "| autograder points | {{ points }} |" in page
