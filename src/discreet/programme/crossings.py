"""Which tables of a plan are one problem, which contain others, and what they share; this needs no figures.

A table shows all combinations of its dimensions, down to a level of each, with all margins. It is contained in another
that crosses at least the same dimensions down to at least the same levels. Tables of one variable about one period
share at least their grand total, so they are one cluster: a figure that one of them hides may follow from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from discreet.core.json_types import Json

FINEST = 10**6
"""The level of a dimension without a cut: deeper than any hierarchy."""


@dataclass(frozen=True)
class Crossing:
    """A table as its cluster sees it: what it is about, and how far down it crosses which dimensions.

    ``variable`` is the root of its indicators, ``indicator`` the one shown, ``tied`` whether there are others in its
    tree; ``where`` are the categories that its people are in, where it is of some only. ``part`` are the totals of
    dimensions of which it shows some categories only.
    """

    name: str
    variable: str
    indicator: str
    period: str
    levels: Mapping[str, int]
    where: Mapping[str, str]
    tied: bool = False
    part: Mapping[str, str] = field(default_factory=dict)

    @property
    def family(self) -> tuple[str, str]:
        """Its variable and period: tables that differ in either have no figure in common."""
        return self.variable, self.period

    def within(self, other: Crossing) -> bool:
        """Say whether all figures of this table are among those of another, of whatever indicator of one tree."""
        if self.family != other.family or not other.where.items() <= self.where.items():
            return False
        # A level that is cut may not go down to the category.
        fixed = all(
            other.where.get(name) == code or other.levels.get(name) == FINEST for name, code in self.where.items()
        )
        return fixed and all(level <= other.levels.get(name, -1) for name, level in self.levels.items())


@dataclass(frozen=True)
class TableFamily:
    """Tables that are protected as one: the first contains all others, and tied indicators are one dimension more."""

    tables: tuple[Crossing, ...]

    @property
    def name(self) -> str:
        """The tables' names, joined."""
        return "+".join(one.name for one in self.tables)

    @cached_property
    def widest(self) -> Crossing:
        """The table that contains all others."""
        return next(one for one in self.tables if all(other.within(one) for other in self.tables))

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """The dimensions that it crosses or is cut by."""
        return frozenset([*self.widest.levels, *self.widest.where])


@dataclass(frozen=True)
class Cluster:
    """Tables that are protected in one problem."""

    variable: str
    period: str
    groups: tuple[TableFamily, ...]

    @property
    def name(self) -> str:
        """The cluster's name: its variable, and its period if tables have their own."""
        return " ".join(part for part in (self.variable or "count", self.period) if part)

    @property
    def tables(self) -> tuple[Crossing, ...]:
        """All tables, including those contained in others."""
        return tuple(one for group in self.groups for one in group.tables)

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """All dimensions, in the order in which tables name them."""
        return tuple(dict.fromkeys(n for one in self.tables for n in (*one.levels, *one.where)))

    def shared(self) -> list[tuple[TableFamily, TableFamily, tuple[str, ...]]]:
        """Return the pairs of groups with the dimensions that both cross: the cells of these occur in both.

        What a table of a part adds up is in no table without the dimension.
        """
        found = []
        for one, other in combinations(self.groups, 2):
            both = tuple(name for name in self.dimensions if name in one.dimensions & other.dimensions)
            if {*one.widest.part, *other.widest.part} <= set(both):
                found.append((one, other, both))
        return found

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "cluster": self.name,
            "variable": self.variable,
            "period": self.period,
            "dimensions": list(self.dimensions),
            "protect": [
                {
                    "group": group.name,
                    "tables": [one.name for one in group.tables],
                    "widest": group.widest.name,
                    "dimensions": [name for name in self.dimensions if name in group.dimensions],
                }
                for group in self.groups
            ],
            "shared": [{"groups": [a.name, b.name], "dimensions": list(names)} for a, b, names in self.shared()],
        }


def clusters_of(tables: Sequence[Crossing]) -> tuple[Cluster, ...]:
    """Put tables together that are one problem, and leave out what others contain.

    >>> def table(name, **levels):
    ...     return Crossing(name, "pizza", "pizza", "", levels, {})
    >>> (found,) = clusters_of([table("T1", nuts=2, size=9), table("T2", nuts=3, size=9), table("T3", act=1, nuts=2)])
    >>> [group.name for group in found.groups]
    ['T1+T2', 'T3']
    """
    families: dict[tuple[str, str], list[Crossing]] = {}
    for one in tables:
        families.setdefault(one.family, []).append(one)
    return tuple(Cluster(variable, period, _groups(listed)) for (variable, period), listed in families.items())


def _groups(tables: Sequence[Crossing]) -> tuple[TableFamily, ...]:
    """Assign every table to the first that contains it and is contained in none, and join tied indicators."""
    widest: list[Crossing] = []
    for one in tables:
        if any(one.within(other) for other in widest):
            continue
        widest = [other for other in widest if not other.within(one)] + [one]
    widest.sort(key=tables.index)
    inside: dict[str, list[Crossing]] = {one.name: [] for one in widest}
    for one in tables:
        inside[next(other.name for other in widest if one.within(other))].append(one)
    order = sorted(inside.values(), key=lambda found: tables.index(found[0]))
    return tuple(TableFamily(tuple(found)) for found in order)
