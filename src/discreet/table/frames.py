"""Frames to counted cells: long and wide, pandas, polars and Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import AnyArray, BoolArray, IntArray, first_true
from discreet.table.arrow_files import TextOptions, read_arrow
from discreet.table.columns import Coded, TotalOptions, coded_arrow, frequencies_from_columns
from discreet.table.counts import Where, counts_from_arrow
from discreet.table.frequencies import Frequencies
from discreet.table.roles import ENDS, FIGURES, POSSIBLE, Layout, check_layout, roles


class TableOptions(TotalOptions, total=False):
    """How columns are read as a table; :func:`discreet.read_table` says what each option means."""

    dimensions: Sequence[str] | None
    count: str
    layout: Layout
    decimal: str | None


def plain_columns(
    frame: object, figure: str, layout: Layout, dimensions: Sequence[str] | None
) -> tuple[pa.Table, Layout]:
    """Return a frame as columns that say everything, and its layout."""
    check_layout(layout)
    if type(frame).__module__.split(".")[0] == "pandas":
        frame, layout = _plain_frame(frame, figure, layout, dimensions)
    return to_arrow(frame), layout


def to_arrow(frame: Any) -> pa.Table:
    """Turn any frame that narwhals knows into an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    import narwhals as nw

    try:
        native = nw.from_native(frame)
        eager = native.collect() if isinstance(native, nw.LazyFrame) else native
        return eager.to_arrow()
    except TypeError:
        kind = f"{type(frame).__module__}.{type(frame).__name__}".removeprefix("builtins.")
        raise RequestError(
            f"a {kind} is not a frame; give a pandas, polars or Arrow frame, or make a table of an array "
            "(discreet.Table.from_array)"
        ) from None
    except nw.exceptions.DuplicateError as error:
        reason = str(error).strip().splitlines()[0]
        raise DataError(f"two columns have the same name ({reason}); every column needs a name of its own") from None
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"a column of the frame mixes types ({reason}); make every column of one type") from None


def frequencies_from_arrow(
    arrow: pa.Table,
    where: Where,
    *,
    dimensions: Sequence[str] | None = None,
    count: str = FIGURES[0],
    layout: Layout = "auto",
    decimal: str | None = None,
    **how: Unpack[TotalOptions],
) -> Frequencies:
    """Count the cells of an Arrow table; `where` names the place of a row in messages."""
    total, margins = how.setdefault("total", "Total"), how.get("margins", "check")
    if decimal not in (".", ",", None):
        raise RequestError(f"decimal is {decimal!r}; give '.' or ','")
    if margins not in ("check", "recompute"):
        raise RequestError(f"margins is {margins!r}; give 'check' or 'recompute'")
    if arrow.num_rows == 0:
        raise DataError("there are no rows; a table needs at least one cell")
    given = None if count == FIGURES[0] else count
    found = roles(
        arrow, figure=given, dimensions=dimensions, layout=layout, total=total, decimal=decimal, released=False
    )
    possible = None
    if found.figure is None:
        columns, counts, where = unpivot(arrow, dimensions, where, partial(counts_from_arrow, decimal=decimal))
    else:
        if not set(ENDS) & set(found.dimensions):
            _refuse_intervals(arrow, where)
        columns = {name: coded_arrow(name, arrow[name], where) for name in found.dimensions}
        counts = counts_from_arrow(arrow[found.figure], where, decimal)
        possible = possible_from_arrow(arrow, found.dimensions, where)
    return frequencies_from_columns(columns, counts, where=where, possible=possible, **how)


