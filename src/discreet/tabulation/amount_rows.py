"""Finished tables with subtotals or amounts in rows: columns of dimensions, contributors, sums and largest parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, RequestError, require
from discreet.core.numerics import AnyArray, FloatArray, first_true
from discreet.table.arrow_files import errors_of, read_arrow_rows
from discreet.table.axis import Axis
from discreet.table.columns import coded_arrow
from discreet.table.counts import Where, amounts_from_arrow, counts_from_arrow, whole_counts
from discreet.table.figure_texts import figure_texts
from discreet.table.grid import Grid, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from discreet.table.units import Largest, Level, Response
from discreet.tabulation.argus_tab import margins_of, refuse_other_sums

REMEDY = "correct the figures; subtotals need the hierarchy of their dimension"


@dataclass(frozen=True)
class RowColumns:
    """What the columns of a table in rows are.

    Attributes:
        by: the columns that classify.
        value: the column of the sums; a table without one is of counts.
        count: the column of the number of contributors.
        largest: the columns of the largest contributions, the largest first.
        decimal: the decimal sign of numbers that are texts.
    """

    by: tuple[str, ...]
    value: str | None = None
    count: str = "count"
    largest: tuple[str, ...] = ()
    decimal: str | None = None

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns of amounts, the sums first."""
        return () if self.value is None else (self.value, *self.largest)


def read_rows(
    path: str | Path,
    columns: RowColumns,
    *,
    totals: Mapping[str, str],
    part: Mapping[str, str],
    trees: Mapping[str, Sequence[Hierarchy]],
) -> Tabulation:
    """Read a table of amounts or counts from a CSV, Parquet or Excel file with a row for each cell, also of margins.

    Every margin must be the sum of its cells, up to the rounding of the decimals.

    Args:
        path: the file.
        columns: what its columns are.
        totals: the code of the total of each dimension.
        part: the code of the total of each dimension of which the table has some categories only.
        trees: the hierarchies of dimensions with subtotals; codes of theirs that the table does not show are left out.
            Those of a part are as parts too.
    """
    file = Path(path)
    rows, where = read_arrow_rows(file)
    with errors_of(file):
        require((*columns.by, columns.count, *columns.amounts), rows.column_names, "there is no column")
        labels = {name: _labels(rows[name], name, where) for name in columns.by}
        axes = tuple(
            _axis(name, labels[name], part.get(name, totals[name]), name in part, trees.get(name, ()))
            for name in columns.by
        )
        cells = Grid(tuple(len(axis) for axis in axes)).encode([recode(labels[a.name], a.codes) for a in axes])
        order = np.argsort(cells, kind="stable")
        cells = cells[order]
        if (twice := first_true(np.diff(cells) == 0)) is not None:
            raise DataError(f"{where(int(order[twice + 1]))}: the cell was given before; keep one row per cell")
        counts = whole_counts(counts_from_arrow(rows[columns.count], where, columns.decimal), where)[order]
        amounts = [_amounts(rows[name], name, where, columns.decimal)[order] for name in columns.amounts]
        margins, sums, size = margins_of(axes, cells), amounts[:1], cells.size
        top = np.abs(np.stack(amounts[1:], axis=-1)) if len(amounts) > 1 else np.zeros((size, 0))
        level = Level(counts, None, tuple(Largest(np.abs(one), top) for one in sums))
        responses = tuple(Response(str(columns.value), None, one) for one in sums)
        found = Tabulation(axes, margins, cells, counts, None, responses, level)
        decimals = [_decimals(rows[name], where, columns.decimal) for name in columns.amounts[:1]]
        level.refuse_contradictions(found.describe, 0.5 * 10.0 ** -max(decimals, default=0))
        refuse_other_sums(found, file, decimals, REMEDY)
    return found


def _labels(column: pa.ChunkedArray, name: str, where: Where) -> list[str]:
    coded = coded_arrow(name, column, where)
    return [coded.categories[code] for code in coded.codes.tolist()]


def _axis(name: str, labels: Sequence[str], total: str, part: bool, trees: Sequence[Hierarchy]) -> Axis:
    """Return a dimension of the codes that the table shows; those that no hierarchy has are below the total."""
    shown = dict.fromkeys(labels)
    if total not in shown:
        raise RequestError(
            f"dimension {name!r} has no code {total!r}, so nothing says which rows are totals; name the code of its "
            f"total ([dimensions.{name}] total), or that of a part (part) where the table is of some categories only"
        )
    found = [_shown(name, tree, shown) for tree in trees]
    known = {code for tree in found for code in tree.codes}
    omitted = [code for code in shown if code != total and code not in known]
    first, *others = found or [Hierarchy((total,), (-1,), part=part)]
    return Axis(name, (first.with_codes(omitted), *others))


def _shown(name: str, tree: Hierarchy, shown: Mapping[str, object]) -> Hierarchy:
    """Return a hierarchy without the codes that a table does not show: it may stop at any level, but skip none.

    Of a part, what contains all of it is left out too.
    """
    some = [i for i, code in enumerate(tree.codes) if i and code in shown]
    above = [_above(tree, i) for i in some] if tree.part else []
    around = set.intersection(*above) - set(shown) if above else set()
    kept = [i for i, code in enumerate(tree.codes) if i == 0 or code in shown]
    place = {at: i for i, at in enumerate(kept)}
    parents = [-1]
    for i in kept[1:]:
        parent = tree.codes[tree.parents[i]]
        if parent not in around and tree.parents[i] not in place:
            raise DataError(
                f"dimension {name!r}: the table shows {tree.codes[i]!r}, but no row of {parent!r}, which contains it; "
                "add its rows, or take it out of the hierarchy"
            )
        parents.append(0 if parent in around else place[tree.parents[i]])
    labels = {code: text for code, text in tree.labels.items() if code in shown}
    return Hierarchy(tuple(tree.codes[i] for i in kept), tuple(parents), labels, tree.part)


def _above(tree: Hierarchy, at: int) -> set[str]:
    """Return the groups that contain a code, without the total."""
    found = set()
    while (at := tree.parents[at]) > 0:
        found.add(tree.codes[at])
    return found


def _amounts(column: pa.ChunkedArray, name: str, where: Where, decimal: str | None) -> FloatArray:
    found = amounts_from_arrow(_pointed(column, decimal), name, where)
    if (row := first_true(~np.isfinite(found))) is not None:
        raise DataError(f"{where(row)}: {name} is missing or not finite; give the amount, 0 where there is none")
    return found


def _pointed(column: pa.ChunkedArray, decimal: str | None) -> pa.ChunkedArray:
    """Return texts of numbers with a point as the decimal sign, and nothing between thousands."""
    if decimal is None or not pa.types.is_string(column.type):
        return column
    plain = pc.replace_substring(column, "," if decimal == "." else ".", "")
    return pc.replace_substring(plain, decimal, ".")


def _decimals(column: pa.ChunkedArray, where: Where, decimal: str | None) -> int:
    texts: AnyArray = figure_texts(_pointed(column, decimal), where)
    return max((len(text.partition(".")[2]) for text in texts.tolist()), default=0)
