"""The report as Markdown: for files that are kept beside code, and for people without a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.report.bars import SHOWN
from discreet.report.heat_map_pages import PagedTable
from discreet.report.view import view_of

SIGNERS = ("Checked by", "Release decided by")
"""Who signs after the author of the report."""
PAGES = 3
"""How many parts of a large table are written, as many as are printed from the HTML report."""


def markdown_report(data: Mapping[str, object]) -> str:
    """Return the report on one edition's data."""
    view = view_of(data)
    lines = [f"# {_text(view['title'])}", ""]
    if view["internal"]:
        lines += [f"> **{view['mark']}**", ""]
    if view["headline"]:
        lines += [_text(view["headline"]), ""]
    lines += [f"## {_text(view['verdict']['phrase'])}", "", _text(view["verdict"]["text"]), ""]
    lines += [f"- {'✓' if check['passed'] else '✗'} {_text(check['text'])}" for check in view["checks"]]
    if view["checks"]:
        lines.append("")
    if view["figures"]:
        lines += _table(["Figure", "Value", ""], [[f["name"], f["value"], f["note"]] for f in view["figures"]])
    if view["rows"]:
        lines += ["## The methods", ""]
        head = ["No.", "Method", "Utility", "Risk R2", "Worst DR", "Cells known", "Mean error", "Policy"]
        keys = ("number", "title", "utility", "r2", "worst_dr", "determined", "error", "note")
        lines += _table(head, _columns(view["rows"], *keys))
    for grid in view["grids"]:
        lines += _grid(grid)
    if view["worst"]:
        lines += [f"## {view['worst_title']}", "", view["worst_lead"], ""]
        head = ["Cell", *(["True"] if view["internal"] else []), "Published", "A reader knows", "How it follows"]
        lines += [f"{number}. {_text(proof)}." for number, proof in enumerate(view["proofs"], 1)]
        lines += [""] if view["proofs"] else []
        said = ["; ".join(row["proof"]) or (f"proof {row['shared']}" if row["shared"] else "") for row in view["worst"]]
        worst = [{**row, "proof": text} for row, text in zip(view["worst"], said, strict=True)]
        true = ["original"] if view["internal"] else []
        lines += _table(head, _columns(worst, "name", *true, "published", "known", "proof"))
    if view["charts"]:
        lines += ["## Where the risk sits", "", _text(view["charts_lead"]), ""]
        for chart in view["charts"]:
            slices = [(s.category, s.before, s.after) for s in chart.slices[:SHOWN]]
            rows = [[name, *(f"{bar.value:.4f}" if bar else "–" for bar in bars)] for name, *bars in slices]
            lines += _table([chart.dimension, "before", "after"], rows)
    if view["tried"]:
        lines += ["## What was tried", ""]
        rows = _columns(view["tried"], "title", "utility", "r2", "text")
        lines += _table(["Protection", "Utility", "Risk R2", "Policy"], rows)
    for title, pairs in (("What safety costs", view["loss"]), ("What is estimated", view["estimates"])):
        if pairs:
            lines += [f"## {title}", "", *_table(["", ""], [list(pair) for pair in pairs])]
    for title, text in view["paragraphs"]:
        lines += [f"## {title}", "", _text(text), ""]
    lines += ["## How this was made", ""]
    for block in view["made"]:
        lines += [f"### {_text(block['title'])}", "", *_table(["", ""], [list(pair) for pair in block["rows"]])]
    if view["internal"]:
        signed = view["signed"]
        rows = [["Drawn up by", signed["author"], signed["date"], ""], *([who, "", "", ""] for who in SIGNERS)]
        lines += ["## Signed", "", *_table(["Who", "Name", "Date", "Signature"], rows)]
        lines += [f"> **{view['mark']}**", ""]
    return "\n".join(lines)


def _grid(grid: PagedTable) -> list[str]:
    lines = [f"## The table{': ' + _text(grid.name) if grid.name else ''}", ""]
    lines += ["Hidden figures are ×; cells whose value a reader knows are in bold.", ""]
    for page in grid.pages[:PAGES]:
        if page.title:
            lines += [f"**{_text(page.title)}**", ""]
        head = [f"{grid.row} by {grid.column}" if grid.column else grid.row, *grid.columns]
        rows = [
            [line.label, *("" if c is None else f"**{c.text}**" if c.step == 5 else c.text for c in line.cells)]
            for line in page.lines
        ]
        lines += _table(head, rows)
    if len(grid.pages) > PAGES:
        lines += [f"The first {PAGES} of {len(grid.pages)} parts are written; the HTML report has all.", ""]
    return lines


def _columns(rows: Sequence[Mapping[str, object]], *keys: str) -> list[list[str]]:
    return [[str(row[key]) for key in keys] for row in rows]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    first, *others = [f"| {' | '.join(map(_text, row))} |" for row in (header, *rows)]
    return [first, "|" + "---|" * len(header), *others, ""]


def _text(text: object) -> str:
    """Return a text escaped for Markdown."""
    plain = " ".join(str(text).split())
    return plain.replace("|", "\\|").replace("<", "&lt;")
