"""Coarser zones that leave no difference below a threshold: neighbours merged, or blocks of a quadtree.

A difference separates the zones of a part of the territory into two sides. It is gone once a zone of one side and a
zone of the other are published as one, and merging never makes a new difference: what can be worked out from coarser
figures could be worked out from the finer ones. So zones are merged difference by difference, the smallest first, until
only differences within the other division are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import LimitError, RequestError, require
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.decide.geography.differences import GeographicDifferences, differences_of
from discreet.decide.geography.quadtree import DEEPEST, Quadtree
from discreet.decide.geography.territory import Territory


@dataclass(frozen=True, eq=False)
class CoarserZones:
    """Zones of one division merged, and the differences that are left."""

    division: str
    groups: Mapping[str, str]
    before: GeographicDifferences
    after: GeographicDifferences

    @property
    def recoding(self) -> dict[str, dict[str, list[str]]]:
        """The groups of several zones, as :func:`discreet.protect.redesign` takes them."""
        found: dict[str, list[str]] = {}
        for zone, group in self.groups.items():
            found.setdefault(group, []).append(zone)
        return {self.division: {group: zones for group, zones in found.items() if len(zones) > 1}}

    @property
    def sentence(self) -> str:
        """What was merged, and what is left."""
        merged = self.recoding[self.division]
        inside = sum(len(zones) for zones in merged.values())
        begin = f"{inside:,} of {len(self.groups):,} zones of {self.division} are merged into {len(merged):,}"
        begin = begin if merged else f"No zones of {self.division} are merged"
        if not self.after.found:
            return f"{begin}; no difference below {self.after.threshold} is left."
        return (
            f"{begin}; {len(self.after.found):,} differences below {self.after.threshold} are left, which lie in the "
            "other division alone: merge zones there too."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        at = self.before.territory.names.index(self.division)
        return {
            "division": self.division,
            "zones": [len(self.before.territory.zones[at]), len(self.after.territory.zones[at])],
            "groups": dict(self.groups),
            "left": [one.to_dict() for one in self.after.found],
            "sentence": self.sentence,
        }

    def to_csv(self) -> str:
        """Return a row for every zone with the group that it is published in."""
        return csv_text([self.division, "group"], self.groups.items())


def coarser(
    found: GeographicDifferences, division: str, tree: Quadtree | None = None, *, time_limit: float | None = None
) -> CoarserZones:
    """Return zones of one division merged until it takes part in no difference below the threshold.

    Args:
        found: the differences.
        division: the division that is made coarser.
        tree: the quadtree of its cells, if it is a grid; merged cells are whole blocks of it.
        time_limit: seconds; if the zones are not shown to be coarse enough by then, the request is refused.

    >>> from discreet.decide.geography.differences import geography
    >>> from discreet.table import Table
    >>> table = Table.from_array([[5, 1, 0], [0, 2, 9]], {"area": ["n", "s"], "grid": ["a", "b", "c"]})
    >>> coarser(geography(table, 3), "grid").groups
    {'a': 'a+b+c', 'b': 'a+b+c', 'c': 'a+b+c'}
    """
    before, territory = found, found.territory
    require([division], territory.names, "there is no division")
    at = territory.names.index(division)
    zones = territory.zones[at]
    if tree is not None and not set(zones) <= set(tree.cells):
        missing = next(zone for zone in zones if zone not in tree.cells)
        raise RequestError(f"the grid of {division} has no cell {missing!r}; give a cell for each zone")
    groups = _Joined(zones) if tree is None else _Blocks(zones, tree)
    clock = Clock.within(time_limit)
    while not found.unsettled and found.found and _round(found, at, groups):
        found = differences_of(territory.merged(at, groups.names()), found.threshold, clock)
    if found.unsettled:
        raise LimitError(
            f"no zones of {division} were shown to be coarse enough in time, as {found.unsettled:,} pairs of zones "
            "were not examined; give more (time_limit=, --time-limit)"
        )
    return CoarserZones(division, groups.names(), before, found)


def _round(found: GeographicDifferences, at: int, groups: _Joined | _Blocks) -> bool:
    """Merge two groups for every difference that separates some; say whether any were merged."""
    now, done = found.territory, list[tuple[int, int]]()
    # A zone of each group, by the number of the group in the territory as it is now.
    held = {group: zone for zone, group in groups.names().items()}
    zone_of = {number + at * now.first: held[group] for number, group in enumerate(now.zones[at])}
    for one in found.found:
        near, far = (set(side.tolist()) for side in now.sides(one.pairs))
        mended = any((a in near and b in far) or (a in far and b in near) for a, b in done)
        choice = _Choice(now, at, one.pairs, sorted(near & set(zone_of)), sorted(far & set(zone_of)), zone_of)
        if choice.near and choice.far and not mended:
            pair = groups.choose(choice)
            done.append(pair)
            groups.join(zone_of[pair[0]], zone_of[pair[1]])
    return bool(done)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Zones of one division on both sides of a difference; one of each side is merged."""

    territory: Territory
    at: int
    cut: tuple[int, ...]
    near: Sequence[int]
    far: Sequence[int]
    zone_of: Mapping[int, str]

    def people(self, *numbers: int) -> int:
        """Return how many people are in zones."""
        return int(self.territory.figures[list(numbers)].sum())

    def neighbours(self) -> list[tuple[int, int]]:
        """Return zones that overlap the zones of the other division that the difference lies in; any if none do."""
        nodes, at = self.territory.nodes, self.at
        cut = nodes[list(self.cut)]
        touching = nodes[np.isin(nodes[:, 1 - at], cut[:, 1 - at]), at]
        others = self.far if at == 0 else self.near
        close = sorted(set(others) & set(touching.tolist())) or others
        return [(a, b) for a in sorted({int(number) for number in cut[:, at]}) for b in close]


