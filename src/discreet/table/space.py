"""The space of published positions: the labels along every dimension, and which of them are sums of which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import LimitError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.additive_axis import AdditiveAxis
from discreet.table.joint_axis import joint_axis

if TYPE_CHECKING:
    from discreet.table.figures import Figures


@dataclass(frozen=True)
class Space:
    """All axes; a position is one label along each, numbered in row-major order."""

    axes: tuple[AdditiveAxis, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(axis.name for axis in self.axes)

    @property
    def strides(self) -> tuple[int, ...]:
        """What one step along each axis adds to a position."""
        lengths = [len(axis.nodes) for axis in self.axes]
        return tuple(math.prod(lengths[i + 1 :]) for i in range(len(lengths)))

    def axis(self, name: str) -> int:
        """Return the place of a dimension."""
        if name not in self.names:
            raise RequestError(f"there is no dimension {name!r} in what is published; {nearest(name, self.names)}")
        return self.names.index(name)

    def position(self, cell: Mapping[str, object]) -> int:
        """Return the position of a cell; dimensions that it does not name are summed over."""
        place = 0
        for name, label in cell.items():
            axis = self.axis(name)
            place += self.strides[axis] * self.axes[axis].code(label)
        return place

    def label(self, position: int) -> dict[str, str]:
        """Return the labels of a position, those of dimensions that are summed over left out where others are not."""
        labels = {}
        for axis, stride in zip(self.axes, self.strides, strict=True):
            labels[axis.name] = axis.nodes[int(position) // stride % len(axis.nodes)]
        return labels

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

        >>> from discreet.table.figures import Figures
        >>> one, two = (space_of([Figures.from_array([1, 2], {"x": labels})]) for labels in (["a", "b"], ["b", "c"]))
        >>> one.translate(np.arange(3), two).tolist()
        [0, -1, 1]
        """
        found = np.zeros(positions.size, np.int64)
        for axis, stride in zip(self.axes, self.strides, strict=True):
            code = positions // stride % len(axis.nodes)
            if axis.name in other.names:
                at = other.names.index(axis.name)
                recode = axis.recode(other.axes[at])
                step, known = other.strides[at] * recode[code], recode[code] >= 0
            else:
                step, known = np.zeros(code.size, np.int64), code == 0
            found = np.where((found >= 0) & known, found + step, -1)
        return found

    def grid(self, axes: Mapping[str, AdditiveAxis]) -> IntArray:
        """Return the positions of all combinations of labels along some axes, the others summed over."""
        positions = np.zeros(1, np.int64)
        for axis, stride in zip(self.axes, self.strides, strict=True):
            codes = axes[axis.name].stated if axis.name in axes else (0,)
            positions = (positions[:, None] + stride * np.array(codes, np.int64)).ravel()
        return positions


def space_of(parts: Iterable[Figures]) -> Space:
    """Return the space that published tables share: dimensions of the same name are the same dimension.

    >>> from discreet.table.figures import Figures
    >>> by_sex = Figures.from_array([3, 5, 8], {"sex": ["m", "f", "Total"]})
    >>> [axis.nodes for axis in space_of([by_sex]).axes]
    [('Total', 'm', 'f')]
    """
    tables = tuple(parts)
    names = dict.fromkeys(name for table in tables for name in table.names)
    space = Space(tuple(joint_axis(name, tables) for name in names))
    if math.prod(len(axis.nodes) for axis in space.axes) >= 2**62:
        raise LimitError(f"the dimensions {list(space.names)} span more positions than can be numbered; audit fewer")
    return space
