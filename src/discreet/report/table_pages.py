"""Lays a published table out in pages of rows and columns, the slices about which most is known first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import IntArray
from discreet.report.numbers import amount
from discreet.report.scale import knowledge
from discreet.table.grid import Grid

ROWS = 40
"""The most rows of a page."""
WIDE = 12
"""The most columns that are looked for; more are shown where every dimension has more."""
CELLS = 20_000
"""The most cells that are drawn; the slices about which least is known are left out first."""
HIDDEN = "×"
"""What stands in place of a hidden figure."""


@dataclass(frozen=True)
class Cell:
    """One figure as it is drawn: its text, its step on the scale, and its number among the details, -1 for none.

    The step is -1 where a figure is protected, but not among those of which an interval is told.
    """

    text: str
    step: int = 0
    detail: int = -1
    sensitive: bool = False
    hidden: bool = False
    total: bool = False


@dataclass(frozen=True)
class Line:
    """A row: its label, how deep it stands in its hierarchy, and its cells."""

    label: str
    depth: int
    total: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Page:
    """One slice of a table, or a part of its rows."""

    slice: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    worst: int
    marked: int
    part: str = ""

    @property
    def title(self) -> str:
        """What the page shows."""
        where = ", ".join(f"{name}: {label}" for name, label in self.slice)
        return ", ".join(text for text in (where, self.part) if text)


@dataclass(frozen=True)
class PagedTable:
    """A published table in pages, the worst first."""

    name: str
    row: str
    column: str
    columns: tuple[str, ...]
    totals: tuple[bool, ...]
    pages: tuple[Page, ...]
    left: int = 0
    figures: int = 0
    hidden: int = 0
    untold: bool = False


@dataclass
class Details:
    """What is known of cells, for the panel beside the heat map, each with its place."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    place: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)


def details_of(data: Mapping[str, Any]) -> Details:
    """Return the sensitive cells, then all others of which an interval is known, each once."""
    found = Details()
    total = data["table"]["total"] if "table" in data else "Total"
    for row in [*data.get("cells", ()), *((data.get("audit") or {}).get("cells", ()))]:
        if row.get("attacker", "outsider") != "outsider":
            continue
        key = key_of(row["cell"], total)
        if key not in found.place:
            found.place[key] = len(found.rows)
            found.rows.append(dict(row))
    return found


def key_of(cell: Mapping[str, str], total: str) -> tuple[tuple[str, str], ...]:
    """Return a cell by the dimensions that it does not sum over."""
    return tuple(sorted((name, label) for name, label in cell.items() if label not in (total, "Total")))


def paged_tables(data: Mapping[str, Any], details: Details) -> list[PagedTable]:
    """Return every published table in pages."""
    release = data.get("release")
    table = data.get("table")
    if release is None:
        return []
    return [_grid(part, table, details, name) for part, name in zip(release["figures"], _names(release), strict=True)]


def _names(release: Mapping[str, Any]) -> list[str]:
    several = len(release["figures"]) > 1
    return [part["name"] if several else "" for part in release["figures"]]


def _grid(part: Mapping[str, Any], table: Mapping[str, Any] | None, details: Details, name: str) -> PagedTable:
    dims = part["dimensions"]
    codes = np.array(part["codes"], np.int64).reshape(len(part["codes"]), len(dims))
    texts, hidden = _texts(part)
    step, at = _known(part, codes, details)
    for i in np.flatnonzero(at >= 0).tolist():
        details.rows[int(at[i])].setdefault("published", "hidden" if hidden[i] else texts[i])
    grid = Grid(tuple(len(d["labels"]) for d in dims))
    marked = np.zeros(len(texts), bool) if table is None else _sensitive(part, codes, table)
    order = [_ordered(d["labels"], part["total"], _tree(table, d["name"])) for d in dims]
    row, column, rest = _roles([len(d["labels"]) for d in dims])
    page_of = grid.project(grid.encode(codes.T), rest)
    weight = np.where(marked, 1000, 1) * np.maximum(step, 0).astype(np.int64) ** 3
    labels = _Labels(dims, order, row, column, rest, part["total"])
    slices = np.unique(page_of)
    score = np.bincount(np.searchsorted(slices, page_of), weights=weight, minlength=slices.size)
    pages: list[Page] = []
    drawn, left = 0, 0
    inner = [code for code, _ in order[row]]
    for s in np.lexsort((slices, -score)).tolist():
        members = np.flatnonzero(page_of == slices[s])
        if drawn + members.size > CELLS and pages:
            left += members.size
            continue
        drawn += members.size
        matrix = _matrix(codes[members], members, labels)
        for start in range(0, len(inner), ROWS):
            end = min(start + ROWS, len(inner))
            lines = tuple(_line(labels, i, matrix[i], texts, hidden, step, at, marked) for i in range(start, end))
            lines = tuple(line for line in lines if any(cell is not None for cell in line.cells))
            if not lines:
                continue
            here = matrix[start:end]
            here = here[here >= 0]
            span = f"rows {start + 1} to {end} of {len(inner)}" if len(inner) > ROWS else ""
            where = labels.slice(codes[members[0]])
            pages.append(Page(where, lines, int(step[here].max(initial=0)), int(marked[here].sum()), span))
    # A stable order by what is known keeps the parts of a slice together where they are alike.
    pages.sort(key=lambda page: (-page.marked * (page.worst >= 4), -page.worst) if len(pages) > 1 else (0, 0))
    return PagedTable(
        name,
        labels.names[row],
        labels.names[column] if column is not None else "",
        tuple(labels.column_labels),
        tuple(labels.column_totals),
        tuple(pages),
        left,
        len(texts),
        int(sum(hidden)),
        bool((step < 0).any()),
    )


