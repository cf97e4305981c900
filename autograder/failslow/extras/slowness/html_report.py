"""Warnings and graph as HTML that requests nothing."""

import html
from collections.abc import Sequence

from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import Graph
from failslow.extras.slowness.warnings import Warned

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem;
 padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; vertical-align: top; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows`: cells of HTML."""
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table class="list"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def document(title: str, graph: Graph, warnings: list[Warned]) -> str:
    return PAGE.format(title=html.escape(title), body=fragment(graph, warnings))


def fragment(graph: Graph, warnings: list[Warned]) -> str:
    """The part of a page below its heading."""
    return (
        f"<p>Red: a client's request waits, and every one of these nodes is needed. Green: a"
        f" quorum, which tolerates a slow node. Dashed: no client waits meanwhile. A label says"
        f" k/n, the number of waits, their mean and the worst.</p>{drawing.svg(graph)}"
        f"{_warnings(warnings)}{drawing.table(graph)}"
    )


def _warnings(warnings: list[Warned]) -> str:
    if not warnings:
        return "<p>Runtime verification raised no warning.</p>"
    rows = "".join(f"<li>{html.escape(each.line())}</li>" for each in warnings)
    return f"<ul>{rows}</ul>"
