"""Two times or two populations: changes that so few people made that the difference of two tables describes them.

The counts of one table less those of another are a table of people who came, less one of people who left. At least
max(Σ gains, Σ losses) people took part in the change. Where that is only one or two, the cells that changed say what
they are: a newcomer to an area whose religion is the only cell that grew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import IntArray
from discreet.decide.ledger.findings import Change
from discreet.feasible.bounds import bounds
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures

BoolArray = npt.NDArray[np.bool_]


def changes(new: Figures, old: Figures, earlier: str, fewest: int) -> list[Change]:
    """Return the parts of a table that fewer than `fewest` people changed since an earlier one.

    Compared are the finest cells of the dimensions whose categories are the same in both, where both can be worked
    out exactly: the whole table, and every category of every dimension.

    Args:
        new: the table that is to be published.
        old: the table that was published about another time or population.
        earlier: what to call it.
        fewest: changes that this many people or more made are safe.

    >>> sizes = {"area": ["n", "s"], "faith": ["a", "b"]}
    >>> then, now = Figures.from_array([[40, 3], [20, 9]], sizes), Figures.from_array([[40, 4], [31, 2]], sizes)
    >>> [change.where for change in changes(now, then, "2023", 3)]
    ['area=n']
    """
    if new.decimals or old.decimals:
        return []
    first, second = equations_of(old), equations_of(new)
    names = [name for name in new.names if name in old.names and _leaves(first, name) == _leaves(second, name)]
    if not names:
        return []
    before, after = _values(first, names), _values(second, names)
    known = (before[0] == before[1]) & (after[0] == after[1])
    shape = [len(_leaves(second, name)) for name in names]
    moved = np.where(known, after[0] - before[0], 0)
    cells = _Cells(names, [_leaves(second, name) for name in names], before[0], after[0], moved, known)
    found = cells.change("the whole table", np.ones(moved.size, bool), earlier, fewest)
    if found is not None:
        return [found]
    result = []
    codes = np.indices(shape).reshape(len(shape), -1)
    for k, name in enumerate(names if len(names) > 1 else []):
        for code, label in enumerate(_leaves(second, name)):
            part = cells.change(f"{name}={label}", codes[k] == code, earlier, fewest)
            if part is not None:
                result.append(part)
    return result


class _Cells:
    """Cells of both tables side by side."""

    def __init__(
        self,
        names: Sequence[str],
        labels: Sequence[Sequence[str]],
        before: IntArray,
        after: IntArray,
        moved: IntArray,
        known: BoolArray,
    ) -> None:
        self.names, self.labels, self.before, self.after = names, labels, before, after
        self.moved, self.known = moved, known

    def change(self, where: str, inside: BoolArray, earlier: str, fewest: int) -> Change | None:
        """Return the change of a part of the table, if it is known and few people made it."""
        if not self.known[inside].all():
            return None
        moved = self.moved[inside]
        people = int(max(moved[moved > 0].sum(), -moved[moved < 0].sum()))
        if not 0 < people < fewest:
            return None
        chosen = np.flatnonzero(inside & (self.moved != 0))
        cells = tuple((self._name(i), int(self.before[i]), int(self.after[i])) for i in chosen.tolist())
        return Change(earlier, where, people, cells)

    def _name(self, cell: int) -> str:
        codes = np.unravel_index(cell, [len(found) for found in self.labels])
        return ", ".join(f"{n}={found[int(c)]}" for n, found, c in zip(self.names, self.labels, codes, strict=True))


def _leaves(equations: Equations, name: str) -> list[str]:
    axis = equations.space.axes[equations.space.axis(name)]
    return sorted(axis.nodes[i] for i in axis.leaves)


def _values(equations: Equations, names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the bounds of the finest cells of some dimensions, in the order of their sorted labels."""
    space = equations.space
    positions = np.zeros(1, np.int64)
    for name in names:
        axis, stride = space.axes[space.axis(name)], space.strides[space.axis(name)]
        codes = np.array([axis.code(label) for label in _leaves(equations, name)], np.int64)
        positions = (positions[:, None] + stride * codes).ravel()
    at = np.searchsorted(equations.positions, positions)
    found = bounds(equations, at)
    return found.lower[at], found.upper[at]
