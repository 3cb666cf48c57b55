"""Figures that are not shown: a mark in their place, or the interval in which they lie."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from discreet.core.numerics import IntArray
from discreet.table.kinds.kind import Kind, check_ends, unbounded, within


@dataclass(frozen=True)
class Marked(Kind):
    """Figures replaced by a mark, which may say that the value is at ``least`` and at ``most`` so much.

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
        check_ends(self.least, self.most)

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what the mark says."""
        return within(*unbounded(values), self.least, self.most)

    @property
    def unsaid(self) -> bool:
        """Where no least value is said, and more than 0 can be behind the mark."""
        return self.least is None and self.most != 0

    def above_zero(self) -> Kind:
        """Say that hidden figures are at least 1 where nothing says what they are."""
        return replace(self, least=1) if self.unsaid else self

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
