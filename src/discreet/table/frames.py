"""Frames to counted cells: long and wide, pandas, polars and Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.table.columns import Coded, Margins, coded_arrow, frequencies_from_columns
from discreet.table.counts import Where, counts_from_arrow
from discreet.table.frequencies import Frequencies
from discreet.table.roles import ENDS, FIGURES, POSSIBLE, Layout, roles


def frequencies_from_frame(
    frame: Any,
    *,
    dimensions: Sequence[str] | None,
    count: str,
    layout: Layout,
    total: str | None,
    margins: Margins,
) -> Frequencies:
    """Count the cells of a pandas, polars or Arrow frame; see :meth:`Table.from_frame`."""
    check_options(layout, margins)
    if type(frame).__module__.split(".")[0] == "pandas":
        from discreet.table.from_pandas import plain_frame

        frame, layout = plain_frame(frame, count, layout, dimensions)
    return frequencies_from_arrow(
        to_arrow(frame),
        lambda row: f"row {row}",
        dimensions=dimensions,
        count=count,
        layout=layout,
        total=total,
        margins=margins,
    )


def check_options(layout: str, margins: str) -> None:
    """Refuse a layout or a treatment of margins that does not exist."""
    if layout not in ("auto", "long", "wide"):
        raise RequestError(f"layout is {layout!r}; it is 'auto', 'long' or 'wide'")
    if margins not in ("check", "recompute"):
        raise RequestError(f"margins is {margins!r}; it is 'check' or 'recompute'")


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
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        raise RequestError(f"a {kind} is not a frame; give a pandas, polars or Arrow frame") from None
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
    count: str = "count",
    layout: Layout = "auto",
    total: str | None = "Total",
    totals: Mapping[str, str] | None = None,
    margins: Margins = "check",
) -> Frequencies:
    """Count the cells of an Arrow table; `where` names the place of a row in messages."""
    check_options(layout, margins)
    names = [str(name) for name in arrow.column_names]
    if arrow.num_rows == 0:
        raise DataError("there are no rows; a table needs at least one cell")
    given = None if count == FIGURES[0] else count
    found = roles(arrow, figure=given, dimensions=dimensions, layout=layout, total=total)
    if found.wide:
        columns, counts, where = unpivot(arrow, dimensions, where)
        return frequencies_from_columns(columns, counts, where=where, total=total, totals=totals, margins=margins)
    dimensions = found.dimensions
    if not set(ENDS) & set(dimensions):
        _refuse_intervals(arrow, where)
    columns = {name: coded_arrow(name, arrow[name], where) for name in dimensions}
    counts = counts_from_arrow(arrow[found.figure], where)
    possible = possible_from_arrow(arrow[POSSIBLE], where) if POSSIBLE in names and POSSIBLE not in dimensions else None
    return frequencies_from_columns(
        columns, counts, where=where, total=total, totals=totals, margins=margins, possible=possible
    )


def possible_from_arrow(column: pa.ChunkedArray, where: Where) -> npt.NDArray[np.bool_]:
    """Return the column that is false at structural zeros."""
    coded = coded_arrow(POSSIBLE, column, where)
    known = {"true": True, "1": True, "false": False, "0": False}
    for code, label in enumerate(coded.categories):
        if label.strip().lower() not in known and (coded.codes == code).any():
            row = int(np.argmax(coded.codes == code))
            raise DataError(
                f"{where(row)}: column {POSSIBLE!r} is {label!r}; it is true or false (a dimension of that name "
                "must be listed among the dimensions)"
            )
    return np.array([known.get(label.strip().lower(), True) for label in coded.categories])[coded.codes]


def _refuse_intervals(arrow: pa.Table, where: Where) -> None:
    """Refuse figures that are published as intervals: they are no counts."""
    for name in ENDS:
        if not set(ENDS) <= set(arrow.column_names):
            return
        texts = arrow[name].cast(pa.string()).fill_null("").to_pylist()
        row = next((row for row, text in enumerate(texts) if text.strip()), None)
        if row is not None:
            raise DataError(
                f"{where(row)}: the figure has an interval beside it ({name} {texts[row]}), as releases have; a table "
                "has counts only (discreet audit reads releases)"
            )


def unpivot(
    arrow: pa.Table,
    dimensions: Sequence[str] | None,
    where: Where,
    read: Callable[[Any, Where], npt.NDArray[Any]] = counts_from_arrow,
) -> tuple[dict[str, Coded], npt.NDArray[Any], Where]:
    r"""Return the labels and counts of a cross-table, column after column; `read` turns a column into figures.

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

    def counts_of(i: int) -> npt.NDArray[Any]:
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
