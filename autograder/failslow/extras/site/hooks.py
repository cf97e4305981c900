"""MkDocs calls these at each build: they add the pages that are made from the sources."""

import os
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from failslow.base.kit import Kit
from failslow.extras.site import (
    benchmarked,
    faulty_steps,
    handouts,
    measured,
    points_kept,
    reference,
    reproduced,
    swept,
)
from failslow.extras.site.build import FOR_STUDENTS
from failslow.extras.site.readers import NOT_FOR_STUDENTS, to_all, to_students
from failslow.lab.labs import load_labs

REFERENCE = "Reference"
STUDENTS = "Students"
LABS = "Labs"
INDEX = "index.md"


def on_config(config: MkDocsConfig) -> None:
    """Puts a page per header into the navigation, below the entry `Reference`, and a page per
    handout below `Labs`."""
    if _for_students():
        config.nav = [
            entry
            for entry in config.nav or []
            if not any(section in entry for section in NOT_FOR_STUDENTS)
        ]
    names = list(reference.pages(_kit(config).headers))
    for entry in config.nav or []:
        if REFERENCE in entry:
            entry[REFERENCE] = _navigation(names)
        if STUDENTS in entry:
            _fill(entry[STUDENTS], LABS, handouts.navigation(_kit(config), _left_out()))


@event_priority(100)  # the plugins must see these pages
def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages of handouts and of the reference, and leaves out what is not for students."""
    directories = tuple(f"{each.lower()}/" for each in NOT_FOR_STUDENTS)
    if _for_students():
        directories += tuple(f"labs/{lab}-" for lab in _left_out())
        for file in [*files]:
            if file.src_uri.startswith(directories):
                files.remove(file)
    for name, text in handouts.pages(_kit(config), _left_out()).items():
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, content=text))
    for name, text in reference.pages(_kit(config).headers).items():
        files.append(File.generated(config, f"{REFERENCE.lower()}/{name}", content=text))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fills in what a page asks for: decisions, results, or the layout."""
    markdown = to_students(markdown, _left_out()) if _for_students() else to_all(markdown)
    if "{{ decisions }}" in markdown:
        topics = sorted(Path(page.file.abs_src_path or "").parent.glob("*.md"))
        others = [topic for topic in topics if topic.name != INDEX]
        return markdown.replace("{{ decisions }}", "\n".join(map(_listed, others)))
    if "{{ faulty_steps }}" in markdown:
        table = faulty_steps.table(faulty_steps.of_kit(_kit(config)))
        markdown = markdown.replace("{{ faulty_steps }}", table)
    if "{{ points }}" in markdown:
        markdown = markdown.replace("{{ points }}", points(_kit(config)))
    if "{{ kept }}" in markdown:
        return markdown.replace("{{ kept }}", points_kept.table(_kit(config).site))
    if "{{ bench." in markdown:
        markdown = benchmarked.fill(_kit(config).site, markdown)
    if "{{ swept" in markdown:
        return swept.fill(_kit(config).site, markdown)
    if "{{ measured" in markdown:
        return measured.fill(_kit(config).site, markdown)
    if "{{ reproduced" in markdown:
        return reproduced.fill(_kit(config), markdown)
    return markdown


def points(kit: Kit) -> str:
    """ "lab1 100, lab2 200; 300 for all", from each lab.yaml."""
    of = {lab.id: sum(part.points for part in lab.parts) for lab in load_labs(kit).by_id.values()}
    each = ", ".join(f"{lab} {points:,}" for lab, points in of.items())
    return f"{each}; {sum(of.values()):,} for all"


def _fill(section: list[Any], name: str, entries: list[dict[str, str]]) -> None:
    """Gives the section's entry of that name these entries."""
    for entry in section:
        if name in entry:
            entry[name] = entries


def _navigation(names: list[str]) -> list[Any]:
    """The pages in their order; those of a directory below are a section of its name."""
    entries: list[Any] = []
    sections: dict[str, list[Any]] = {"": entries}
    for name in names:
        page = Path(name)
        directory = page.parent.as_posix().removeprefix(".")
        if directory not in sections:
            sections[directory] = []
            entries.append({f"{directory}/": sections[directory]})
        place = f"{REFERENCE.lower()}/{name}"
        title = page.with_suffix(".h").name
        sections[directory].append(place if name == "index.md" else {title: place})
    return entries


def _listed(topic: Path) -> str:
    """A decision page's title and status, which its first lines are."""
    title, _, status = topic.read_text(encoding="utf-8").split("\n")[:3]
    return f"- [{title.removeprefix('# ')}]({topic.name}): {status.removeprefix('Status: ')}"


def _for_students() -> bool:
    return FOR_STUDENTS in os.environ


def _left_out() -> list[str]:
    """The ids of the labs whose pages are left out."""
    return os.environ.get(FOR_STUDENTS, "").split()


def _kit(config: MkDocsConfig) -> Kit:
    return Kit(Path(config.config_file_path).resolve().parents[1])
