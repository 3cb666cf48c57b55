"""What record swapping did: how many units moved, from where, and who could not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.text import html_table
from discreet.protect.swapping.pairs import Swaps, Units, areas_alone


@dataclass(frozen=True)
class SwapReport:
    """How many units were to move and did, from which area, and the risky ones with nobody to swap with.

    For the person who signs, not for publication.
    """

    units: int
    target: int
    moved: int
    by_area: Mapping[str, int]
    risky: int
    risky_moved: int
    unmatched: Mapping[str, int]
    alone: tuple[str, ...]
    what: str = "people"

    @classmethod
    def of(cls, units: Units, swaps: Swaps, pairs: int, threshold: int, what: str) -> SwapReport:
        """Count what was done."""
        moved = swaps.partner >= 0
        risky = units.alike < threshold
        length = len(units.areas)

        def by_area(chosen: Any) -> dict[str, int]:
            counts = np.bincount(units.area[chosen], minlength=length).tolist()
            return {area: count for area, count in zip(units.areas, counts, strict=True) if count}

        return cls(
            int(units.area.size),
            2 * pairs,
            int(moved.sum()),
            by_area(moved),
            int(risky.sum()),
            int((risky & moved).sum()),
            by_area(swaps.unmatched),
            areas_alone(units),
            what,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, and what could not be, in words."""
        found = [
            f"{self.moved:,} of {self.units:,} {self.what} changed places, from {len(self.by_area):,} areas; among "
            f"them {self.risky_moved:,} of {self.risky:,} risky ones."
        ]
        if self.unmatched:
            worst = max(self.unmatched, key=lambda area: self.unmatched[area])
            found.append(
                f"{sum(self.unmatched.values()):,} risky {self.what} have nobody like them in another area to swap "
                f"with, {self.unmatched[worst]:,} of them in {worst}; match on less."
            )
        if self.alone:
            shown = ", ".join(self.alone[:5]) + (f" and {len(self.alone) - 5} more" if len(self.alone) > 5 else "")
            found.append(f"Nobody in {shown} has anybody to swap with.")
        if self.moved < self.target:
            found.append(f"{self.target:,} were to move: the rate is not reached.")
        if self.risky_moved + sum(self.unmatched.values()) < self.risky:
            found.append("The rate is used up before all risky ones moved; raise it.")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "units": self.units,
            "target": self.target,
            "moved": self.moved,
            "moved_by_area": dict(self.by_area),
            "risky": self.risky,
            "risky_moved": self.risky_moved,
            "unmatched_by_area": dict(self.unmatched),
            "areas_alone": list(self.alone),
        }

    def __str__(self) -> str:
        return " ".join(self.notes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[area, f"{n:,}", f"{self.unmatched.get(area, 0):,}"] for area, n in self.by_area.items()]
        return html_table(["area", "moved", "risky, with nobody to swap"], rows, caption=str(self))
