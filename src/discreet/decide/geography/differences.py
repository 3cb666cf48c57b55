"""Differences of unions of zones below a threshold: who can be singled out by subtracting published figures.

An office publishes figures by municipality and the same figures by grid cell. Wherever a union of cells lies inside a
union of municipalities, the difference of the two is known, though nobody printed it. The smallest differences come
from the search for known sums that the ledger uses (:mod:`discreet.decide.ledger.sums`); what that search leaves open
is settled exactly by :mod:`discreet.decide.geography.directed_cuts`. A zone that is below the threshold itself is a
difference too: of that zone and nothing.

The reader knows both maps, every published figure, and in which overlaps of two zones nobody lives, and so where
somebody does: ten people in ten overlaps are one in each, whatever the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import RequestError, with_arguments
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.numerics import BoolArray
from discreet.core.text import Readable
from discreet.decide.geography.directed_cuts import CutSearch
from discreet.decide.geography.territory import Territory
from discreet.decide.ledger.sums import smallest_sums
from discreet.reading.original import reads_original
from discreet.table import Table
from discreet.table.tabulation import Tabulation

SHORT = 2
"""The most zones of a division that are named where space is short."""
LISTED = 20
"""How many differences a text lists."""


@dataclass(frozen=True)
class Difference:
    """A union of zones of one division less a union of zones of the other, and the people in it."""

    people: int
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    divisions: tuple[str, str]
    arithmetic: str
    short: str
    pairs: tuple[int, ...]

    @property
    def zones(self) -> int:
        """How many zones are added and subtracted: 1 for a single zone, 2 for a pair, more for larger unions."""
        return len(self.plus) + len(self.minus)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "people": self.people,
            "plus": {self.divisions[0]: list(self.plus)},
            "minus": {self.divisions[1]: list(self.minus)} if self.minus else {},
            "arithmetic": self.arithmetic,
        }


@dataclass(frozen=True, eq=False, repr=False)
class GeographicDifferences(Readable):
    """Everybody who is in a difference below the threshold, and the smallest differences that show it.

    ``complete`` says whether all smallest differences are listed. Even if not, everybody exposed is counted, unless
    time ran out: then ``unsettled`` pairs of zones were not examined, and anybody there may be singled out.
    """

    territory: Territory
    threshold: int
    found: tuple[Difference, ...]
    complete: bool
    unsettled: int = 0

    @property
    def safe(self) -> bool:
        """Whether nobody is shown to be in a difference below the threshold."""
        return not self.found and not self.unsettled

    @cached_property
    def exposed(self) -> BoolArray:
        """The pairs of zones that are in some difference below the threshold."""
        held = np.zeros(len(self.territory.people), bool)
        held[[pair for one in self.found for pair in one.pairs]] = True
        return held

    @property
    def people(self) -> int:
        """How many people are in differences below the threshold."""
        return int(self.territory.people[self.exposed].sum())

    @property
    def beyond_zones(self) -> int:
        """How many of them are in no published zone below the threshold: only differences give them away."""
        return int(self.territory.people[self.exposed & ~self._small].sum())

    @cached_property
    def _small(self) -> BoolArray:
        """The pairs of zones of which one is below the threshold itself."""
        return np.asarray((self.territory.figures[self.territory.nodes] < self.threshold).any(axis=1), bool)

    @cached_property
    def by_zones(self) -> dict[int, int]:
        """How many people the listed differences find with this many zones and no fewer."""
        least = dict.fromkeys(np.flatnonzero(self._small).tolist(), 1)
        for one in self.found:
            for pair in one.pairs:
                least[pair] = min(one.zones, least.get(pair, one.zones))
        counted: dict[int, int] = {}
        for pair, zones in least.items():
            counted[zones] = counted.get(zones, 0) + int(self.territory.people[pair])
        return dict(sorted(counted.items()))

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        names, total = self.territory.names, int(self.territory.people.sum())
        if self.safe:
            return f"No difference of unions of {names[0]} and {names[1]} has from 1 to {self.threshold - 1} people."
        if not self.found:
            return f"No difference of unions of {names[0]} and {names[1]} was found, but nothing is shown: {self._late}"
        most, number = max(one.zones for one in self.found), len(self.found)
        many = "1 difference" if number == 1 else f"{number:,} differences"
        return (
            f"{self.people:,} of {total:,} people are in differences of unions of {names[0]} and {names[1]} below "
            f"{self.threshold}{self._alone}: {many} of up to {most} {'zone' if most == 1 else 'zones'}. "
            f"{self.beyond_zones:,} of these people {'is' if self.beyond_zones == 1 else 'are'} in no zone that is "
            f"itself below {self.threshold}."
        ) + (f" There may be more: {self._late}" if self.unsettled else "")

    @property
    def _alone(self) -> str:
        """That larger differences count too, if everybody in them is alone where they live."""
        return " or with one person in each overlap" if any(d.people >= self.threshold for d in self.found) else ""

    @property
    def _late(self) -> str:
        """What was not finished in time, and the remedy."""
        left = f"{self.unsettled:,} of {len(self.territory.people):,} pairs of zones were not examined in time"
        return with_arguments(f"{left}; give more (time_limit=, --time-limit).")

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "threshold": self.threshold,
            "divisions": list(self.territory.names),
            "zones": [len(zones) for zones in self.territory.zones],
            "total": int(self.territory.people.sum()),
            "people": self.people,
            "people_beyond_zones": self.beyond_zones,
            "people_by_zones": {str(zones): people for zones, people in self.by_zones.items()},
            "complete": self.complete,
            "safe": self.safe,
            "unsettled": self.unsettled,
            "sentence": self.sentence,
            "differences": [one.to_dict() for one in self.found],
        }

    def to_csv(self) -> str:
        """Return the differences as CSV."""
        rows = ([one.people, " ".join(one.plus), " ".join(one.minus), one.arithmetic] for one in self.found)
        return csv_text(["people", "plus", "minus", "arithmetic"], rows)

    def rows(self, top: int) -> list[list[str]]:
        """Return the first differences in readable form; of long unions, only the number of zones."""
        return [[f"{one.people:,}", one.short] for one in self.found[:top]]

    def __str__(self) -> str:
        shown = [f"  {people}: {arithmetic}" for people, arithmetic in self.rows(LISTED)]
        more = len(self.found) - LISTED
        return "\n".join([self.sentence, *shown, *([f"… and {more:,} more"] if more > 0 else [])])


@reads_original
def geography(
    original: Table | Tabulation,
    threshold: int = 10,
    *,
    divisions: Sequence[str] | None = None,
    time_limit: float | None = None,
) -> GeographicDifferences:
    """Find the differences of unions of zones of two divisions that have fewer people than a threshold.

    Args:
        original: counts by pairs of zones, or records of them: a table, a file or a frame.
        threshold: differences of 1 to ``threshold − 1`` people are found.
        divisions: the two dimensions that are divisions of the territory; by default the table's only two.
        time_limit: seconds; the differences found by then are returned, with the number of pairs that were not
            examined.

    >>> table = Table.from_array([[5, 1, 0], [0, 2, 9]], {"area": ["n", "s"], "grid": ["a", "b", "c"]})
    >>> [one.arithmetic for one in geography(table, 3).found]
    ['area n (6) − grid a (5) = 1', 'area s (11) − grid c (9) = 2']
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | np.integer) or threshold < 2:
        raise RequestError(f"the threshold is {threshold!r}; give an integer of 2 or more (threshold=, --threshold)")
    table = original if isinstance(original, Table) else original.table()
    return differences_of(Territory.of(table, divisions), int(threshold), Clock.within(time_limit))


