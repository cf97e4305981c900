"""MkDocs calls these at each build: they add the pages that are made from the sources."""

import logging
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from failslow.kit import Kit
from failslow.mutants import load_mutants
from failslow.mutation import page as mutation
from failslow.site import benchmarked, guilty, kept, lanes, layout, measured, reference, reproduced
from failslow.site.build import FOR_STUDENTS, NOT_FOR_STUDENTS

REFERENCE = "Reference"
NOT_HERE = re.compile(r"<!-- instructors: begin -->\n(.*?)<!-- instructors: end -->\n", re.S)
"""What a page says to others than students alone."""
COMMANDS = '--8<-- "README.md:commands"'
COMMANDS_OF_STUDENTS = '--8<-- "autograder/failslow/release/README.md:commands"'
"""A student's kit has fewer commands than this one."""
LINK_THERE = re.compile(r"\[([^]]+)\]\((?:\.\./)*(?:instructors|maintainers)/[^)]*\)")
log = logging.getLogger("mkdocs.hooks.failslow")  # its warnings fail a strict build


def on_config(config: MkDocsConfig) -> None:
    """Puts a page per header into the navigation, below the entry `Reference`."""
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


@event_priority(100)  # the plugins must see these pages
def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages of the reference, and leaves out what is not for students."""
    directories = tuple(f"{each.lower()}/" for each in NOT_FOR_STUDENTS)
    if _for_students():
        for file in [*files]:
            if file.src_uri.startswith(directories):
                files.remove(file)
    for name, text in reference.pages(_kit(config).headers).items():
        files.append(File.generated(config, f"{REFERENCE.lower()}/{name}", content=text))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fills in what a page asks for: decision records, results, or the layout."""
    markdown = _to_students(markdown) if _for_students() else NOT_HERE.sub(r"\1", markdown)
    if "{{ decisions }}" in markdown:
        records = sorted(Path(page.file.abs_src_path or "").parent.glob("0*.md"))
        return markdown.replace("{{ decisions }}", "\n".join(map(_listed, records)))
    if "{{ guilty }}" in markdown:
        markdown = markdown.replace("{{ guilty }}", guilty.table(load_mutants(_kit(config))))
    if "{{ kept }}" in markdown:
        return markdown.replace("{{ kept }}", kept.table(_kit(config).mutants))
    if "{{ bench." in markdown:
        return benchmarked.fill(_kit(config).site, markdown)
    if "{{ lanes" in markdown:
        return lanes.fill(_kit(config).site, markdown)
    if "{{ measured" in markdown:
        return measured.fill(_kit(config).site, markdown)
    if "{{ reproduced" in markdown:
        return reproduced.fill(_kit(config).site, markdown)
    if "{{ mutation" in markdown:
        scores = _kit(config).mutation
        markdown = markdown.replace("{{ mutation.scores }}", mutation.table(scores))
        return markdown.replace("{{ mutation.operators }}", mutation.operators(scores))
    if "{{ layout" not in markdown:
        return markdown
    found = layout.read(_kit(config).root)
    for problem in found.problems:
        log.warning(problem)
    markdown = markdown.replace("{{ layout.diagram }}", layout.diagram(found))
    return markdown.replace("{{ layout.table }}", layout.table(found))


def _to_students(markdown: str) -> str:
    """Without what is for others. Of a link to a page that is not for them, the words stay."""
    markdown = NOT_HERE.sub("", markdown).replace(COMMANDS, COMMANDS_OF_STUDENTS)
    return LINK_THERE.sub(r"\1", markdown)


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


def _listed(record: Path) -> str:
    text = record.read_text(encoding="utf-8")
    number, _, title = text.partition("\n")[0].removeprefix("# ").partition(" ")
    superseded = " (superseded)" if "\n*Superseded by" in text else ""
    return f"- [{number}]({record.name}) {title}{superseded}"


def _for_students() -> bool:
    return FOR_STUDENTS in os.environ


def _kit(config: MkDocsConfig) -> Kit:
    return Kit(Path(config.config_file_path).resolve().parents[1])