class _Labels:
    """Names of rows, columns and slices, in the order in which they are drawn."""

    def __init__(
        self,
        dims: Sequence[Mapping[str, Any]],
        order: Sequence[Sequence[tuple[int, int]]],
        row: int,
        column: int | None,
        rest: Sequence[int],
        total: str,
    ) -> None:
        self.dims, self.order, self.row, self.column, self.rest, self.total = dims, order, row, column, rest, total
        self.names = [str(d["name"]) for d in dims]
        self.rows = order[row]
        self.columns = order[column] if column is not None else [(0, 0)]
        self.column_labels = (
            [self._label(column, code) for code, _ in self.columns] if column is not None else ["figure"]
        )
        self.column_totals = [label == total for label in self.column_labels]

    def _label(self, k: int, code: int) -> str:
        return str(self.dims[k]["labels"][code])

    def line(self, i: int) -> tuple[str, int, bool]:
        """Return the label of a row, its depth, and whether it is the total."""
        code, depth = self.rows[i]
        label = self._label(self.row, code)
        return label, depth, label == self.total

    def slice(self, codes: IntArray) -> tuple[tuple[str, str], ...]:
        """Return the labels of the dimensions that are neither rows nor columns."""
        return tuple((self.names[k], self._label(k, int(codes[k]))) for k in self.rest)


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


def _tree(table: Mapping[str, Any] | None, name: str) -> dict[str, int]:
    """Return the labels of a dimension with their level, the total being 0; empty where it has no hierarchy."""
    found = next((d for d in (table or {}).get("dimensions", ()) if d["name"] == name), None)
    if found is None or not found["parents"]:
        return {}
    levels: list[int] = []
    parents = found["parents"][0]
    for parent in parents:
        levels.append(0 if parent < 0 else levels[parent] + 1)
    return dict(zip(found["labels"][: len(parents)], levels, strict=True))


def _texts(part: Mapping[str, Any]) -> tuple[list[str], list[bool]]:
    """Return the figures as they are published."""
    hides = part["hides"]
    decimals = part["decimals"] or None
    hidden = [hides[kind] for kind in part["kind"]]
    uppers = part["upper"] or [None] * len(hidden)
    spans = ["interval" in phrase for phrase in part["kinds"]]
    scale = 10 ** part["decimals"]
    texts = []
    for value, upper, kind, covered in zip(part["values"], uppers, part["kind"], hidden, strict=True):
        if covered or value is None:
            texts.append(HIDDEN)
        elif spans[kind] and upper is not None:
            texts.append(f"{amount(value, decimals)}–{amount(upper / scale if scale > 1 else upper, decimals)}")
        else:
            texts.append(amount(value, decimals))
    return texts, hidden


def _known(part: Mapping[str, Any], codes: IntArray, details: Details) -> tuple[npt.NDArray[np.int8], IntArray]:
    """Return the step of every figure, and its number among the details."""
    names = [d["name"] for d in part["dimensions"]]
    place = [{label: i for i, label in enumerate(d["labels"])} for d in part["dimensions"]]
    exact = np.array([phrase == "exact" for phrase in part["kinds"]])
    step = np.where(exact[np.array(part["kind"], np.int64)], 0, -1).astype(np.int8)
    at = np.full(len(codes), -1, np.int64)
    where = {tuple(row): i for i, row in enumerate(codes.tolist())}
    total = part["total"]
    for key, number in details.place.items():
        cell = dict(key)
        if any(name not in names for name in cell):
            continue
        found = tuple(place[k].get(cell.get(name, total), -1) for k, name in enumerate(names))
        i = where.get(found)
        if i is not None:
            at[i], step[i] = number, knowledge(details.rows[number])
    return step, at


def _sensitive(part: Mapping[str, Any], codes: IntArray, table: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Return which figures stand for sensitive cells."""
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


def _matrix(codes: IntArray, members: IntArray, labels: _Labels) -> IntArray:
    """Return the figures of a slice as numbers in rows and columns, -1 where there is none."""
    row_of = {code: i for i, (code, _) in enumerate(labels.rows)}
    matrix = np.full((len(labels.rows), len(labels.columns)), -1, np.int64)
    rows = np.array([row_of[c] for c in codes[:, labels.row].tolist()], np.int64)
    columns = np.zeros(members.size, np.int64)
    if labels.column is not None:
        column_of = {code: j for j, (code, _) in enumerate(labels.columns)}
        columns = np.array([column_of[c] for c in codes[:, labels.column].tolist()], np.int64)
    matrix[rows, columns] = members
    return matrix


def _line(
    labels: _Labels,
    i: int,
    members: IntArray,
    texts: Sequence[str],
    hidden: Sequence[bool],
    step: npt.NDArray[np.int8],
    at: IntArray,
    marked: npt.NDArray[np.bool_],
) -> Line:
    label, depth, is_total = labels.line(i)
    cells = tuple(
        None
        if m < 0
        else Cell(texts[m], int(step[m]), int(at[m]), bool(marked[m]), hidden[m], is_total or labels.column_totals[j])
        for j, m in enumerate(members.tolist())
    )
    return Line(label, depth, is_total, cells)