def differences_of(territory: Territory, threshold: int, clock: Clock | None = None) -> GeographicDifferences:
    """Return the differences in a territory that are found in time."""
    until = clock or Clock()
    system = territory.system()
    light = territory.people < threshold
    # Half of the time is left for the pairs that this search does not settle.
    half = Clock.within(None if until.left is None else until.left / 2)
    known = smallest_sums(system, light, np.ones(len(territory.people), np.int64), threshold, clock=half)
    unions = [union for union, _ in known.found]
    unsettled = 0
    if not known.complete:
        more, unsettled = _left_over(territory, threshold, {pair for union in unions for pair in union}, until)
        unions += more
    found = [_explained(territory, union) for union in unions]
    found += [_explained(territory, union, one_in_each=True) for union in _one_in_each(territory, threshold)]
    ordered = sorted(found, key=lambda one: (one.people, one.zones, one.arithmetic))
    return GeographicDifferences(territory, threshold, tuple(ordered), known.complete, unsettled)


def _one_in_each(territory: Territory, threshold: int) -> list[tuple[int, ...]]:
    """Return the smallest differences of the threshold or more in which everybody is alone in their pair.

    Readers know where somebody lives. A difference of ten people in ten pairs has one in each, and no other difference
    of so many tells a single pair: people can move along a cycle of pairs unless one of them has nobody to spare.
    """
    spare, found, covered = territory.people > 1, list[tuple[int, ...]](), set[int]()
    parts = territory.rounds(spare)[territory.nodes]
    for pair in np.flatnonzero(parts[:, 0] != parts[:, 1]).tolist():
        if pair in covered:
            continue
        near, far = territory.nodes[pair].tolist()
        reached = territory.followed(far, lambda zone, one: zone < territory.first or bool(spare[one]))
        side = territory.followed(near, lambda zone, one: True, reached)
        cut = tuple(one for zone in sorted(side) for other, one in territory.overlaps[zone] if other in reached)
        covered.update(cut)
        found += [cut] if len(cut) >= threshold else []
    return found


