"""Lays a published table out in pages of rows and columns, the slices about which most is known first."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.core.json_types import JsonObject
from discreet.core.numerics import IntArray
from discreet.report.numbers import amount
from discreet.report.scale import knowledge
from discreet.table.grid import Grid
from discreet.table.kinds import EXACT, INTERVAL

ROWS = 40
"""The most rows of a page: what fits on printed A4."""
WIDE = 12
"""The preferred number of columns, which fit across A4; more are shown if every dimension has more."""
CELLS = 20_000
"""The most cells drawn, about 1.6 MB of HTML; the slices about which least is known are left out first."""
HIDDEN = "×"
"""What is shown instead of a hidden figure."""


@dataclass(frozen=True)
class Cell:
    """One figure as it is drawn: its text, its step on the scale, and its number among the details, -1 for none.

    The step is -1 if a figure is protected, but its interval is not stated.
    """

    text: str
    step: int = 0
    detail: int = -1
    sensitive: bool = False
    hidden: bool = False
    total: bool = False


@dataclass(frozen=True)
class Page:
    """One slice of a table, or a part of its rows."""

    slice: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    marked: int
    part: str = ""

    @property
    def title(self) -> str:
        """What the page shows."""
        where = ", ".join(f"{name}: {label}" for name, label in self.slice)
        return ", ".join(text for text in (where, self.part) if text)


@dataclass(frozen=True)
class Line:
    """A row: its label, its depth in its hierarchy, whether it is the total, and its cells."""

    label: str
    depth: int
    total: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class PagedTable:
    """A published table in pages, the slices about which most is known first.

    So many cells are ``left`` undrawn; ``untold`` says whether some are protected without a stated interval.
    """

    name: str
    row: str
    column: str
    columns: tuple[str, ...]
    total: str
    pages: tuple[Page, ...]
    left: int
    figures: int
    hidden: int
    untold: bool


@dataclass
class Details:
    """What is known about cells, for the panel beside the heat map, each with its place."""

    rows: list[JsonObject] = field(default_factory=list)
    place: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)


def details_of(data: JsonObject) -> Details:
    """Return the sensitive cells, then all others with a known interval, each once."""
    found = Details()
    total = data["table"]["total"] if "table" in data else "Total"
    for row in [*data.get("cells", ()), *((data.get("audit") or {}).get("cells", ()))]:
        if row.get("attacker", "outsider") != "outsider":
            continue
        # A cell by the dimensions that it does not sum over.
        key = tuple(sorted((name, label) for name, label in row["cell"].items() if label not in (total, "Total")))
        if key not in found.place:
            found.place[key] = len(found.rows)
            found.rows.append(dict(row))
    return found


def paged_tables(data: JsonObject, details: Details) -> list[PagedTable]:
    """Return every published table in pages."""
    parts = (data.get("release") or {}).get("figures", ())
    return [_paged(part, data.get("table"), details, part["name"] if len(parts) > 1 else "") for part in parts]


def _paged(part: JsonObject, table: JsonObject | None, details: Details, name: str) -> PagedTable:
    names = [str(d["name"]) for d in part["dimensions"]]
    labels = [d["labels"] for d in part["dimensions"]]
    codes = np.array(part["codes"], np.int64).reshape(len(part["codes"]), len(names))
    row, column, rest = _roles([len(found) for found in labels])
    cells = _cells(part, codes, table, details, [k for k in (row, column) if k is not None])
    rows = _ordered(labels[row], part["total"], _tree(table, names[row]))
    columns = [(0, 0)] if column is None else _ordered(labels[column], part["total"], _tree(table, names[column]))
    step, marked = np.array([c.step for c in cells], np.int64), np.array([c.sensitive for c in cells], bool)
    grid = Grid(tuple(len(found) for found in labels))
    page_of = grid.project(grid.encode(codes.T), rest)
    slices, which = np.unique(page_of, return_inverse=True)
    score = np.bincount(which, np.where(marked, 1000, 1) * np.maximum(step, 0) ** 3, minlength=slices.size)
    pages: list[Page] = []
    drawn = left = 0
    for s in np.lexsort((slices, -score)).tolist():
        members = np.flatnonzero(which == s)
        if drawn + members.size > CELLS and pages:
            left += members.size
            continue
        drawn += members.size
        at = _places(columns)[codes[members, column]] if column is not None else 0
        matrix = np.full((len(rows), len(columns)), -1, np.int64)
        matrix[_places(rows)[codes[members, row]], at] = members
        where = tuple((names[k], str(labels[k][codes[members[0], k]])) for k in rest)
        for start in range(0, len(rows), ROWS):
            here = matrix[start : start + ROWS]
            lines = tuple(
                Line(str(labels[row][code]), depth, labels[row][code] == part["total"], line)
                for (code, depth), found in zip(rows[start : start + ROWS], here.tolist(), strict=True)
                if any(line := tuple(cells[m] if m >= 0 else None for m in found))
            )
            span = f"rows {start + 1} to {start + len(here)} of {len(rows)}" if len(rows) > ROWS else ""
            if lines:
                pages.append(Page(where, lines, int(marked[here[here >= 0]].sum()), span))
    return PagedTable(
        name,
        names[row],
        "" if column is None else names[column],
        ("figure",) if column is None else tuple(str(labels[column][c]) for c, _ in columns),
        part["total"],
        tuple(pages),
        left,
        len(cells),
        sum(cell.hidden for cell in cells),
        bool((step < 0).any()),
    )


def _places(order: Sequence[tuple[int, int]]) -> IntArray:
    """Return the place of every code in an order."""
    return np.argsort([code for code, _ in order])


def _roles(sizes: Sequence[int]) -> tuple[int, int | None, list[int]]:
    """Choose rows, columns and slices: columns as many as fit, rows the longest dimension that is left.

    >>> _roles([9, 10]), _roles([4]), _roles([3, 50, 8])
    ((0, 1, []), (0, None, []), (1, 2, [0]))
    """
    if len(sizes) == 1:
        return 0, None, []
    if len(sizes) == 2:
        return (0, 1, []) if sizes[1] <= max(sizes[0], WIDE) else (1, 0, [])
    fitting = [k for k, size in enumerate(sizes) if size <= WIDE]
    column = max(fitting, key=lambda k: (sizes[k], k)) if fitting else min(range(len(sizes)), key=lambda k: sizes[k])
    others = [k for k in range(len(sizes)) if k != column]
    row = max(others, key=lambda k: (sizes[k], -k))
    return row, column, [k for k in others if k != row]


def _ordered(labels: Sequence[str], total: str, tree: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return codes and depths in the order of the hierarchy, the total last, as in printed tables."""
    place = {label: k for k, label in enumerate(tree)}
    codes = sorted(range(len(labels)), key=lambda c: (labels[c] == total, place.get(labels[c], len(place)), c))
    return [(c, max(tree.get(labels[c], 1) - 1, 0)) for c in codes]


