"""What counts as safe: limits on intervals and risk, and the verdict on one figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.core.errors import RequestError


@dataclass(frozen=True)
class Limits:
    """The least uncertainty that must remain about every figure that is not published.

    Args:
        width: the feasible interval must be at least this wide (largest minus smallest value).
        dr: the disclosure risk 1/H must be at most this.
        levels: for cells, values that the interval must reach on either side: the true value less and plus its
            protection levels. Keys are cells as sorted tuples of (dimension, label).

    A figure that can be worked out exactly is never safe.
    """

    width: float | None = None
    dr: float | None = None
    levels: Mapping[tuple[tuple[str, str], ...], tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the limits."""
        if self.width is not None and not self.width >= 0:
            raise RequestError(f"the least width is {self.width}; it is 0 or more")
        if self.dr is not None and not self.dr > 0:
            raise RequestError(f"the largest risk is {self.dr}; it is above 0")

    def faults(self, cell: Mapping[str, str], lower: float, upper: float, values: float, dr: float) -> tuple[str, ...]:
        """Return what is wrong with a figure, nothing where it is safe.

        >>> Limits(width=5).faults({}, 3, 6, 4, 0.5)
        ('interval 3 wide, less than 5',)
        """
        if values <= 1:
            return ("can be worked out exactly",)
        found = []
        if self.width is not None and upper - lower < self.width:
            found.append(f"interval {upper - lower:g} wide, less than {self.width:g}")
        if self.dr is not None and dr > self.dr:
            found.append(f"risk {dr:.4g}, more than {self.dr:g}")
        level = self.levels.get(tuple(sorted(cell.items())))
        if level is not None and lower > level[0]:
            found.append("lower protection level not reached")
        if level is not None and upper < level[1]:
            found.append("upper protection level not reached")
        return tuple(found)
