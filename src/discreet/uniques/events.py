"""Named subsets of the simplex of population tables, on which a mixture prior puts its weight."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray


@dataclass(frozen=True, eq=False)
class Event:
    """Bounds on population counts: low ≤ F_k ≤ high for each of the cells, or the opposite.

    Any subset of the simplex that bounds cells one by one can be written this way, and bounds may differ from
    cell to cell; ``at_least_one_zero``, ``at_least`` and ``at_most`` are the usual ones. ``~event`` is the
    opposite.

    Args:
        label: the event in words.
        cells: positions of the cells; None for every cell that can occur.
        low: smallest count allowed, one for all or one per cell.
        high: largest count allowed, one for all or one per cell; None when there is no bound.
        inside: True when the event is that all bounds hold, False when it is that at least one does not.
    """

    label: str
    cells: IntArray | None = None
    low: int | IntArray = 0
    high: int | IntArray | None = None
    inside: bool = True

    def __post_init__(self) -> None:
        """Check that the bounds fit the cells and allow some count."""
        if self.cells is None and not (isinstance(self.low, int) and isinstance(self.high, int | None)):
            raise RequestError(f"event {self.label!r} gives bounds cell by cell; name the cells they belong to")
        if self.cells is not None and np.unique(self.cells).size != self.cells.size:
            raise RequestError(f"event {self.label!r} names a cell twice; name each once")
        low, high = np.asarray(self.low), np.asarray(0 if self.high is None else self.high)
        if (low < 0).any() or (high < 0).any():
            raise RequestError(f"event {self.label!r} has a negative bound; counts are 0 or more")
        if self.high is not None and (low > high).any():
            raise RequestError(f"event {self.label!r} allows no count: its lower bound is above its upper bound")

    def __invert__(self) -> Event:
        """Return the opposite event."""
        return replace(self, label=f"not ({self.label})", inside=not self.inside)


def at_least_one_zero() -> Event:
    """At least one cell that can occur is empty in the population.

    >>> at_least_one_zero().inside
    False
    """
    return Event("at least one population zero", low=1, inside=False)


def at_least(cells: npt.ArrayLike, count: int = 1) -> Event:
    """Each of these cells holds at least this many people of the population (one by default).

    >>> at_least([3, 5]).label
    'F ≥ 1 in 2 cells'
    """
    positions = _positions(cells)
    return Event(f"F ≥ {count} in {_cells(positions.size)}", positions, low=int(count))


def at_most(cells: npt.ArrayLike, count: int) -> Event:
    """Each of these cells holds at most this many people of the population.

    >>> at_most([0], 3).label
    'F ≤ 3 in 1 cell'
    """
    positions = _positions(cells)
    return Event(f"F ≤ {count} in {_cells(positions.size)}", positions, high=int(count))


def _positions(cells: npt.ArrayLike) -> IntArray:
    array = np.atleast_1d(np.asarray(cells))
    if array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        raise RequestError("name the event's cells by their positions in the table: integers, 0 or more")
    return array.astype(np.int64)


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number:,} cells"
