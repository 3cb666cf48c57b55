"""Targeted record swapping: people or households in risky cells change places with others like them elsewhere.

A record that is nearly alone with its keys in its area is swapped with one in another area that agrees on the matching
variables. Margins over the area and these variables, and all margins without the area, stay exactly as they are; what
a reader sees of a small cell may be somebody from elsewhere. Dalenius and Reiss (1982); Shlomo, Tudor and Groom (2010)
describe targeting and matching for a census.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.core.random import Seed, is_short
from discreet.protect.base import Original, Protected
from discreet.protect.record_rows import arrow_records
from discreet.protect.swapping.pairs import SwapPlan, SwapReport, Swaps, Units, choose, counts_in
from discreet.protect.swapping.swapped_records import SwappedRecords, swap_arrow, swap_records
from discreet.protect.usage import in_one_call
from discreet.table import Table
from discreet.table.kinds import Swapped
from discreet.table.records import count_records


@dataclass(frozen=True)
class RecordSwapping(SwapPlan):
    """Swap people between areas, the rarest first, with others who agree on the matching dimensions.

    Margins of the area by the matching dimensions, and all without the area, stay exactly as they are. Areas and people
    with nobody to swap with are reported.

    Attributes:
        area: the dimension, or the column of records, that is swapped.
        match: what both partners have in common; a larger area among them keeps swaps within it.
        rate: the share of all units that move.
        keys: what makes a person rare; by default everything but the area, of records the matching variables.
        threshold: somebody is risky who shares the keys with fewer than this many in the area, themselves included.
        household: of records, the column of households, which move as a whole and match member by member.
        carry: of records, further columns that go with the area, such as finer areas.

    >>> table = Table.from_array([[1, 5], [6, 2]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> done = RecordSwapping("area", rate=0.3).apply(table, 1)
    >>> done.release.table.margin("sex") == table.margin("sex"), done.details["moved"]
    (True, 4)
    """

    name: ClassVar[str] = "record-swapping"
    told: ClassVar[tuple[str, ...]] = ("area", "match", "rate", "household")
    examples: ClassVar[Mapping[str, str]] = {
        "t.csv --area region --match sex --rate 0.05 -o s.csv": "one in twenty",
        "t.csv --area region --keys origin,age -o s.csv": "rare by origin and age",
    }

    def check(self, table: Table) -> None:
        """Refuse a table without the dimensions that are named, or with one area only."""
        for name in (self.area, *self.match, *(self.keys or ())):
            table.axis(name)
        if self.household is not None or self.carry:
            raise RequestError("a table has neither households nor finer areas; swap records")
        super().check(table)
        self.check_areas([self._areas(table)[i] for i in np.unique(table.codes(self.area))])

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: in every area what is in one of them."""
        area, areas = table.axis(self.area), len(self._areas(table))
        others = np.unique(table.grid.moved(table.cells, area, 0))
        every = table.grid.moved(np.tile(others, areas), area, np.repeat(np.arange(areas), others.size))
        return np.setdiff1d(every, table.impossible)

    def renewed(self, original: Original, table: Table, rng: np.random.Generator) -> Protected:
        """Swap the people of a table once."""
        self.check(table)
        people = np.repeat(table.cells, table.counts)
        units, pairs = self._units(table, people), self.pairs(people.size)
        swaps = choose(units, pairs, self.threshold, rng)
        inner = self._tabled(table, people, units, swaps)
        report = SwapReport.of(units, swaps, pairs, self.threshold, "people")
        return self.published(original, inner, table.names, pairs, report)

    def published(
        self, original: Original, inner: Table, by: Sequence[str], bound: int, report: SwapReport
    ) -> Protected:
        """Return the release of swapped counts: margins that cannot have changed are published as exact."""
        return self.release(
            original,
            inner,
            (Swapped(fraction=float(self.rate), bound=bound),),
            Swapped(bound=bound),
            kept=[tuple(n for n in by if n != self.area), tuple(n for n in by if n == self.area or n in self.match)],
            notes=report.notes,
            details=report.to_dict(),
        )

    def records(self, records: object, seed: Seed = None) -> SwappedRecords:
        """Swap the records of a frame or file once; see :func:`~discreet.protect.swap_records`."""
        return swap_records(records, self, seed)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return swapped counts of the cells of :meth:`support`, one draw per row."""
        self.check(table)
        people = np.repeat(table.cells, table.counts)
        units, pairs, support = self._units(table, people), self.pairs(people.size), self.support(table)

        def draw() -> IntArray:
            return self._tabled(table, people, units, choose(units, pairs, self.threshold, rng)).at(support)

        return np.array([draw() for _ in range(size)]).reshape(size, -1)

    def _areas(self, table: Table) -> tuple[str, ...]:
        return table.dimensions[table.axis(self.area)].categories

    def _units(self, table: Table, people: IntArray) -> Units:
        def code(names: Sequence[str]) -> IntArray:
            return table.grid.project(people, [table.axis(name) for name in names])

        rare = [name for name in (self.keys or table.names) if name != self.area]
        alike = counts_in(code([self.area, *rare]))
        return Units(code([self.area]), code(self.match), alike, people, self._areas(table))

    def _tabled(self, table: Table, people: IntArray, units: Units, swaps: Swaps) -> Table:
        """Return the table in which partners have each other's area."""
        moved = np.flatnonzero(swaps.partner >= 0)
        cells = people.copy()
        area = table.axis(self.area)
        cells[moved] = table.grid.moved(people[moved], area, units.area[swaps.partner[moved]])
        found, counts = np.unique(cells, return_counts=True)
        clash = np.intersect1d(found, table.impossible)
        if clash.size:
            raise DataError(
                f"a swap would put somebody into cell {table.describe(int(clash[0]))}, which is a structural zero; "
                "match on the dimensions of structural zeros"
            )
        return table.with_counts(found, counts)


record_swapping = in_one_call(RecordSwapping)


def swap_and_count(records: object, method: RecordSwapping, by: Sequence[str], seed: Seed = None) -> Protected:
    """Swap records and release the table of some of their columns, the area among them or not."""
    arrow = arrow_records(records)
    original = count_records(arrow, by).table
    swapped, report, largest = swap_arrow(arrow, method, seed)
    categories = {dimension.name: dimension.categories for dimension in original.dimensions}
    inner = count_records(swapped, by, categories=categories).table
    done = method.published(original, inner, by, method.pairs(report.units) * largest, report)
    return done.as_trial() if is_short(seed) else done
