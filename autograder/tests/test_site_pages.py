"""What is noticed about built pages, without a browser."""

from pathlib import Path

import pytest

from failslow.site import browser, pages
from failslow.site.build import complaints

PAGE = '<!doctype html><html lang="en"><body><h1 id="top">Page</h1>{}</body></html>'


def checked(directory: Path, body: str, **others: str) -> list[str]:
    for name, text in {"index.html": PAGE.format(body), **others}.items():
        (directory / name.replace("_", ".")).write_text(text)
    return pages.check(directory)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="#top">up</a>',
        '<a href="index.html#top">up</a>',
        '<a href="https://elsewhere.example/">read more</a>',
        '<img src="data:image/png;base64,AA" alt="">',
        '<svg aria-hidden="true"></svg>',
        "<style>p { background: url(index.html) }</style>",
    ],
)
def test_good_pages_pass(tmp_path: Path, body: str) -> None:
    assert checked(tmp_path, body) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<a href="none.html">x</a>', "none.html leads nowhere"),
        ('<a href="#none">x</a>', "a place that the page does not have"),
        ('<a href="/index.html">x</a>', "begins at the root"),
        ('<script src="https://cdn.example/x.js"></script>', "from another host"),
        ('<script src="//cdn.example/x.js"></script>', "from another host"),
        ('<link rel="preconnect" href="https://fonts.example">', "from another host"),
        ('<img alt="x" srcset="https://a.example/1.png 1x">', "from another host"),
        ("<style>@import 'https://a.example/x.css';</style>", "from another host"),
        ('<p style="background: url(https://a.example/x.png)">x</p>', "from another host"),
        ('<img src="index.html">', "has no text alternative"),
        ('<svg role="img"></svg>', "a drawing has no text alternative"),
        ("<h1>Second</h1>", "2 headings of the first level"),
        ('<p id="top">again</p>', "is there twice"),
    ],
)
def test_bad_pages_are_noticed(tmp_path: Path, body: str, says: str) -> None:
    problems = checked(tmp_path, body)
    assert len(problems) == 1
    assert problems[0].startswith("index.html: ")
    assert says in problems[0]


def test_style_sheets_are_read_without_their_comments(tmp_path: Path) -> None:
    css = "/* url(https://a.example/old) */ p { background: url('https://a.example/new') }"
    assert checked(tmp_path, "", style_css=css) == [
        "style.css: <css> loads https://a.example/new from another host"
    ]


def test_no_page_at_all_is_a_problem(tmp_path: Path) -> None:
    assert pages.check(tmp_path) == ["no page was built"]


def test_complaints_of_mkdocs_are_told_with_what_belongs_to_them() -> None:
    output = """INFO    -  Cleaning site directory
WARNING -  A relative path 'x' is included in the 'nav'.
  - it is not there
INFO    -  Building
ERROR   -  Error reading page 'a.md': no snippet
Traceback (most recent call last):
  File "x.py", line 1
SnippetMissingError: no snippet

Aborted with 2 warnings in strict mode!"""
    assert complaints(output) == [
        "A relative path 'x' is included in the 'nav'.\n  - it is not there",
        "Error reading page 'a.md': no snippet",
    ]


def test_a_quiet_build_has_no_complaints() -> None:
    assert complaints("INFO    -  Building documentation\nDocumentation built\n") == []


def test_what_a_browser_reports_becomes_sentences() -> None:
    def request(url: str) -> dict[str, object]:
        return {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}

    thrown = {"exceptionDetails": {"text": "", "exception": {"description": "Error: x\n at y"}}}
    events = [
        request("file:///page.html"),
        request("data:image/png;base64,AA"),
        request("https://a.example/x.js"),
        request("https://a.example/x.js"),
        {"method": "Runtime.exceptionThrown", "params": thrown},
        {"method": "Log.entryAdded", "params": {"entry": {"level": "error", "text": "gone"}}},
        {"method": "Log.entryAdded", "params": {"entry": {"level": "info", "text": "fine"}}},
        {"method": "Page.loadEventFired", "params": {}},
    ]
    assert browser.complaints(events) == [
        "asks another host for https://a.example/x.js",
        "a script fails: Error: x",
        "the browser says: gone",
    ]