def possible_from_arrow(arrow: pa.Table, dimensions: Sequence[str], where: Where) -> BoolArray | None:
    """Return the column that is false at structural zeros, None if there is none."""
    if POSSIBLE not in arrow.column_names or POSSIBLE in dimensions:
        return None
    coded = coded_arrow(POSSIBLE, arrow[POSSIBLE], where)
    known = {"true": True, "1": True, "false": False, "0": False}
    for code, label in enumerate(coded.categories):
        if label.strip().lower() not in known and (row := first_true(coded.codes == code)) is not None:
            raise DataError(
                f"{where(row)}: column {POSSIBLE!r} is {label!r}; it is true or false (a dimension of that name "
                "must be listed among the dimensions)"
            )
    return np.array([known.get(label.strip().lower(), True) for label in coded.categories])[coded.codes]


def _refuse_intervals(arrow: pa.Table, where: Where) -> None:
    """Refuse figures that are published as intervals: they are not counts."""
    for name in ENDS if set(ENDS) <= set(arrow.column_names) else ():
        texts = arrow[name].cast(pa.string()).fill_null("").to_pylist()
        row = next((row for row, text in enumerate(texts) if text.strip()), None)
        if row is not None:
            raise DataError(
                f"{where(row)}: the figure has an interval beside it ({name} {texts[row]}), as releases have; a table "
                "has counts only; releases are audited (dc.audit, discreet audit)"
            )


def unpivot(
    arrow: pa.Table,
    dimensions: Sequence[str] | None,
    where: Where,
    read: Callable[[pa.ChunkedArray, Where], AnyArray] = counts_from_arrow,
) -> tuple[dict[str, Coded], AnyArray, Where]:
    r"""Return the labels and counts of a cross-table, column by column; `read` turns a column into figures.

    A first header such as ``area\religion`` names both dimensions.
    """
    names = [str(name) for name in arrow.column_names]
    across = ""
    if "\\" in names[0] and names[0] not in (dimensions or ()):
        names[0], across = (part.strip() for part in names[0].split("\\", 1))
    names[0] = names[0] or "row"
    keys = [names[0]] if dimensions is None else [name for name in dimensions if name in names and name != across]
    if dimensions is not None:
        absent = [name for name in dimensions if name not in keys]
        if not keys or len(absent) > 1 or (across and absent and absent != [across]):
            raise RequestError(
                f"there are no columns {absent}; name the columns of row labels, and one name for what runs across; "
                f"{nearest(absent[0], [*names, *filter(None, [across])])}"
            )
        across = absent[0] if absent else across
    across = across or "column"
    figures = [i for i, name in enumerate(names) if name not in keys]
    if not figures:
        raise DataError(f"a cross-table needs columns of counts beside {keys}; there are none")
    if across in keys:
        raise DataError(f"rows and columns are both called {across!r}; name the dimensions differently")
    rows = arrow.num_rows

    def at(row: int) -> str:
        return f"{where(row % rows)}, column {names[figures[row // rows]]!r}"

    def counts_of(i: int) -> AnyArray:
        return read(arrow.column(i), lambda row: f"{where(row)}, column {names[i]!r}")

    columns = {}
    for name in [*keys, across] if dimensions is None or across not in dimensions else dimensions:
        if name == across:
            codes = np.repeat(np.arange(len(figures)), rows)
            columns[name] = Coded(codes, [names[i] for i in figures])
        else:
            coded = coded_arrow(name, arrow.column(names.index(name)), where)
            columns[name] = Coded(np.tile(coded.codes, len(figures)), coded.categories)
    return columns, np.concatenate([counts_of(i) for i in figures]), at


def impossible_cells(table: Frequencies, combinations: object, **text: Unpack[TextOptions]) -> IntArray:
    """Return the positions of all cells that agree with any combination; see :meth:`Table.with_structural_zeros`."""
    source = ""
    if isinstance(combinations, str | Path):
        rows, source = read_arrow(combinations, **text).to_pylist(), f"{combinations}: "
    elif isinstance(combinations, Sequence) and all(isinstance(row, Mapping) for row in combinations):
        rows = list(combinations)
    else:
        rows = to_arrow(combinations).to_pylist()
    found = [_cells(table, row, f"{source}combination {i + 1}") for i, row in enumerate(rows)]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _cells(table: Frequencies, row: Mapping[str, object], where: str) -> IntArray:
    """Return the positions of one combination, whatever the dimensions it does not name are."""
    named = {name: label for name, label in row.items() if label is not None and label != ""}
    if not named:
        raise DataError(f"{where} names no category; name at least one")
    try:
        fixed = {table.axis(name): table.dimensions[table.axis(name)].code(label) for name, label in named.items()}
    except RequestError as error:
        raise RequestError(f"{where}: {error}") from None
    return table.grid.cross([[fixed[i]] if i in fixed else np.arange(size) for i, size in enumerate(table.shape)])


