"""What pandas frames keep beside their columns, an index and named axes, turned into columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import DataError
from discreet.table.roles import Layout


def plain_frame(frame: Any, count: str, layout: Layout, dimensions: Sequence[str] | None = None) -> tuple[Any, Layout]:
    """Return a frame whose columns say everything, and its layout.

    A series, such as ``frame.groupby([...]).size()``, is a column of counts labelled by its index. A cross-table,
    such as ``pandas.crosstab`` gives, is stacked, so that rows and columns may have several levels.
    """
    if type(frame).__name__ == "Series":
        return _labelled(frame, frame.index, frame.index.names, count), "long"
    if not _classifies(frame, count, layout):
        return _texts(frame.reset_index(drop=True)), layout
    crossed = frame.columns.nlevels > 1 or frame.columns.name is not None
    if layout == "long" or (layout == "auto" and count in frame.columns and not crossed):
        names = _names(frame.index, "row")
        labels = _levels(frame.index, names)
        twice = [name for name in names if name in frame.columns]
        if twice:
            raise DataError(f"{twice[0]!r} is both a level of the index and a column; rename one of them")
        return _texts(labels.join(frame.reset_index(drop=True))), "long"
    names = _names(frame.index, "row")
    across = _names(frame.columns, "column")
    absent = [name for name in dimensions or () if name not in names]
    if frame.columns.name is None and len(absent) == len(across) == 1:
        across = absent
    stacked = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
    return _labelled(stacked, stacked.index, [*names, *across], count), "long"


def _classifies(frame: Any, count: str, layout: Layout) -> bool:
    """Say whether the index labels the rows, or only numbers them."""
    index = frame.index
    if index.nlevels > 1 or index.name is not None or frame.columns.nlevels > 1:
        return True
    if type(index).__name__ == "RangeIndex":
        return False
    if index.dtype.kind not in "iu":
        return True
    # Whole numbers are also what is left of a numbering after rows were dropped or sorted.
    long = layout == "long" or count in frame.columns
    return not long and frame.shape[1] > 0 and frame.dtypes.iloc[0].kind in "iuf"


def _names(index: Any, default: str) -> list[str]:
    """Return the names of an index' levels; those without one are called after where they stand."""
    several = index.nlevels > 1
    return [
        str(name) if name is not None else f"{default} {level}" if several else default
        for level, name in enumerate(index.names, start=1)
    ]


def _levels(index: Any, names: list[str]) -> Any:
    """Return the levels of an index as the columns of a frame."""
    return index.to_frame(index=False, name=names if index.nlevels > 1 else names[0])


def _labelled(series: Any, index: Any, names: Sequence[Any], count: str) -> Any:
    """Return a long frame: the levels of an index and the counts that they label."""
    levels = [
        str(name) if name is not None else default for name, default in zip(names, _names(index, "row"), strict=True)
    ]
    if len({*levels, count}) <= len(levels):
        raise DataError(f"the dimensions are called {levels} and the counts {count!r}; every name must be different")
    labels = _levels(index, levels)
    return _texts(labels.assign(**{count: series.to_numpy()}))


def _texts(frame: Any) -> Any:
    """Turn columns and categories of mixed objects into texts, which is what labels are; missing ones stay missing."""
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
