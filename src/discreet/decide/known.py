"""What a reader knows of every sensitive cell, in columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.auditing.limits import FAULTS
from discreet.core.numerics import BoolArray, FloatArray, IntArray, disclosure_risk

STATES = ("exact", "determined", "unfinished", "interval")
"""What a reader knows of a sensitive cell, the worst first; unfinished is also what the audit says nothing of."""


@dataclass(frozen=True)
class Rivals:
    """The figures beside the sensitive cells that may be sensitive as far as a reader sees.

    Limits hold for them too, so that passing tells nothing about which ones are. ``dr`` is the largest 1/H, NaN where
    it is not shown, ``width`` the least width, and ``broken`` names the limits that are not kept.
    """

    dr: float = 0.0
    width: float = math.inf
    broken: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Known:
    """What a reader knows of every sensitive cell, as columns.

    ``cell`` numbers the cells of the tabulation, ``shown`` is how each is published, ``entry`` the row of the audit
    that judges it, -1 where none does, and ``rank`` its place among the sensitive cells, the most sensitive first.
    ``bits`` is what a reader lacks who knows the method and takes all figures together, NaN where that is not shown,
    and ``bound`` is true where at least so much is left; of magnitudes, what the interval leaves, its values alike.
    ``faults`` says what the policy objects to, in the columns of :data:`~discreet.auditing.limits.FAULTS`, and
    ``must`` what the intervals must reach where levels are asked for. ``rivals`` are the other figures that may be
    sensitive.
    """

    cell: IntArray
    state: IntArray
    lower: FloatArray
    upper: FloatArray
    bits: FloatArray
    shown: tuple[str, ...]
    entry: IntArray
    rank: IntArray
    bound: BoolArray
    faults: BoolArray
    must: tuple[FloatArray, FloatArray]
    rivals: Rivals = Rivals()

    @property
    def dr(self) -> FloatArray:
        """The disclosure risk 1/H of each; infinite where the value is known, NaN where it is not shown."""
        return disclosure_risk(self.bits)

    def wrong(self, *names: str) -> BoolArray:
        """Say of each cell whether it has one of the faults."""
        return np.asarray(self.faults[:, [FAULTS.index(name) for name in names]].any(axis=1), bool)

    @property
    def width(self) -> FloatArray:
        """The width of each interval."""
        wide: FloatArray = self.upper - self.lower
        return wide

    def count(self, *states: str) -> int:
        """Return how many cells are in one of the states."""
        return int(np.isin(self.state, [STATES.index(state) for state in states]).sum())

    def worst(self) -> IntArray:
        """Return the order in which cells are told: those of which most is known first."""
        return np.lexsort((self.rank, self.width, np.nan_to_num(self.bits, posinf=np.inf), self.state))
