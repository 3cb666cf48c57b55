"""The space of published positions: the labels along every dimension, and which of them are sums of which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.additive_axis import AdditiveAxis
from discreet.table.grid import OnGrid
from discreet.table.joint_axis import joint_axis

if TYPE_CHECKING:
    from discreet.table.figures import Figures


@dataclass(frozen=True)
class Space(OnGrid):
    """All axes; a position is one label along each, numbered in row-major order."""

    axes: tuple[AdditiveAxis, ...]

    @property
    def categories_by_name(self) -> dict[str, tuple[str, ...]]:
        """The labels along each dimension."""
        return {axis.name: axis.nodes for axis in self.axes}

    def axis(self, name: str) -> int:
        """Return the place of a dimension."""
        if name not in self.names:
            raise RequestError(f"there is no dimension {name!r} in what is published; {nearest(name, self.names)}")
        return self.names.index(name)

    def position(self, cell: Mapping[str, object]) -> int:
        """Return the position of a cell; dimensions that it does not name are summed over."""
        codes = {name: self.axes[self.axis(name)].code(label) for name, label in cell.items()}
        return int(self.grid.encode([codes.get(name, 0) for name in self.names]))

    def label(self, position: int) -> dict[str, str]:
        """Return the labels of a position, those of dimensions that are summed over left out where others are not."""
        return self.grid.label(position)

    def describe(self, position: int, decimals: int = 0) -> str:
        """Return a position as a phrase that names only what is not summed over."""
        parts = [
            f"{name}={label}"
            for axis, (name, label) in zip(self.axes, self.label(position).items(), strict=True)
            if label != axis.nodes[0]
        ]
        return ", ".join(parts) or "total"

    def translate(self, positions: IntArray, other: Space) -> IntArray:
        """Return positions of this space as those of another, -1 where it does not have them.

        Dimensions that the other does not have must be summed over.

        >>> import numpy as np
        >>> from discreet.table.figures import Figures
        >>> one, two = (space_of([Figures.from_array([1, 2], {"x": labels})]) for labels in (["a", "b"], ["b", "c"]))
        >>> one.translate(np.arange(3), two).tolist()
        [0, -1, 1]
        """
        theirs = {axis.name: axis for axis in other.axes}
        codes = {axis.name: axis.recode(theirs[axis.name]) for axis in self.axes if axis.name in theirs}
        return self.grid.translate(positions, other.grid, codes)

    def cross(self, codes: Mapping[str, Sequence[int]]) -> IntArray:
        """Return the positions of all combinations of some labels along some dimensions, the others summed over."""
        return self.grid.cross([codes.get(name, (0,)) for name in self.names])


def space_of(parts: Iterable[Figures]) -> Space:
    """Return the space that published tables share: dimensions of the same name are the same dimension.

    >>> from discreet.table.figures import Figures
    >>> by_sex = Figures.from_array([3, 5, 8], {"sex": ["m", "f", "Total"]})
    >>> [axis.nodes for axis in space_of([by_sex]).axes]
    [('Total', 'm', 'f')]
    """
    tables = tuple(parts)
    names = dict.fromkeys(name for table in tables for name in table.names)
    return Space(tuple(joint_axis(name, tables) for name in names))
