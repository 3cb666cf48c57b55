"""Two times or two populations: changes made by so few people that the difference of two tables describes them.

The counts of one table less those of another are arrivals less departures. At least
max(Σ gains, Σ losses) people took part in the change. If there are only one or two, the cells that changed describe
them: the religion of an area's only newcomer is the cell that grew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.decide.ledger.check_result import Change
from discreet.decide.ledger.settings import Settings
from discreet.feasible.bounds import bounds
from discreet.table.equations import Equations
from discreet.table.grid import Grid, recode


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """The equations of two tables, the earlier one first, and the seconds for bounding what either hides."""

    old: Equations
    new: Equations
    time_limit: float | None = None

    @cached_property
    def common(self) -> dict[str, list[str]]:
        """The finest categories of every dimension that both have, including groups whose parts only one shows."""
        found = {}
        for name in self.new.space.names:
            if name in self.old.space.names:
                old, new = (
                    (set(leaves(side, name)), set(side.space.categories_by_name[name])) for side in (self.old, self.new)
                )
                found[name] = sorted(old[0] & new[1] | new[0] & old[1])
        return {name: labels for name, labels in found.items() if labels}

    @property
    def covered(self) -> bool:
        """Whether the common categories cover both tables."""
        return all(labels == leaves(self.old, name) == leaves(self.new, name) for name, labels in self.common.items())

    def laid(self, names: Sequence[str], amounts: bool) -> _ChangedCells:
        """Lay the finest common cells of shared dimensions side by side."""
        decimals = max(self.old.decimals, self.new.decimals)
        scales = [10 ** (decimals - side.decimals) for side in (self.old, self.new)]
        labels = [self.common[name] for name in names]
        one, other = (values_of(side, names, labels, self.time_limit) for side in (self.old, self.new))
        known = (one[0] == one[1]) & (other[0] == other[1])
        before, after = (np.where(known, ends[0], 0) * scale for ends, scale in zip((one, other), scales, strict=True))
        return _ChangedCells(names, labels, before, after, known, 10**decimals, amounts)


def changes(pair: ReleasePair, earlier: str, fewest: int, *, amounts: bool = False) -> list[Change]:
    """Return the parts of a table that fewer than `fewest` people changed since the one named `earlier`.

    Cells of categories that both have are compared, where both can be worked out exactly: the whole table, and every
    category of every dimension. If not all of the finest are known in both, so are margins: a newcomer shows in them
    too. With `amounts`, every cell that grew or shrank was changed by at least one contributor.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> sizes = {"area": ["n", "s"], "faith": ["a", "b"]}
    >>> then, now = (Figures.from_array(x, sizes) for x in ([[40, 3], [20, 9]], [[40, 4], [31, 2]]))
    >>> [change.where for change in changes(ReleasePair(equations_of(then), equations_of(now)), "2023", 3)]
    ['area=n']
    """
    names = tuple(pair.common)
    if not names:
        return []
    faces = [pair.laid(names, amounts)]
    if not (faces[0].known.all() and pair.covered):
        fewer = (some for k in range(len(names) - 1, 0, -1) for some in combinations(names, k))
        faces += [pair.laid(some, amounts) for some in fewer]
    found = _change("the whole table", [(face, np.ones(face.known.size, bool)) for face in faces], earlier, fewest)
    if found is not None:
        return [found]
    crossed = {name: [face for face in faces if name in face.names and len(face.names) > 1] for name in names}
    parts = [
        _change(f"{name}={label}", [(face, face.inside(name, code)) for face in crossed[name]], earlier, fewest)
        for name, labels in zip(names, faces[0].labels, strict=True)
        for code, label in enumerate(labels)
    ]
    return [part for part in parts if part is not None]


def _change(where: str, parts: Sequence[tuple[_ChangedCells, BoolArray]], earlier: str, fewest: int) -> Change | None:
    """Return the change of a part of the table, if one of its crossings is known and few people made it.

    Other crossings may show that more people took part.
    """
    least = max((face.people(inside & face.known) for face, inside in parts), default=0)
    if not 0 < least < fewest:
        return None
    for face, inside in parts:
        if face.known[inside].all() and face.people(inside):
            chosen = np.flatnonzero(inside & (face.moved != 0)).tolist()
            cells = tuple((face.name(i), face.told(face.before[i]), face.told(face.after[i])) for i in chosen)
            return Change(earlier, where, least, cells)
    return None


def may_lie_inside(pair: ReleasePair, settings: Settings) -> tuple[str, bool] | None:
    """Return a small count that would follow if one table's people were among the other's, and if the new is larger.

    If each table has a figure that is larger than in the other, neither population holds the other: None.
    Where cells are hidden, sums of them are compared: those of every dimension, and the total.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> wide, narrow = (equations_of(Figures.from_array([n, 89], {"area": ["n", "s"]})) for n in (65, 64))
    >>> may_lie_inside(ReleasePair(narrow, wide), Settings())
    ('area=n has 65 − 64 = 1 between them', True)
    """
    names = tuple(pair.common)
    faces = [pair.laid(face, False) for face in dict.fromkeys([names, *((name,) for name in names), ()])]
    moved = np.concatenate([cells.moved for cells in faces])
    if moved.min() < 0 < moved.max():
        return None
    for cells in faces:
        more = abs(cells.moved)
        for i in np.flatnonzero(cells.known & settings.small(more, more, cells.unit))[:1].tolist():
            less, most = sorted((cells.told(cells.before[i]), cells.told(cells.after[i])))
            text = f"{cells.name(i)} has {most:,} − {less:,} = {most - less:,} between them"
            return text, bool(cells.moved[i] > 0)
    return None


@dataclass(frozen=True, eq=False)
class _ChangedCells:
    """Cells of both tables side by side, in units of the last decimal."""

    names: Sequence[str]
    labels: Sequence[Sequence[str]]
    before: IntArray
    after: IntArray
    known: BoolArray
    unit: int
    amounts: bool

    @property
    def moved(self) -> IntArray:
        return self.after - self.before

    def inside(self, name: str, code: int) -> BoolArray:
        """Say which cells are in a category of a dimension."""
        inside: BoolArray = self._codes[list(self.names).index(name)] == code
        return inside

    @cached_property
    def _codes(self) -> IntArray:
        return np.indices([len(found) for found in self.labels]).reshape(len(self.labels), -1)

    def people(self, inside: BoolArray) -> int:
        """Return a lower bound on how many people took part in a change, 0 where nothing is known."""
        moved = self.moved[inside]
        if not self.amounts:
            return int(max(moved[moved > 0].sum(), -moved[moved < 0].sum()))
        # Amounts that nearly all changed, as they do from year to year, tell nobody apart.
        stayed = np.count_nonzero((moved == 0) & (self.after[inside] > 0))
        return int(max((moved > 0).sum(), (moved < 0).sum())) if stayed >= np.count_nonzero(moved) else 0

    def told(self, value: int) -> float:
        """Return a figure as it was published."""
        return int(value) if self.unit == 1 else int(value) / self.unit

    def name(self, cell: int) -> str:
        """Return a cell as a phrase."""
        if not self.names:
            return "the total"
        return Grid.of(dict(zip(self.names, self.labels, strict=True))).describe(cell)


def leaves(equations: Equations, name: str) -> list[str]:
    """Return the finest categories of a dimension, sorted."""
    axis = equations.space.axes[equations.space.axis(name)]
    return sorted(axis.nodes[i] for i in axis.leaves)


def values_of(
    equations: Equations, names: Sequence[str], labels: Sequence[Sequence[str]], time_limit: float | None
) -> tuple[IntArray, IntArray]:
    """Return the bounds of cells of some dimensions, in the order of their labels."""
    space = equations.space
    codes = [recode(found, space.grid.labels[name]) for name, found in zip(names, labels, strict=True)]
    finest = Grid(tuple(code.size for code in codes))
    placed = finest.decode(np.arange(finest.size))
    columns = {name: code[place] for name, code, place in zip(names, codes, placed, strict=True)}
    total = np.zeros(finest.size, np.int64)
    at = equations.locate(space.grid.encode([columns.get(name, total) for name in space.names]))
    found = bounds(equations, at, time_limit=time_limit)
    return found.lower[at], found.upper[at]
