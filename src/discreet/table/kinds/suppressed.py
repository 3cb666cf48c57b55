"""Figures that are not shown: a mark in their place, or the interval in which they lie."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.table.kinds.kind import UNBOUNDED, Kind, unbounded


@dataclass(frozen=True)
class Marked(Kind):
    """Figures replaced by a mark, which says that the value is at ``least`` and at ``most`` so much, where known.

    Hidden counts are at least 1 wherever zeros are always published.
    """

    name = "suppressed"
    units = ("least", "most")
    hidden = True

    least: int | None = field(default=None, repr=False)
    most: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the ends."""
        super().__post_init__()
        if self.least is not None and self.most is not None and self.least > self.most:
            raise RequestError(f"hidden figures are said to lie between {self.least} and {self.most}; swap the two")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what the mark says."""
        least = -UNBOUNDED if self.least is None else self.least
        most = UNBOUNDED if self.most is None else self.most
        return np.full(values.shape, least), np.full(values.shape, most)

    @property
    def told(self) -> str:
        """Say between which values hidden figures lie."""
        if self.most is None:
            return self.name if self.least is None else f"suppressed, at least {self.least}"
        return f"suppressed, {'at most' if self.least is None else f'{self.least} to'} {self.most}"


@dataclass(frozen=True)
class Interval(Kind):
    """Figures of which the least and the largest value are published, beside the figure in ``Figures``."""

    name = "interval"
    spans = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return no bounds: the ends are not the figure's."""
        return unbounded(values)
