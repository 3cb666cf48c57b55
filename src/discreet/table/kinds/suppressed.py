"""Figures that are not shown: a mark in their place, the interval in which they lie, or a made-up value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from discreet.core.numerics import IntArray
from discreet.table.kinds.kind import Kind, check_ends, unbounded, within


@dataclass(frozen=True)
class Unshown(Kind):
    """Figures that are not shown, of which it may be said that they are at ``least`` and at ``most`` so much."""

    units = ("least", "most")

    least: int | None = field(default=None, repr=False)
    most: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the ends."""
        super().__post_init__()
        check_ends(self.least, self.most)

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is said of all of them."""
        return within(*unbounded(values), self.least, self.most)

    @property
    def floor(self) -> int | None:
        """What is said of the least value."""
        return self.least

    @property
    def ceiling(self) -> int | None:
        """What is said of the largest value."""
        return self.most

    @property
    def told(self) -> str:
        """Say between which values hidden figures lie."""
        if self.most is None:
            return self.name if self.least is None else f"{self.name}, at least {self.least}"
        return f"{self.name}, {'at most' if self.least is None else f'{self.least} to'} {self.most}"


@dataclass(frozen=True)
class Marked(Unshown):
    """Figures replaced by a mark; hidden counts are at least 1 wherever zeros are always published."""

    name = "suppressed"
    hidden = True

    @property
    def unsaid(self) -> bool:
        """Where no least value is said, and more than 0 can be behind the mark."""
        return self.least is None and self.most != 0

    def above_zero(self) -> Kind:
        """Say that hidden figures are at least 1 where nothing says what they are."""
        return replace(self, least=1) if self.unsaid else self


@dataclass(frozen=True)
class Interval(Unshown):
    """Figures of which the least and the largest value are published, beside the figure in ``Figures``.

    Where intervals stand in place of marks, they keep what the marks say.
    """

    name = "interval"
    spans = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return no bounds: the ends are not the figure's."""
        return unbounded(values)


@dataclass(frozen=True)
class Simulated(Unshown):
    """Values drawn given figures that are published beside them; they tell nothing but what the mark would say."""

    name = "simulated"
