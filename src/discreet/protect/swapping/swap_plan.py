"""What is swapped, between whom and how much of it: the settings that swapping tables and records share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.protect.inner_counts import check_share
from discreet.protect.usage import UNLISTED, option


@dataclass(frozen=True)
class SwapPlan:
    """The settings of :class:`~discreet.protect.swapping.RecordSwapping`."""

    area: str = field(metadata=option("What is swapped: the dimension, or column, of areas."))
    match: tuple[str, ...] = field(default=(), metadata=option("What partners have in common, with commas."))
    rate: float = field(default=0.05, metadata=option("The share of all people, or households, that moves."))
    keys: tuple[str, ...] | None = field(default=None, metadata=option("What makes somebody rare, with commas."))
    threshold: int = field(
        default=3, metadata=option("Somebody is risky who shares the keys with fewer than this in the area.")
    )
    household: str | None = field(default=None, metadata=UNLISTED)
    carry: tuple[str, ...] = field(default=(), metadata=UNLISTED)

    def __post_init__(self) -> None:
        """Check the rate, the threshold and the names."""
        check_share(self.rate, "the swap rate")
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | np.integer) or self.threshold < 1:
            raise RequestError(f"the threshold of risk is {self.threshold!r}; give a whole number of 1 or more")
        for what in ("match", "keys", "carry"):
            given = getattr(self, what)
            if isinstance(given, str):
                raise RequestError(f"{what} is {given!r}, one name; give a list of names")
            if given is not None:
                object.__setattr__(self, what, tuple(given))
        if self.area in self.match:
            raise RequestError(f"{self.area!r} is the area that is swapped, so that partners cannot match on it")

    def pairs(self, units: int) -> int:
        """Return how many pairs change places among a number of units.

        >>> SwapPlan("area", rate=0.1).pairs(100)
        5
        """
        return int(self.rate * units / 2 + 1e-9)

    def check_areas(self, areas: Sequence[str]) -> None:
        """Refuse to swap where all people are in one area."""
        if len(areas) < 2:
            only = f"only {areas[0]}" if areas else "none"
            raise DataError(f"there is nobody to swap with: of the areas of {self.area!r}, {only} has people in it")