def _plain_frame(frame: Any, count: str, layout: Layout, dimensions: Sequence[str] | None) -> tuple[Any, Layout]:
    """Return a pandas frame whose columns say what its index and named axes do, and its layout.

    A series, such as ``frame.groupby([...]).size()``, is a column of counts labelled by its index. A cross-table,
    such as ``pandas.crosstab`` gives, is stacked: its rows and columns may have several levels.
    """
    if type(frame).__name__ == "Series":
        return _labelled(frame, _names(frame.index, "row"), count), "long"
    if not _classifies(frame, count, layout):
        return _texts(frame.reset_index(drop=True)), layout
    crossed = frame.columns.nlevels > 1 or frame.columns.name is not None
    names = _names(frame.index, "row")
    if layout == "long" or (layout == "auto" and count in frame.columns and not crossed):
        twice = [name for name in names if name in frame.columns]
        if twice:
            raise DataError(f"{twice[0]!r} is both a level of the index and a column; rename one of them")
        return _texts(_levels(frame.index, names).join(frame.reset_index(drop=True))), "long"
    across = _names(frame.columns, "column")
    absent = [name for name in dimensions or () if name not in names]
    if frame.columns.name is None and len(absent) == len(across) == 1:
        across = absent
    stacked = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
    return _labelled(stacked, [*names, *across], count), "long"


def _classifies(frame: Any, count: str, layout: Layout) -> bool:
    """Say whether the index labels the rows, or only numbers them."""
    index = frame.index
    if index.nlevels > 1 or index.name is not None or frame.columns.nlevels > 1:
        return True
    if type(index).__name__ == "RangeIndex":
        return False
    if index.dtype.kind not in "iu":
        return True
    # Integers are also what is left of a numbering after rows were dropped or sorted.
    long = layout == "long" or count in frame.columns
    return not long and frame.shape[1] > 0 and frame.dtypes.iloc[0].kind in "iuf"


def _names(index: Any, default: str) -> list[str]:
    """Return the names of an index's levels; those without one are called after their place."""
    defaults = [f"{default} {level}" for level in range(1, index.nlevels + 1)] if index.nlevels > 1 else [default]
    return [other if name is None else str(name) for name, other in zip(index.names, defaults, strict=True)]


def _levels(index: Any, names: list[str]) -> Any:
    return index.to_frame(index=False, name=names if index.nlevels > 1 else names[0])


def _labelled(series: Any, names: list[str], count: str) -> Any:
    """Return a long frame: the levels of an index and the counts that they label."""
    if len({*names, count}) <= len(names):
        raise DataError(f"the dimensions are called {names} and the counts {count!r}; every name must be different")
    return _texts(_levels(series.index, names).assign(**{count: series.to_numpy()}))


def _texts(frame: Any) -> Any:
    """Turn columns and categories of mixed objects into texts; missing ones stay missing."""
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"two columns are called {str(twice)!r}; every column needs a name of its own")
    import pandas

    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    changed = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pandas.CategoricalDtype):
            changed[name] = column.cat.rename_categories([str(label) for label in column.cat.categories])
        elif column.dtype.kind == "O" and not isinstance(column.dtype, pandas.StringDtype | pandas.ArrowDtype):
            changed[name] = column.map(str, na_action="ignore")
    return frame.assign(**changed)
