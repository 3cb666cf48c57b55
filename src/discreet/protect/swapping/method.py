"""Targeted record swapping: people or households in risky cells change places with others like them elsewhere.

A record that is nearly alone with its keys in its area is swapped with one in another area that agrees on the matching
variables. Margins over the area and these variables, and all margins without the area, stay exactly as they are; what
a reader sees of a small cell may be somebody from elsewhere. Dalenius and Reiss (1982); Shlomo, Tudor and Groom (2010)
describe targeting and matching for a census.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected, check_anybody, drawn
from discreet.protect.inner_counts import check_share, counts_of, release_counts
from discreet.protect.swapping.pairs import Swaps, Units, choose
from discreet.protect.swapping.report import SwapReport
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.kinds import Kind


@dataclass(frozen=True)
class RecordSwapping:
    """Swapping of a share of all people, or households, between areas, risky ones first.

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

    area: str
    match: tuple[str, ...] = ()
    rate: float = 0.05
    keys: tuple[str, ...] | None = None
    threshold: int = 3
    household: str | None = None
    carry: tuple[str, ...] = ()
    name: ClassVar[str] = "record-swapping"

    def __post_init__(self) -> None:
        """Check the rate, the threshold and the names."""
        check_share(self.rate, "the swap rate")
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | np.integer) or self.threshold < 1:
            raise RequestError(f"the threshold of risk is {self.threshold!r}; give a whole number of 1 or more")
        for field in ("match", "keys", "carry"):
            given = getattr(self, field)
            if isinstance(given, str):
                raise RequestError(f"{field} is {given!r}, one name; give a list of names")
            if given is not None:
                object.__setattr__(self, field, tuple(given))
        if self.area in self.match:
            raise RequestError(f"{self.area!r} is the area that is swapped, so that partners cannot match on it")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        said: dict[str, object] = {"area": self.area, "match": list(self.match), "rate": float(self.rate)}
        return said if self.household is None else {**said, "household": self.household}

    def check(self, table: Table) -> None:
        """Refuse a table without the dimensions that are named, or with one area only."""
        for name in (self.area, *self.match, *(self.keys or ())):
            table.axis(name)
        if self.household is not None or self.carry:
            raise RequestError("a table has neither households nor finer areas; swap records")
        check_anybody(table)
        self._check_areas([str(c) for c, n in zip(self._areas(table), self._people(table), strict=True) if n])

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: in every area what is in one of them."""
        stride = self._stride(table)
        areas = table.codes(self.area)
        others = np.unique(table.cells - stride * areas)
        every = (others[None, :] + stride * np.arange(len(self._areas(table)))[:, None]).ravel()
        return np.setdiff1d(every, table.impossible)

    @drawn
    def apply(self, original: Original, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Swap the people of a table once."""
        table = counts_of(original, self.name)
        self.check(table)
        people = np.repeat(table.cells, table.counts)
        units, pairs = self._units(table, people), self.pairs(people.size)
        swaps = choose(units, pairs, self.threshold, generator(seed))
        inner = self._tabled(table, people, units, swaps)
        report = SwapReport.of(units, swaps, pairs, self.threshold, "people")
        return self.published(original, inner, table.names, pairs, report)

    def published(
        self, original: Original, inner: Table, by: Sequence[str], bound: int, report: SwapReport
    ) -> Protected:
        """Return the release of swapped counts: margins that cannot have changed are published as exact."""
        kept = [tuple(n for n in by if n != self.area), tuple(n for n in by if n == self.area or n in self.match)]
        return release_counts(
            original,
            inner,
            self.name,
            self.parameters,
            kept=kept,
            kinds=(Kind("swapped", fraction=float(self.rate), bound=bound),),
            sums=Kind("swapped", bound=bound),
            notes=report.notes,
            details=report.to_dict(),
        )

    def records(self, records: Any, seed: Seed = None) -> Any:
        """Swap the records of a frame or file once; see :func:`~discreet.protect.swapping.records.swap_records`."""
        from discreet.protect.swapping.records import swap_records

        return swap_records(records, self, seed)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return swapped counts of the cells of :meth:`support`, one draw per row."""
        self.check(table)
        people = np.repeat(table.cells, table.counts)
        units, pairs, support = self._units(table, people), self.pairs(people.size), self.support(table)
        drawn = np.zeros((size, support.size), np.int64)
        for draw in range(size):
            swaps = choose(units, pairs, self.threshold, rng)
            drawn[draw] = self._tabled(table, people, units, swaps).at(support)
        return drawn

    def pairs(self, units: int) -> int:
        """Return how many pairs change places among a number of units.

        >>> RecordSwapping("area", rate=0.1).pairs(100)
        5
        """
        return int(self.rate * units / 2 + 1e-9)

    def _check_areas(self, areas: Sequence[str]) -> None:
        if len(areas) < 2:
            only = f"only {areas[0]}" if areas else "none"
            raise DataError(f"there is nobody to swap with: of the areas of {self.area!r}, {only} has people in it")

    def _areas(self, table: Table) -> tuple[str, ...]:
        return table.dimensions[table.axis(self.area)].categories

    def _people(self, table: Table) -> list[float]:
        people: list[float] = table.sums([self.area], table.counts)[0].tolist()
        return people

    def _stride(self, table: Table) -> int:
        stride: int = int(np.prod(table.shape[table.axis(self.area) + 1 :], dtype=np.int64))
        return stride

    def _units(self, table: Table, people: IntArray) -> Units:
        def code(names: Sequence[str]) -> IntArray:
            found = np.zeros(people.size, np.int64)
            for name in names:
                found = found * len(table.dimensions[table.axis(name)]) + table.codes(name, people)
            return found

        rare = [name for name in (self.keys or table.names) if name != self.area]
        alike = counts_in(code([self.area, *rare]))
        return Units(code([self.area]), code(self.match), alike, people, self._areas(table))

    def _tabled(self, table: Table, people: IntArray, units: Units, swaps: Swaps) -> Table:
        """Return the table in which partners have each other's area."""
        moved = np.flatnonzero(swaps.partner >= 0)
        cells = people.copy()
        cells[moved] += self._stride(table) * (units.area[swaps.partner[moved]] - units.area[moved])
        found, counts = np.unique(cells, return_counts=True)
        clash = np.intersect1d(found, table.impossible)
        if clash.size:
            raise DataError(
                f"a swap would put somebody into cell {table.describe(int(clash[0]))}, which is a structural zero; "
                "match on the dimensions of structural zeros"
            )
        return table.with_counts(found, counts)


def counts_in(codes: IntArray) -> IntArray:
    """Return for every element how many have its value.

    >>> counts_in(np.array([3, 5, 3])).tolist()
    [2, 1, 2]
    """
    _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    found: IntArray = counts[which]
    return found


@reads_original
def record_swapping(
    original: Original,
    area: str,
    *,
    match: Sequence[str] = (),
    rate: float = 0.05,
    keys: Sequence[str] | None = None,
    threshold: int = 3,
    seed: Seed = None,
) -> Release:
    """Swap a share of the people of a table between areas, risky ones first, and return the swapped table.

    Args:
        original: a table of counts, or a tabulation of them.
        area: the dimension that is swapped.
        match: the dimensions that both partners have in common; their margins by area stay as they are.
        rate: the share of all people who move.
        keys: the dimensions that make somebody rare; by default all but the area.
        threshold: somebody is risky who shares the keys with fewer than this many in the area.
        seed: makes the swaps reproducible; keep it secret.

    >>> table = Table.from_array([[1, 5], [6, 2]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> record_swapping(table, "area", rate=0.3, seed=1).table.total
    14
    """
    chosen = None if keys is None else tuple(keys)
    return RecordSwapping(area, tuple(match), rate, chosen, threshold).apply(original, seed).release
