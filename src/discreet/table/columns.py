"""Columns of labels and counts to a table; margins among the rows are checked against their cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, IntArray, first_true
from discreet.table.counts import Where, numpy_from_arrow, whole_counts
from discreet.table.frequencies import Frequencies
from discreet.table.grid import Dimension, Grid, grid_of
from discreet.table.unmarked_subtotals import ADDED, NO_SUMS, refuse_subtotals
from discreet.table.unmarked_totals import FLAT, NONE, ListedFigures, refuse_sums, refuse_unmarked

if TYPE_CHECKING:
    import pyarrow as pa

Margins: TypeAlias = Literal["check", "recompute"]


class TotalOptions(TypedDict, total=False):
    """What totals are called, whether they are checked, and the dimensions whose categories a hierarchy lists."""

    total: str | None
    totals: Mapping[str, str] | None
    margins: Margins
    listed: Collection[str]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of labels as codes into its categories."""

    codes: IntArray
    categories: list[str]


def coded_labels(name: str, labels: Iterable[object], where: Where) -> Coded:
    """Code a sequence of labels, categories in order of appearance."""
    seen: dict[str, int] = {}
    codes = [seen.setdefault("" if label is None else str(label), len(seen)) for label in labels]
    return _labelled(name, Coded(np.array(codes, np.int64), list(seen)), where)


def coded_arrow(name: str, column: pa.ChunkedArray, where: Where) -> Coded:
    """Code an Arrow column; a dictionary keeps its categories and their order, used or not.

    Other categories come in the order of their first rows, unless that is alphabetical and splits numbers.
    """
    import pyarrow as pa

    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise DataError(f"{where(row)}: dimension {name!r} has no category there; label every row")
    try:
        plain = not pa.types.is_dictionary(column.type)
        if plain:
            column = column.dictionary_encode()
        column = column.unify_dictionaries()
    except pa.ArrowException:
        raise DataError(f"dimension {name!r} is of type {column.type}; label it with texts or numbers") from None
    categories = [str(label) for label in column.chunk(0).dictionary.to_pylist()]
    codes = numpy_from_arrow(pa.chunked_array([chunk.indices for chunk in column.chunks])).astype(np.int64)
    if plain and (order := natural_order(categories)) is not None:
        codes, categories = np.argsort(order)[codes], [categories[i] for i in order]
    return _labelled(name, Coded(codes, categories), where)


def natural_order(labels: Sequence[str]) -> list[int] | None:
    """Return the natural order of labels, if they are sorted as texts and that differs; otherwise None.

    Labels without a digit, such as a total, keep their places.

    >>> natural_order(["Total", "1", "10", "11", "2"]), natural_order(["2", "1", "10"]), natural_order(["a", "b"])
    ([0, 1, 4, 2, 3], None, None)
    """
    numbered = [i for i, label in enumerate(labels) if re.search("[0-9]", label)]
    if not all(labels[i] <= labels[j] for i, j in pairwise(numbered)):
        return None
    counted = sorted(numbered, key=lambda i: _natural(labels[i]))
    order = list(range(len(labels)))
    for place, i in zip(numbered, counted, strict=True):
        order[place] = i
    return None if counted == numbered else order


def _natural(label: str) -> list[tuple[str, int, str]]:
    """Return what sorts a label by its texts and, between them, by its numbers."""
    texts, numbers = re.split("[0-9]+", label), re.findall("[0-9]+", label)
    return [(text, int(number), number) for text, number in zip(texts, [*numbers, "0"], strict=True)]


def _labelled(name: str, coded: Coded, where: Where) -> Coded:
    blank = np.array([not label for label in coded.categories], bool)
    if (row := first_true(blank[coded.codes])) is not None:
        raise DataError(f"{where(row)}: dimension {name!r} has an empty category; label every row")
    return coded


