"""Which units change places: risky ones first, each with one like it in another area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.numerics import IntArray


@dataclass(frozen=True, eq=False)
class Units:
    """People or households: the area of each, what it must share with a partner, and how many are like it.

    ``alike`` is the number of records with the same keys in the area of the unit's rarest member. ``profile`` orders
    units that share area and match, so that the order of rows does not matter.
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
    unmatched: Any


def choose(units: Units, pairs: int, threshold: int, rng: np.random.Generator) -> Swaps:
    """Choose pairs of units in different areas that share the match: the rarest risky ones first, then any.

    A unit is risky if fewer than ``threshold`` records are like it. Units are drawn in an order of their own, so that
    the order of the rows does not matter.
    """
    from discreet.protect.swapping.kernel import pair_up

    size = units.area.size
    plain = np.lexsort((units.profile, units.match, units.area))
    ties, lots = np.empty(size), rng.random(size)
    ties[plain] = rng.random(size)
    risk = np.minimum(units.alike, threshold)
    order = np.lexsort((ties, risk))
    rank = np.empty(size, np.int64)
    rank[order] = np.arange(size)
    slots = np.lexsort((rank, units.area, units.match))
    match, area = units.match[slots], units.area[slots]
    new = np.concatenate([[True], (np.diff(match) != 0) | (np.diff(area) != 0)])
    bucket = np.empty(size, np.int64)
    bucket[slots] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    begin = np.append(first, size)
    group = np.concatenate([[0], np.cumsum(np.diff(match[first]) != 0)])
    group_begin = np.searchsorted(group, np.arange(int(group[-1]) + 2))
    partner, tried = np.full(size, -1, np.int64), np.zeros(size, bool)
    pair_up(order, bucket, slots, begin, group, group_begin, pairs, lots, partner, tried)
    return Swaps(partner, tried & (partner < 0) & (units.alike < threshold))


def areas_alone(units: Units) -> tuple[str, ...]:
    """Return the areas in which nobody has anybody like them in another area."""
    order = np.lexsort((units.area, units.match))
    match, area = units.match[order], units.area[order]
    start = np.concatenate([[True], np.diff(match) != 0])
    group = np.cumsum(start) - 1
    # Sorted by area within a group, several areas are there if the first and the last differ.
    first = np.flatnonzero(start)
    last = np.append(first[1:], match.size) - 1
    several = (area[first] != area[last])[group]
    can = np.zeros(len(units.areas), bool)
    can[area[several]] = True
    here = np.bincount(units.area, minlength=len(units.areas)) > 0
    return tuple(units.areas[i] for i in np.flatnonzero(here & ~can))


def counts_in(codes: IntArray) -> IntArray:
    """Return for every element how many have its value.

    >>> counts_in(np.array([3, 5, 3])).tolist()
    [2, 1, 2]
    """
    _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    found: IntArray = counts[which]
    return found
