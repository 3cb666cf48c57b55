"""Splitting an urn's law by an event: the part inside the bounds and the part outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.table.grid import locate
from discreet.uniques.convolution import NEVER, CellGroup, UntouchedLaw, restricted_law
from discreet.uniques.events import Event
from discreet.uniques.priors import UrnPrior
from discreet.uniques.sample import Sample
from discreet.uniques.urn import Urn

UNBOUNDED = np.int64(2**62)
_RARE = 1e-7
"""An outside at least this likely is computed as a difference, which keeps 9 of 16 digits. A rarer one is the sum over
cells, which is off by at most the square and so keeps 7 digits or more."""


class BoundedCells(NamedTuple):
    """Cells in columns: weight, bounds on the balls on each, whether it is counted, and the number of equal ones."""

    weight: FloatArray
    low: IntArray
    high: IntArray
    unique: npt.NDArray[np.bool_]
    number: IntArray

    def groups(self, skip: int | None = None) -> list[CellGroup]:
        """Gather equal cells; cells that are neither bounded nor counted belong to the rest.

        A cell to ``skip`` is left out, because the caller pins its count.
        """
        kept = np.flatnonzero((self.unique | (self.low > 0) | (self.high < UNBOUNDED)) & (self.number > 0))
        kept = kept if skip is None else kept[kept != skip]
        weight, low, high, unique, number = (column[kept] for column in self)
        first, which = distinct(weight, low, high, unique)
        total = np.bincount(which, weights=number, minlength=first.size)
        return [
            CellGroup(
                count=round(float(total[i])),
                weight=float(weight[row]),
                low=int(low[row]),
                high=None if high[row] == UNBOUNDED else int(high[row]),
                unique=bool(unique[row]),
            )
            for i, row in enumerate(first)
        ]


@dataclass(frozen=True, eq=False)
class CountBounds:
    """An event on the cells of a sample: bounds on F of the non-empty cells and of the empty ones it names.

    Empty cells come with multiplicities: if they are equal, all K of them cost one row.
    """

    low: IntArray
    high: IntArray
    empty_weight: FloatArray
    empty_low: IntArray
    empty_high: IntArray
    empty_count: IntArray

    @classmethod
    def of(cls, sample: Sample, base: UrnPrior, event: Event | None) -> CountBounds:
        """Find out which cells of the sample the event bounds, and how."""
        size = sample.cells.size
        low, high = np.zeros(size, np.int64), np.full(size, UNBOUNDED)
        nothing = np.zeros(0, np.int64)
        if event is None:
            return cls(low, high, nothing.astype(float), nothing, nothing, nothing)
        lowest = np.asarray(event.low, np.int64)
        highest = np.asarray(UNBOUNDED if event.high is None else event.high, np.int64)
        if event.cells is None:
            weight, count = np.atleast_1d(np.asarray(base.weights)), np.array([sample.empty], np.int64)
            if not base.symmetric:
                empty = np.ones(sample.size, bool)
                empty[sample.cells] = empty[sample.impossible] = False
                weight, times = np.unique(weight[empty], return_counts=True)
                count = times.astype(np.int64)
            shape = np.ones(weight.size, np.int64)
            return cls(low + lowest, np.minimum(high, highest), weight, lowest * shape, highest * shape, count)
        cells = event.cells
        lowest, highest = np.broadcast_to(lowest, cells.shape), np.broadcast_to(highest, cells.shape)
        outside = (cells >= sample.size) | np.isin(cells, sample.impossible)
        if outside.any():
            raise RequestError(
                f"event {event.label!r} names position {cells[outside][0]}, which is not a cell that can occur; "
                f"positions run from 0 to {sample.size - 1} without the structural zeros"
            )
        place = locate(sample.cells, cells)
        full = place >= 0
        low[place[full]], high[place[full]] = lowest[full], highest[full]
        rest = cells[~full]
        return cls(low, high, base.weight_of(rest), lowest[~full], highest[~full], np.ones(rest.size, np.int64))

    @property
    def bounded(self) -> IntArray:
        """Which cells are bounded: the non-empty ones, then the empty ones."""
        low, high = np.concatenate([self.low, self.empty_low]), np.concatenate([self.high, self.empty_high])
        return np.flatnonzero((low > 0) | (high < UNBOUNDED))

    def before(self, sample: Sample, base: UrnPrior) -> BoundedCells:
        """The event on the urn before the sample: every cell with its prior weight."""
        return BoundedCells(
            np.concatenate([base.weight_of(sample.cells), self.empty_weight]),
            np.concatenate([self.low, self.empty_low]),
            np.concatenate([self.high, self.empty_high]),
            np.zeros(self.low.size + self.empty_low.size, bool),
            np.concatenate([np.ones(self.low.size, np.int64), self.empty_count]),
        )

    def after(self, sample: Sample, weights: FloatArray, counted: npt.NDArray[np.bool_]) -> BoundedCells:
        """The event on the urn after the sample, in terms of further people, with the uniques that are counted."""
        free = self.high == UNBOUNDED
        return BoundedCells(
            np.concatenate([weights, self.empty_weight]),
            np.concatenate([np.maximum(self.low - sample.counts, 0), self.empty_low]),
            np.concatenate([np.where(free, UNBOUNDED, self.high - sample.counts), self.empty_high]),
            np.concatenate([counted, np.zeros(self.empty_low.size, bool)]),
            np.concatenate([np.ones(self.low.size, np.int64), self.empty_count]),
        )


def distinct(*columns: npt.NDArray[np.generic]) -> tuple[IntArray, IntArray]:
    """Return the first row of every distinct combination of the columns, and which one each row is.

    >>> distinct(np.array([2.0, 1.0, 2.0]), np.array([0, 0, 0]))[1].tolist()
    [1, 0, 1]
    """
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        # Columns that do not vary are common, and looking costs far less than sorting a million rows.
        if column.size and (column != column[0]).any():
            values, place = np.unique(column, return_inverse=True)
            code = code * values.size + place
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
    if not code.any():
        return np.arange(min(code.size, 1)), code
    _, first = np.unique(code, return_index=True)
    return first.astype(np.int64), code


def split(
    urn: Urn, groups: Sequence[CellGroup], pinned: Sequence[CellGroup] = (), *, counting: bool = True
) -> tuple[UntouchedLaw, UntouchedLaw]:
    """Return the laws inside and outside the groups' bounds, each jointly with the pinned cells.

    The outside is the difference from the unrestricted law; where it is rarer than 10⁻⁷ the difference would
    lose its digits, and the sum over cells of one cell being out of bounds takes its place (Bonferroni's
    inequality bounds what that leaves out by the square).

    >>> urn = Urn(2, 3.0, True)
    >>> inside, outside = split(urn, [CellGroup(3, 1.0, low=1)])
    >>> inside.log_probability, round(float(np.exp(outside.log_probability)), 12)
    (-inf, 1.0)
    """
    released = [replace(group, low=0, high=None) for group in groups]
    whole = restricted_law(urn, [*released, *pinned], counting=counting)
    inside = restricted_law(urn, [*groups, *pinned], counting=counting)
    if whole.log_probability == -np.inf:
        return NEVER, NEVER
    missing = -float(np.expm1(inside.log_probability - whole.log_probability))
    if missing > _RARE:
        start, left = _sum([(1.0, whole), (-float(np.exp(inside.log_probability - whole.log_probability)), inside)])
        left = np.maximum(left, 0.0)
        return inside, UntouchedLaw(whole.log_probability + float(np.log(missing)), start, left / left.sum())
    parts: list[tuple[float, UntouchedLaw]] = []
    for i, group in enumerate(groups):
        others = [*released[:i], replace(released[i], count=group.count - 1), *released[i + 1 :], *pinned]
        broken = [replace(group, count=1, low=0, high=group.low - 1)] if group.low > 0 else []
        if group.high is not None:
            broken.append(replace(group, count=1, low=group.high + 1, high=None))
        for one in broken:
            law = restricted_law(urn, [*others, one], counting=counting)
            parts.append((float(np.log(group.count)), law))
    return inside, mix(parts)


def mix(parts: Sequence[tuple[float, UntouchedLaw]]) -> UntouchedLaw:
    """Add laws with log-weights; the result's log-probability is the log of the sum."""
    alive = [(weight + law.log_probability, law) for weight, law in parts]
    alive = [(log, law) for log, law in alive if log > -np.inf]
    if not alive:
        return NEVER
    top = max(log for log, _ in alive)
    start, total = _sum([(float(np.exp(log - top)), law) for log, law in alive])
    mass = float(total.sum())
    return UntouchedLaw(top + float(np.log(mass)), start, total / mass)


def _sum(parts: Sequence[tuple[float, UntouchedLaw]]) -> tuple[int, FloatArray]:
    """Add multiples of laws over their joint support."""
    start = min(law.start for _, law in parts)
    total = np.zeros(max(law.start + law.pmf.size for _, law in parts) - start)
    for factor, law in parts:
        total[law.start - start :][: law.pmf.size] += factor * law.pmf
    return start, total