def _tree(table: JsonObject | None, name: str) -> dict[str, int]:
    """Return the labels of a dimension with their level, the total being 0; empty where it has no hierarchy."""
    found = next((d for d in (table or {}).get("dimensions", ()) if d["name"] == name), None)
    if found is None or not found["parents"]:
        return {}
    levels: list[int] = []
    parents = found["parents"][0]
    for parent in parents:
        levels.append(0 if parent < 0 else levels[parent] + 1)
    return dict(zip(found["labels"][: len(parents)], levels, strict=True))


def _cells(
    part: JsonObject, codes: IntArray, table: JsonObject | None, details: Details, shown: Sequence[int]
) -> list[Cell]:
    """Return every figure as it is drawn; those in the details get what is published of them."""
    hidden = [part["hides"][kind] for kind in part["kind"]]
    texts = [HIDDEN if covered else text for text, covered in zip(_texts(part), hidden, strict=True)]
    step, at = _known(part, codes, details)
    marked = np.zeros(len(texts), bool) if table is None else _sensitive(part, codes, table)
    sums = [np.array([label == part["total"] for label in part["dimensions"][k]["labels"]], bool) for k in shown]
    total = np.any([found[codes[:, k]] for k, found in zip(shown, sums, strict=True)], axis=0)
    for i in np.flatnonzero(at >= 0).tolist():
        row = details.rows[int(at[i])]
        details.rows[int(at[i])] = {**row, "published": row.get("published", "hidden" if hidden[i] else texts[i])}
    figures = (texts, step.tolist(), at.tolist(), marked.tolist(), hidden, total.tolist())
    return [Cell(*figure) for figure in zip(*figures, strict=True)]


def _texts(part: JsonObject) -> list[str]:
    """Return the figures as they are published."""
    decimals = part["decimals"] or None
    spans = [phrase.startswith(INTERVAL.phrase) for phrase in part["kinds"]]
    scale = 10 ** part["decimals"]
    texts = []
    for value, upper, kind in zip(part["values"], part["upper"] or itertools.repeat(None), part["kind"], strict=False):
        text = HIDDEN if value is None else amount(value, decimals)
        if spans[kind] and upper is not None and value is not None:
            text += f"–{amount(upper / scale if scale > 1 else upper, decimals)}"
        texts.append(text)
    return texts


def _known(part: JsonObject, codes: IntArray, details: Details) -> tuple[IntArray, IntArray]:
    """Return the step of every figure, and its number among the details."""
    names = [d["name"] for d in part["dimensions"]]
    place = [{label: i for i, label in enumerate(d["labels"])} for d in part["dimensions"]]
    exact = np.array([phrase == EXACT.phrase for phrase in part["kinds"]])
    step = np.where(exact[np.array(part["kind"], np.int64)], 0, -1)
    at = np.full(len(codes), -1, np.int64)
    where = {tuple(row): i for i, row in enumerate(codes.tolist())}
    for key, number in details.place.items():
        cell = dict(key)
        if not cell.keys() <= set(names):
            continue
        i = where.get(tuple(place[k].get(cell.get(name, part["total"]), -1) for k, name in enumerate(names)))
        if i is not None:
            at[i], step[i] = number, knowledge(details.rows[number])
    return step, at


def _sensitive(part: JsonObject, codes: IntArray, table: JsonObject) -> npt.NDArray[np.bool_]:
    """Return which figures are those of sensitive cells."""
    names = [d["name"] for d in part["dimensions"]]
    wanted = set()
    labels = [d["labels"] for d in table["dimensions"]]
    own = [d["name"] for d in table["dimensions"]]
    for i in table["sensitive"]:
        cell = {n: found[c] for n, found, c in zip(own, labels, table["codes"][i], strict=True)}
        if all(cell[n] == table["total"] for n in own if n not in names):
            wanted.add(tuple(part["total"] if cell[n] == table["total"] else cell[n] for n in names))
    texts = [d["labels"] for d in part["dimensions"]]
    cells = [tuple(found[c] for found, c in zip(texts, row, strict=True)) for row in codes.tolist()]
    return np.array([cell in wanted for cell in cells], bool)
