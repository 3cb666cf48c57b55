"""Structural zeros: combinations of categories that cannot occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.dimension import Dimension
from discreet.table.frequencies import Frequencies


def positions_of(table: Frequencies, combinations: Any, **reading: Any) -> IntArray:
    """Return the positions of all cells that agree with any of the combinations.

    See :meth:`Table.with_structural_zeros` for what combinations may be; `reading` says how to read a file.
    """
    if isinstance(combinations, str | Path):
        from discreet.table.arrow_files import read_arrow

        arrow = read_arrow(combinations, **reading)
        rows, source = arrow.to_pylist(), f"{combinations}: "
    elif isinstance(combinations, Sequence) and all(isinstance(row, Mapping) for row in combinations):
        rows, source = list(combinations), ""
    else:
        from discreet.table.frames import to_arrow

        rows, source = to_arrow(combinations).to_pylist(), ""
    found = [_cells(table, row, f"{source}combination {i + 1}") for i, row in enumerate(rows)]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _cells(table: Frequencies, row: Mapping[str, object], where: str) -> IntArray:
    """Return the positions of one combination, whatever the dimensions it does not name are."""
    named = {name: label for name, label in row.items() if label is not None and label != ""}
    for name in named:
        if name not in table.names:
            raise RequestError(f"{where}: there is no dimension {name!r}; {nearest(name, table.names)}")
    if not named:
        raise DataError(f"{where} names no category; name at least one")
    labels = [(dimension, named.get(dimension.name)) for dimension in table.dimensions]
    return table.grid.cross(
        [np.arange(len(dim)) if label is None else [_code(dim, label, where)] for dim, label in labels]
    )


def _code(dimension: Dimension, label: object, where: str) -> int:
    try:
        return dimension.code(label)
    except RequestError as error:
        raise RequestError(f"{where}: {error}") from None
