"""Record swapping of frames and files: people or whole households, whose areas change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.json_types import Json
from discreet.core.numerics import IntArray
from discreet.core.random import Seed, generator
from discreet.protect.record_rows import arrow_records, column_codes, like, rows_by_name
from discreet.protect.swapping.pairs import SwapPlan, SwapReport, Units, choose, counts_in
from discreet.table.arrow_files import Frame

LARGEST_HOUSEHOLD = 500
"""A column with a larger household is taken to hold something else: a round choice, above any private household."""


@dataclass(frozen=True, eq=False, repr=False)
class SwappedRecords:
    """Records with swapped areas, as the frame that they came in, and what was done."""

    records: Frame
    report: SwapReport

    def to_dict(self) -> dict[str, Json]:
        """Return what was done as plain data."""
        return {**self.report.to_dict(), "notes": list(self.report.notes), "sentence": str(self.report)}

    def __str__(self) -> str:
        return str(self.report)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def swap_records(records: object, method: SwapPlan, seed: Seed = None) -> SwappedRecords:
    """Swap the areas of records, or of whole households, that agree on the matching variables.

    The same seed gives the same result whatever the order of the rows.

    Args:
        records: a pandas, polars or Arrow frame, or a CSV or Parquet file, one row per person.
        method: what is swapped.
        seed: makes the swaps reproducible; keep it secret.

    >>> from discreet.protect import RecordSwapping
    >>> people = pa.table({"area": ["n", "n", "s", "s"], "sex": ["m", "f", "m", "f"]})
    >>> swap_records(people, RecordSwapping("area", ("sex",), rate=0.5), seed=1).report.moved
    2
    """
    arrow = arrow_records(records)
    swapped, report, _ = swap_arrow(arrow, method, seed)
    return SwappedRecords(like(records, swapped), report)


def swap_arrow(arrow: pa.Table, method: SwapPlan, seed: Seed) -> tuple[pa.Table, SwapReport, int]:
    """Return the records with their areas swapped, what was done, and the size of the largest unit."""
    for name in (method.area, *method.match, *(method.keys or ()), *method.carry):
        if name not in arrow.column_names:
            raise RequestError(f"there is no column {name!r}; {nearest(name, arrow.column_names)}")
    order = rows_by_name(arrow)
    arrow = arrow.take(order)
    area, areas = column_codes(arrow, method.area)
    method.check_areas(areas)
    match, keys = _combined(arrow, method.match), _combined(arrow, method.keys or method.match)
    units = Units(area, match, counts_in(area * (int(keys.max()) + 1) + keys), keys, tuple(areas))
    unit, first, largest = np.arange(area.size), np.arange(area.size), 1
    if method.household is not None:
        unit, first, units, largest = _households(arrow, method, method.household, units)
    pairs = method.pairs(units.area.size)
    swaps = choose(units, pairs, method.threshold, generator(seed))
    partner = swaps.partner[unit]
    # Everybody in a household gets the area of any record of the partner: all of a household are in one area.
    rows = np.where(partner >= 0, first[partner], np.arange(area.size))
    for name in (method.area, *method.carry):
        place = arrow.column_names.index(name)
        arrow = arrow.set_column(place, arrow.schema.field(name), arrow[name].take(pa.array(rows)))
    what = "people" if method.household is None else "households"
    back = arrow.take(np.argsort(order))
    return back, SwapReport.of(units, swaps, pairs, method.threshold, what), largest


def _combined(arrow: pa.Table, names: Sequence[str]) -> IntArray:
    """Return one number for the combination of some columns of every record, in the order of their labels."""
    combined = np.zeros(arrow.num_rows, np.int64)
    for name in names:
        codes, labels = column_codes(arrow, name)
        combined = np.unique(combined * len(labels) + codes, return_inverse=True)[1]
    return combined


def _households(
    arrow: pa.Table, method: SwapPlan, household: str, people: Units
) -> tuple[IntArray, IntArray, Units, int]:
    """Return the household of every record, a record of each, the households as units, and the largest size."""
    unit, labels = column_codes(arrow, household)
    sizes = np.bincount(unit, minlength=len(labels))
    largest = int(sizes.max())
    if largest > LARGEST_HOUSEHOLD:
        raise DataError(
            f"household {labels[int(np.argmax(sizes))]!r} has {largest:,} members; {household!r} is not a column "
            "of households"
        )
    order = np.lexsort((people.match, unit))
    begin = np.cumsum(sizes) - sizes
    first = order[begin]
    for name in (method.area, *method.carry):
        codes, names = column_codes(arrow, name)
        apart = np.flatnonzero(codes != codes[first][unit])
        if apart.size:
            row = int(apart[0])
            raise DataError(
                f"household {labels[unit[row]]!r} is in {name}={names[codes[row]]} and in "
                f"{name}={names[codes[first[unit[row]]]]}; a household has one place"
            )

    def profile(values: IntArray) -> IntArray:
        """Number the households by the sorted values of their members."""
        sorted_rows = np.lexsort((values, unit))
        padded = np.full((len(labels), largest), -1, np.int64)
        place = np.arange(unit.size) - np.repeat(begin, sizes)
        padded[unit[sorted_rows], place] = values[sorted_rows]
        which: IntArray = np.unique(padded, axis=0, return_inverse=True)[1]
        return which.ravel()

    rarest = np.full(len(labels), np.iinfo(np.int64).max)
    np.minimum.at(rarest, unit, people.alike)
    made = Units(people.area[first], profile(people.match), rarest, profile(people.profile), people.areas)
    return unit, first, made, largest