def frequencies_from_columns(
    columns: Mapping[str, Coded],
    figures: npt.NDArray[np.generic],
    *,
    where: Where,
    categories: Mapping[str, Sequence[object]] | None = None,
    possible: BoolArray | None = None,
    **how: Unpack[TotalOptions],
) -> Frequencies:
    """Count cells from a column of labels per dimension and a column of counts; see :func:`discreet.read_table`.

    ``categories`` are those of each dimension, in order, by default those of the columns; ``possible`` is false at
    structural zeros, and ``where`` names the place of a row in messages. Categories of a dimension that is ``listed``
    have their place in a hierarchy, so none of them is taken for a forgotten sum. Without a ``total``, no row is one.
    """
    total, margins = how.get("total"), how.get("margins", "check")
    codes, dims, marked = [], [], []
    for name, column in columns.items():
        if categories is None:
            called = (how.get("totals") or {}).get(name, total)
            dim_codes, found, is_total = _split_total(column, called)
            if not found:
                raise DataError(f"dimension {name!r} has margins ({called!r}) only; give its categories")
            dim = Dimension(name, found)
        else:
            dim = Dimension(name, categories[name])
            dim_codes = dim.codes(column.categories)[column.codes]
            is_total = np.zeros(dim_codes.size, bool)
        codes.append(dim_codes)
        dims.append(dim)
        marked.append(is_total)

    def cell_at(row: int) -> str:
        phrase = ", ".join(
            f"{dim.name}={total if mark[row] else dim.categories[code[row]]}"
            for dim, code, mark in zip(dims, codes, marked, strict=True)
        )
        return f"{where(row)} ({phrase})"

    numbers = whole_counts(figures, cell_at)
    grid = grid_of(dims)
    inner = ~np.logical_or.reduce(marked)
    if not inner.any():
        raise DataError(f"every row is a margin ({total!r}); give the inner cells")
    rows = np.flatnonzero(inner)
    position = grid.encode([code[rows] for code in codes])
    order = np.argsort(position, kind="stable")
    position, rows = position[order], rows[order]
    again = np.flatnonzero(np.diff(position) == 0)
    if again.size:
        first, second = int(rows[again[0]]), int(rows[again[0] + 1])
        raise DataError(
            f"{cell_at(second)}: the cell was given before, at {where(first)}, with count {numbers[first]}, "
            f"now {numbers[second]}; keep one row per cell"
        )
    kept = numbers[rows] > 0
    lost = position[:0] if possible is None else position[~possible[rows]]
    table = Frequencies(tuple(dims), position[kept], numbers[rows][kept], lost)
    if margins == "check" and not inner.all():
        _check_margins(table, codes, marked, numbers, where)
    if total is not None:
        for dimension, mark in zip(table.dimensions, marked, strict=True):
            refuse_unmarked(dimension.name, dimension.categories, known=bool(mark.any()))
        # A total that was checked leaves no room for another one.
        checked = {dim.name for dim, mark in zip(dims, marked, strict=True) if mark.any() and margins == "check"}
        bare = {dim.name: dim.categories for dim in dims if dim.name not in {*checked, *how.get("listed", ())}}
        any_marked = not inner.all()
        inside = dict(zip(columns, (code[inner] for code in codes), strict=True))
        every = ListedFigures(inside, bare, numbers[inner], np.ones(rows.size, bool))
        refuse_sums(every, FLAT if any_marked else NONE)
        refuse_subtotals(every, FLAT if any_marked else NO_SUMS, ADDED)
    return table


def _split_total(column: Coded, total: str | None) -> tuple[IntArray, list[str], BoolArray]:
    """Remove the label of margins from the categories, and say which rows have it."""
    if total is None or total not in column.categories:
        return column.codes, column.categories, np.zeros(column.codes.size, bool)
    code = column.categories.index(total)
    found = [label for label in column.categories if label != total]
    is_total = column.codes == code
    # Margins get the code 0 for now: every code needs a category.
    codes = np.where(is_total, 0, column.codes - (column.codes > code))
    return codes, found, is_total


def _check_margins(
    table: Frequencies, codes: list[IntArray], marked: list[BoolArray], numbers: IntArray, where: Where
) -> None:
    """Compare every stated margin with the sum of its cells."""
    pattern = Grid((2,) * len(marked)).encode(marked)
    for kind in np.unique(pattern[pattern > 0]):
        kept = [i for i in range(len(codes)) if not (int(kind) >> (len(codes) - 1 - i)) & 1]
        rows = np.flatnonzero(pattern == kind)
        if not kept:
            sums = np.full(rows.size, table.total)
        else:
            margin = table.margin(*(table.names[i] for i in kept))
            sums = margin.at(margin.grid.encode([codes[i][rows] for i in kept]))
        wrong = np.flatnonzero(sums != numbers[rows])
        if wrong.size:
            row = int(rows[wrong[0]])
            name = ", ".join(f"{table.names[i]}={table.dimensions[i].categories[codes[i][row]]}" for i in kept)
            raise DataError(
                f"{where(row)}: margin '{name or 'total'}' is {numbers[row]}, but its cells sum to {sums[wrong[0]]}; "
                'correct the figures, or use the cells (margins="recompute", --margins recompute)'
            )