class _Joined:
    """Zones in groups that are named after their members."""

    def __init__(self, zones: Sequence[str]) -> None:
        self.groups = {zone: [zone] for zone in zones}

    def choose(self, choice: _Choice) -> tuple[int, int]:
        """Return the two neighbours with fewest people."""
        return min(choice.neighbours(), key=lambda pair: (choice.people(*pair), pair))

    def join(self, one: str, other: str) -> None:
        """Merge the groups of two zones."""
        first, second = self.groups[one], self.groups[other]
        if first is not second:
            first += second
            self.groups |= dict.fromkeys(second, first)

    def names(self) -> dict[str, str]:
        """Return the name of every zone's group."""
        order = {zone: i for i, zone in enumerate(self.groups)}
        found = {zone: "+".join(sorted(group, key=order.__getitem__)) for zone, group in self.groups.items()}
        # A zone may have the name of a group already.
        return {z: n if n == z or n not in self.groups else f"{n} (merged)" for z, n in found.items()}


class _Blocks:
    """Cells in blocks of a quadtree, each as small as possible."""

    def __init__(self, zones: Sequence[str], tree: Quadtree) -> None:
        self.tree = tree
        self.level = dict.fromkeys(zones, 0)

    def choose(self, choice: _Choice) -> tuple[int, int]:
        """Return zones of both sides in one block: the smallest block, of those the one with fewest people."""
        for level in range(1, DEEPEST):
            near, far = (self._blocks(side, choice.zone_of, level) for side in (choice.near, choice.far))
            shared = near.keys() & far.keys()
            if shared:
                block = min(shared, key=lambda one: (choice.people(*near[one], *far[one]), one))
                return near[block][0], far[block][0]
        raise AssertionError("a quadtree has a block that holds everything")

    def _blocks(
        self, numbers: Sequence[int], zone_of: Mapping[int, str], level: int
    ) -> dict[tuple[int, int, int], list[int]]:
        found: dict[tuple[int, int, int], list[int]] = {}
        for number in numbers:
            zone = zone_of[number]
            found.setdefault(self.tree.block(zone, max(level, self.level[zone])), []).append(number)
        return found

    def join(self, one: str, other: str) -> None:
        """Merge all cells of the smallest block that holds two cells."""
        level = max(self.tree.level(one, other), self.level[one], self.level[other])
        block = self.tree.block(one, level)
        for zone in self.level:
            if self.tree.block(zone, level) == block:
                self.level[zone] = max(level, self.level[zone])

    def names(self) -> dict[str, str]:
        """Return the name of every cell's block; cells that stay keep theirs."""
        return {
            zone: self.tree.name(self.tree.block(zone, level)) if level else zone for zone, level in self.level.items()
        }