def _left_over(
    territory: Territory, threshold: int, covered: set[int], clock: Clock
) -> tuple[list[tuple[int, ...]], int]:
    """Return the lightest differences of pairs still without one, and how many pairs there was no time for."""
    search = CutSearch(territory, threshold)
    found: list[tuple[int, ...]] = []
    pairs = search.light.tolist()
    for number, pair in enumerate(pairs):
        if clock.late:
            return found, sum(one not in covered for one in pairs[number:])
        if pair not in covered and (cut := search.least(pair)) is not None:
            covered.update(cut[0])
            found.append(cut[0])
    return found, 0


def _explained(territory: Territory, union: tuple[int, ...], *, one_in_each: bool = False) -> Difference:
    """Return the difference of a union of pairs with the shorter of its two derivations."""
    side, near = territory.side(union)
    totals, numbers = territory.figures, np.array(side)
    # On the first side, zones of the first division less zones of the second; on the other side the other way round.
    division = 0 if near else 1
    own = (numbers >= territory.first) == division
    plus, minus = numbers[own], numbers[~own]
    people = int(territory.people[list(union)].sum())
    if int(totals[plus].sum() - totals[minus].sum()) != people:
        raise AssertionError(f"the zones of {union} do not add up")
    labels = [tuple(territory.node(number)[1] for number in one.tolist()) for one in (plus, minus)]
    names = (territory.names[division], territory.names[1 - division])
    told = list(zip(names, labels, (totals[plus].tolist(), totals[minus].tolist()), strict=True))
    long, short = (_arithmetic(told, most, people) for most in (territory.size, SHORT))
    if one_in_each:
        long, short = (f"{text}, one in each of {people:,} overlaps" for text in (long, short))
    return Difference(people, labels[0], labels[1], names, long, short, union)


def _arithmetic(found: Sequence[tuple[str, tuple[str, ...], list[int]]], most: int, people: int) -> str:
    """Return sums of zones of two divisions and their difference as a text; more zones than so many are counted."""
    texts: list[list[str]] = []
    for name, zones, figures in found:
        spelled = [f"{name} {zone} ({figure:,})" for zone, figure in zip(zones, figures, strict=True)]
        texts.append(spelled if len(zones) <= most else [f"{len(zones)} zones of {name} ({sum(figures):,})"])
    return f"{' − '.join([' + '.join(texts[0]), *texts[1]])} = {people:,}"
