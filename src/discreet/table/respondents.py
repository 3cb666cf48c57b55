"""Respondents: who contributed what to which cell. Whoever is in several cells is one reader with all of it.

A tabulation keeps them if its records name their contributors. A holding represents all its contributors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.numerics import FloatArray, IntArray, sorted_runs
from discreet.table.axis import Axis
from discreet.table.frozen import Frozen
from discreet.table.grid import Grid, recode

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Respondents(Frozen):
    """One entry per respondent and finest cell that it has records in, by respondent and cell.

    ``cell`` is the position of a finest cell of one of the finest margins, ``records`` how many the respondent has in
    it, and ``amounts`` what they sum to, with a row per response.
    """

    names: tuple[str, ...]
    unit: IntArray
    cell: IntArray
    records: IntArray
    amounts: FloatArray

    def __len__(self) -> int:
        return len(self.names)

    def moved(self, position: IntArray) -> Respondents:
        """Return the respondents with another position for each entry, added up where positions coincide."""
        order, start = sorted_runs(self.unit, position)
        records, amounts = self.records[order], self.amounts[:, order]
        if start.size:
            records, amounts = np.add.reduceat(records, start), np.add.reduceat(amounts, start, axis=1)
        return Respondents(self.names, self.unit[order[start]], position[order[start]], records, amounts)


def named_units(column: pa.ChunkedArray | pa.Array) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct names in an Arrow column, sorted, and the place of every entry among them."""
    import pyarrow as pa

    coded = column.cast(pa.string()).dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    labels: list[str] = coded.dictionary.to_pylist()
    names = tuple(sorted(labels))
    return names, recode(labels, names)[coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)]


def respondents_of(
    axes: Sequence[Axis],
    finest: Sequence[tuple[str, ...]],
    units: pa.ChunkedArray,
    codes: Sequence[IntArray],
    records: IntArray,
    amounts: FloatArray,
) -> Respondents:
    """Return respondents from entries of the full cross: whose they are, an Arrow column, and a leaf for each axis."""
    names, unit = named_units(units)
    grid, parts = Grid(tuple(len(axis) for axis in axes)), []
    whole = Respondents(names, unit, np.zeros(unit.size, np.int64), records, amounts)
    for margin in finest:
        kept = [code if axis.name in margin else np.zeros_like(code) for axis, code in zip(axes, codes, strict=True)]
        parts.append(whole.moved(grid.encode(kept)))
    unit, cell, records = (np.concatenate([getattr(p, name) for p in parts]) for name in ("unit", "cell", "records"))
    together = Respondents(whole.names, unit, cell, records, np.concatenate([p.amounts for p in parts], axis=1))
    return together.moved(cell)
