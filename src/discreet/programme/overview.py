"""The report of a programme: one page with all tables, the worst first, and its clusters as a picture."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from discreet.core.text import html_table, listed
from discreet.programme.cluster_work import ClusterOutcome
from discreet.programme.crossings import Cluster
from discreet.programme.finished import clusters_in
from discreet.programme.plan_model import Programme

COLOURS = {"release": "#2e7d4f", "protect": "#2e7d4f", "withhold": "#b3261e", "": "#5f6368"}
STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #30363d; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--faint); text-align: left; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.wide { overflow-x: auto; } .wide svg { min-width: 42rem; }
ul { padding-left: 1.25rem; } li.checked { list-style: none; text-indent: -1.25rem; }
"""
HEADER = ["table", "cluster", "verdict", "method", "figures", "sensitive", "hidden"]
ROW, WIDE, LEFT = 26, 860, 300
"""The height of a table in the picture, its width, and where dimensions begin."""
SLANTED = 90
"""The room for a name of a dimension, beside the next or slanted above its column."""
NAMED = 3
"""How many clusters of one shape are named."""


def header_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the columns of tables: how many statistics are published comes last, where it is said."""
    return [*HEADER, "statistics"][: len(rows[0])]


def overview_page(
    plan: Programme, verdict: str, sentence: str, rows: Sequence[Sequence[str]], clusters: Sequence[ClusterOutcome]
) -> str:
    """Return the page of an outcome; it holds no figure that is not published, but counts of sensitive cells."""
    picture = clusters_picture(clusters_in(plan), {one.name: one.verdict for one in clusters})
    parts = [
        f"<h1>{html.escape(plan.title)} {html.escape(plan.period)}</h1>",
        "<p><strong>For the office, not for publication:</strong> it says how many cells are sensitive.</p>",
        f'<p style="color:{COLOURS[verdict]}"><strong>{html.escape(sentence)}</strong></p>',
        "<h2>Tables, the worst first</h2>",
        f'<div class="wide" tabindex="0">{html_table(header_of(rows), rows, left=4)}</div>',
        "<h2>What is one problem</h2>",
        "<p>The tables of a cluster are protected together. Dots show what a table crosses, and lines join tables that "
        "cross the same.</p>",
        f'<div class="wide" tabindex="0">{picture}</div>',
    ]
    for one in clusters:
        checks = "".join(
            f'<li class="checked">{"✓" if passed else "✗"} {html.escape(text)}</li>' for passed, text in one.checks
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in one.notes)
        parts.append(
            f'<h3 id="{html.escape(one.name, quote=True)}">{html.escape(one.name)}</h3>'
            f"<p>{html.escape(one.sentence)}</p><ul>{checks}{notes}</ul>"
        )
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(plan.title)}'
    head += "</title>"
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>{body}</body></html>\n'


def clusters_picture(clusters: Sequence[Cluster], verdicts: Mapping[str, str] | None = None) -> str:
    """Return the clusters as inline SVG: a row for each table to protect, a dot for each dimension that it crosses.

    Dots of one column on a line belong together: the cells of these dimensions occur in all tables with a dot. Clusters
    of the same shape and verdict, of other variables or periods, are drawn once.
    """
    shapes, top = [], 20
    for alike in _of_one_shape(clusters, verdicts or {}):
        cluster = alike[0]
        colour = COLOURS[(verdicts or {}).get(cluster.name, "")]
        names = cluster.dimensions
        step = min(140, (WIDE - LEFT) // max(len(names), 1))
        # Names that have no room beside each other are slanted.
        slanted = step < SLANTED
        top += SLANTED if slanted else 0
        told = (
            listed([one.name for one in alike]) if len(alike) <= NAMED else f"{cluster.name} and {len(alike) - 1} more"
        )
        more = f"<title>{html.escape(listed([one.name for one in alike]))}</title>"
        shapes.append(f'<text x="0" y="{top}" style="font-weight:bold">{html.escape(told)}{more}</text>')
        for column, name in enumerate(names):
            x = LEFT + column * step
            place = f'transform="rotate(-45 {x} {top})"' if slanted else 'text-anchor="middle"'
            shapes.append(f'<text x="{x}" y="{top}" {place}>{html.escape(name[:18])}</text>')
            rows = [k for k, group in enumerate(cluster.groups) if name in group.dimensions]
            ys = [top + ROW * (k + 1) - 5 for k in rows]
            if len(ys) > 1:
                shapes.append(
                    f'<line x1="{x}" x2="{x}" y1="{ys[0]}" y2="{ys[-1]}" stroke="{colour}" stroke-width="2"/>'
                )
            shapes += [f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>' for y in ys]
        for k, group in enumerate(cluster.groups):
            told = html.escape(group.name if len(group.name) <= 36 else f"{group.name[:35]}…")
            shapes.append(
                f'<text x="16" y="{top + ROW * (k + 1)}">{told}<title>{html.escape(group.name)}</title></text>'
            )
        top += ROW * (len(cluster.groups) + 2)
    # What separates clusters does not follow the last.
    top -= ROW
    return (
        f'<svg viewBox="0 0 {WIDE} {top}" width="100%" role="img" aria-label="Clusters of tables and the dimensions '
        f'that they share" xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )


def _of_one_shape(clusters: Sequence[Cluster], verdicts: Mapping[str, str]) -> list[list[Cluster]]:
    """Put clusters together whose tables cross the same dimensions in the same order, and that have one verdict."""
    found: dict[tuple[object, ...], list[Cluster]] = {}
    for one in clusters:
        crossed = tuple(group.dimensions for group in one.groups)
        found.setdefault((one.dimensions, crossed, verdicts.get(one.name, "")), []).append(one)
    return list(found.values())
