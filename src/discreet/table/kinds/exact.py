"""Figures that are the values themselves, and sums of published figures."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.numerics import IntArray
from discreet.table.kinds.kind import Kind, unbounded


@dataclass(frozen=True)
class Exact(Kind):
    """The true values."""

    name = "exact"
    exact = True
    stated = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the values."""
        return values, values


@dataclass(frozen=True)
class Added(Kind):
    """Sums of published figures; they tell nothing that these do not, and enter no equation."""

    name = "added"
    summed = True
    words = "added up from published figures"

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return no bounds."""
        return unbounded(values)
