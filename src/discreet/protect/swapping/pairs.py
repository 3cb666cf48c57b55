"""Which units change places: risky ones first, each with one like it in another area; and the report of who did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import starts_of
from discreet.core.text import html_table
from discreet.protect.checks import check_integer, check_share
from discreet.protect.inner_counts import InnerMethod
from discreet.protect.usage import UNLISTED, option


@dataclass(frozen=True)
class SwapPlan(InnerMethod):
    """The settings of :class:`~discreet.protect.swapping.RecordSwapping`, for tables and for records."""

    area: str = field(metadata=option("What is swapped: the dimension, or column, of areas."))
    match: tuple[str, ...] = field(default=(), metadata=option("What partners have in common, with commas."))
    rate: float = field(default=0.05, metadata=option("The share of all people, or households, that moves."))
    keys: tuple[str, ...] | None = field(default=None, metadata=option("What makes somebody rare, with commas."))
    threshold: int = field(
        default=3, metadata=option("People who share their keys with fewer than this in their area are risky.")
    )
    household: str | None = field(default=None, metadata=UNLISTED)
    carry: tuple[str, ...] = field(default=(), metadata=UNLISTED)

    def __post_init__(self) -> None:
        check_share(self.rate, "the swap rate")
        check_integer(self.threshold, "the threshold of risk")
        for what in ("match", "keys", "carry"):
            given = getattr(self, what)
            if isinstance(given, str):
                raise RequestError(f"{what} is {given!r}, one name; give a list of names")
            if given is not None:
                object.__setattr__(self, what, tuple(given))
        if self.area in self.match:
            raise RequestError(f"{self.area!r} is the area that is swapped, so partners cannot match on it")

    def pairs(self, units: int) -> int:
        """Return the number of pairs that change places among so many units.

        >>> SwapPlan("area", rate=0.1).pairs(100)
        5
        """
        return int(self.rate * units / 2 + 1e-9)

    def check_areas(self, areas: Sequence[str]) -> None:
        """Refuse to swap where all people are in one area."""
        if len(areas) < 2:
            only = f"only {areas[0]}" if areas else "none"
            raise DataError(f"there is nobody to swap with: of the areas of {self.area!r}, {only} has people in it")


@dataclass(frozen=True, eq=False)
class Units:
    """People or households: the area of each, what it must share with a partner, and how many are like it.

    ``alike`` is the number of records with the same keys in the area of the unit's rarest person. ``profile`` orders
    units that share area and match, which makes the order of rows irrelevant.
    """

    area: IntArray
    match: IntArray
    alike: IntArray
    profile: IntArray
    areas: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Swaps:
    """The partner of every unit, -1 where it stays; and the risky units for whom there was nobody to swap with."""

    partner: IntArray
    unmatched: BoolArray


def choose(units: Units, pairs: int, threshold: int, rng: np.random.Generator) -> Swaps:
    """Choose pairs of units in different areas that share the match: the rarest risky ones first, then any.

    A unit is risky if fewer than ``threshold`` records are like it. Units are drawn in an order of their own; that of
    the rows does not matter.
    """
    from discreet.protect.swapping.pair_kernel import Buckets, pair_up

    size = units.area.size
    lots, ties = rng.random(size), np.empty(size)
    ties[np.lexsort((units.profile, units.match, units.area))] = rng.random(size)
    order = np.lexsort((ties, np.minimum(units.alike, threshold)))
    kinds, bucket, sizes = np.unique(_kinds(units), return_inverse=True, return_counts=True)
    slots = np.lexsort((np.argsort(order), bucket))
    group = np.unique(kinds // len(units.areas), return_inverse=True)[1]
    buckets = Buckets(bucket, slots, starts_of(sizes), group, starts_of(np.bincount(group)))
    partner, tried = np.full(size, -1, np.int64), np.zeros(size, bool)
    pair_up(order, buckets, pairs, lots, partner, tried)
    return Swaps(partner, tried & (partner < 0) & (units.alike < threshold))


def _kinds(units: Units) -> IntArray:
    """Return a number for the match and area of each unit, by which those of a match are together."""
    return units.match * len(units.areas) + units.area


def areas_alone(units: Units) -> tuple[str, ...]:
    """Return the areas where nobody has a counterpart in another area."""
    match, area = np.divmod(np.unique(_kinds(units)), len(units.areas))
    return tuple(units.areas[i] for i in np.setdiff1d(units.area, area[counts_in(match) > 1]))


def counts_in(codes: IntArray) -> IntArray:
    """Return for every element how many have its value.

    >>> counts_in(np.array([3, 5, 3])).tolist()
    [2, 1, 2]
    """
    _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    found: IntArray = counts[which]
    return found


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
        moved, risky = swaps.partner >= 0, units.alike < threshold

        def by_area(chosen: BoolArray) -> dict[str, int]:
            counts = np.bincount(units.area[chosen], minlength=len(units.areas)).tolist()
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
            left = sum(self.unmatched.values())
            who = f"{left:,} risky {self.what} have" if left > 1 else f"1 of the risky {self.what} has"
            where = f"{self.unmatched[worst]:,} of them in area {worst}" if left > 1 else f"in area {worst}"
            found.append(f"{who} nobody like them in another area to swap with, {where}; match on less.")
        if self.alone:
            shown = ", ".join(self.alone[:5]) + (f" and {len(self.alone) - 5} more" if len(self.alone) > 5 else "")
            found.append(f"Nobody in {shown} has anybody to swap with.")
        if self.moved < self.target:
            found.append(f"{self.target:,} were to move: the rate is not reached.")
        if self.risky_moved + sum(self.unmatched.values()) < self.risky:
            found.append("The rate is used up before all risky ones moved; raise it.")
        return tuple(found)

    def to_dict(self) -> dict[str, Json]:
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
