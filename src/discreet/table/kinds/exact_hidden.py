"""Figures that are the values themselves, sums of published figures, and figures that are not shown.

In place of a figure that is not shown there is a mark, the interval in which it lies, or a synthetic value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from discreet.core.numerics import IntArray
from discreet.table.kinds.kind import Kind, check_ends, unbounded, within


@dataclass(frozen=True)
class Exact(Kind):
    """The true values."""

    name = "exact"
    drawn = False
    exact = True
    stated = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the values."""
        return values, values


@dataclass(frozen=True)
class Added(Kind):
    """Sums of published figures; they add nothing to these, and enter no equation."""

    name = "added"
    drawn = False
    summed = True
    words = "added up from published figures"

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return no bounds."""
        return unbounded(values)


@dataclass(frozen=True)
class Unshown(Kind):
    """Figures that are not shown, with stated bounds ``least`` and ``most`` if there are any."""

    units = ("least", "most")
    drawn = False

    least: int | None = field(default=None, repr=False)
    most: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ends(self.least, self.most)

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the stated bounds."""
        return within(*unbounded(values), self.least, self.most)

    @property
    def said(self) -> tuple[int | None, int | None]:
        """Both ends."""
        return self.least, self.most

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
        """Whether no lower bound is stated, and more than 0 can be behind the mark."""
        return self.least is None and self.most != 0

    def saying(self, least: int) -> Kind:
        """Say what hidden figures are at least, if nothing says it."""
        return replace(self, least=least) if self.unsaid else self


@dataclass(frozen=True)
class Interval(Unshown):
    """Figures whose least and largest value ``Figures`` holds; intervals in place of marks keep what the marks say."""

    name = "interval"
    spans = True

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return no bounds: the ends are not the figure's."""
        return unbounded(values)


@dataclass(frozen=True)
class Simulated(Unshown):
    """Values drawn given the figures published beside them; they reveal nothing but what a mark would say."""

    name = "simulated"
