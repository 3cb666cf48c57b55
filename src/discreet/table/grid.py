"""The geometry of crossed categories: every combination has a number, in row-major order.

A *code* is the place of a category along its dimension, a *position* the number of a combination of codes. Functions
that return codes or positions answer -1 for what is not there; those that take positions take none of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, LimitError, require
from discreet.core.numerics import IntArray, index_ranges

Number = TypeVar("Number", np.int64, np.float64)
MOST = 60_000_000
"""The most sums of combinations that are laid out: a round figure, about 2 GB of arrays."""


@dataclass(frozen=True)
class Grid:
    """All combinations of categories of some dimensions; the last dimension runs fastest.

    ``labels`` names the dimensions and their categories, if they have names.

    >>> grid = Grid.of({"area": ("north", "south"), "age": ("0-17", "18-64", "65+")})
    >>> grid.encode([[0, 1], [2, 0]]).tolist(), grid.describe(3)
    ([2, 3], 'area=south, age=0-17')
    """

    shape: tuple[int, ...]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.size >= 2**63:
            raise LimitError(
                f"the dimensions span {self.size:.3g} cells, more than positions can number; leave some out"
            )

    @classmethod
    def of(cls, labels: Mapping[str, Sequence[str]]) -> Grid:
        """Return the grid of named dimensions."""
        return cls(tuple(len(found) for found in labels.values()), labels)

    @property
    def size(self) -> int:
        """The number of combinations."""
        return math.prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """What one step along each dimension adds to a position."""
        return tuple(math.prod(self.shape[i + 1 :]) for i in range(len(self.shape)))

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(self.labels)

    def encode(self, codes: Iterable[npt.ArrayLike]) -> IntArray:
        """Return the positions of combinations, given a column of codes for each dimension.

        >>> Grid((2, 3)).encode([[1, -1], [2, 0]]).tolist()
        [5, -1]
        """
        position, incomplete = np.zeros((), np.int64), []
        for length, column in zip(self.shape, codes, strict=True):
            code = np.asarray(column)
            code = code if np.can_cast(code.dtype, np.int64) else code.astype(np.int64)
            if position.ndim and position.shape == code.shape:
                position *= length
                position += code
            else:
                position = np.add(position * length, code, dtype=np.int64)
            if code.dtype.kind == "i" and code.size and code.min() < 0:
                incomplete.append(code)
        for code in incomplete:
            position = np.where(code < 0, -1, position)
        return position

    def decode(self, positions: IntArray) -> tuple[IntArray, ...]:
        """Return the codes of positions, a column for each dimension.

        >>> [column.tolist() for column in Grid((2, 3)).decode(np.array([0, 5]))]
        [[0, 1], [0, 2]]
        """
        found: list[IntArray] = []
        for length in self.shape[:0:-1]:
            above = positions // length
            # NumPy divides several times as fast as it finds remainders.
            found.append(positions - above * length)
            positions = above
        return (positions, *reversed(found)) if self.shape else ()

    def code(self, positions: IntArray, axis: int) -> IntArray:
        """Return the codes of positions along one dimension."""
        stride = self.strides[axis]
        codes: IntArray = positions // stride if stride > 1 else positions
        return codes - codes // self.shape[axis] * self.shape[axis] if axis else codes

    def moved(self, positions: IntArray, axis: int, to: npt.ArrayLike) -> IntArray:
        """Return positions with another code along one dimension.

        >>> Grid((2, 3)).moved(np.array([1, 5]), 1, 0).tolist()
        [0, 3]
        """
        return positions + self.strides[axis] * (np.asarray(to, np.int64) - self.code(positions, axis))

    def project(self, positions: IntArray, axes: Sequence[int]) -> IntArray:
        """Return positions in the grid of some dimensions, in the order given.

        >>> Grid((2, 3)).project(np.array([1, 5]), [1]).tolist()
        [1, 2]
        """
        if not axes:
            return np.zeros(positions.shape, np.int64)
        return Grid(tuple(self.shape[i] for i in axes)).encode([self.code(positions, i) for i in axes])

    def cross(self, codes: Iterable[npt.ArrayLike]) -> IntArray:
        """Return the positions of all combinations of some codes along each dimension, in order.

        >>> Grid((2, 3)).cross([[1], [0, 2]]).tolist()
        [3, 5]
        """
        positions = np.zeros(1, np.int64)
        for length, column in zip(self.shape, codes, strict=True):
            positions = (positions[:, None] * length + np.asarray(column, np.int64)).ravel()
        return positions

    def climb(
        self, codes: Iterable[IntArray], above: Iterable[Sequence[Sequence[int]]], remedy: str
    ) -> tuple[IntArray, IntArray]:
        """Return every sum that combinations are in: the number of the combination, and the position of the sum.

        Along each dimension, ``above`` lists for each code those of the sums that it is in.

        >>> [column.tolist() for column in Grid((3,)).climb([np.array([2, 1])], [[(), (0, 1), (0, 2)]], "")]
        [[0, 0, 1, 1], [0, 2, 0, 1]]
        """
        columns = list(codes)
        rows = np.arange(columns[0].size)
        position = np.zeros(rows.size, np.int64)
        for stride, column, sums in zip(self.strides, columns, above, strict=True):
            first = np.cumsum([0, *(len(nodes) for nodes in sums)])
            flat = np.array([node for nodes in sums for node in nodes], np.int64)
            begin, end = first[column[rows]], first[column[rows] + 1]
            if int((end - begin).sum()) > MOST:
                raise LimitError(f"the contributions are in more than {MOST:,} sums; {remedy}")
            again, node = index_ranges(begin, end)
            position, rows = position[again] + stride * flat[node], rows[again]
        return rows, position

    def translate(self, positions: IntArray, other: Grid, codes: Mapping[str, IntArray]) -> IntArray:
        """Return positions of this grid as those of another that shares dimensions with it, -1 where it has none.

        Dimensions join by name; those that only one of the two has are at code 0, their total. For each dimension that
        both have, ``codes`` gives the other's code for each of this grid's, -1 for none.

        >>> one, two = Grid.of({"x": "ab", "y": "cd"}), Grid.of({"y": "dc", "z": "ef"})
        >>> one.translate(np.array([0, 1, 3]), two, {"y": np.array([1, 0])}).tolist()
        [2, 0, -1]
        """
        placed = {name: codes[name][self.code(positions, self.names.index(name))] for name in codes}
        found = other.encode([placed.get(name, np.zeros(positions.shape, np.int64)) for name in other.names])
        for axis, name in enumerate(self.names):
            if name not in codes:
                found = np.where(self.code(positions, axis) == 0, found, -1)
        return found

    def label(self, position: int) -> dict[str, str]:
        """Return the categories of one combination, by dimension."""
        sizes = zip(self.labels.items(), self.strides, self.shape, strict=True)
        return {name: found[position // stride % length] for (name, found), stride, length in sizes}

    def describe(self, position: int) -> str:
        """Return the categories of one combination as a phrase."""
        return ", ".join(f"{name}={label}" for name, label in self.label(position).items())


class Copied:
    """Base of frozen data classes, which are copied and pickled through their constructor, mappings thawed."""

    def __reduce__(self) -> tuple[object, ...]:
        values = (getattr(self, item.name) for item in fields(self))  # type: ignore[arg-type]
        return type(self), tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)


class OnGrid:
    """Base of classes with named dimensions and a grid over them."""

    @property
    def categories_by_name(self) -> Mapping[str, Sequence[str]]:
        """The categories of each dimension."""
        raise NotImplementedError

    @cached_property
    def grid(self) -> Grid:
        """The geometry of all combinations of categories."""
        return Grid.of(self.categories_by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return self.grid.names

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each dimension."""
        return self.grid.shape

    @property
    def size(self) -> int:
        """The number of combinations of categories, those that cannot occur included."""
        return self.grid.size

    def label(self, position: int) -> dict[str, str]:
        """Return the categories of one combination, by dimension."""
        return self.grid.label(position)

    def describe(self, position: int) -> str:
        """Return the categories of one combination as a phrase."""
        return self.grid.describe(position)


@dataclass(frozen=True)
class Dimension:
    """A classifying variable of a table, with its categories in order.

    Labels are text: a table read from a file and one built from numbers join by the same keys.

    >>> Dimension("sex", (1, 2)).categories
    ('1', '2')
    """

    name: str
    categories: tuple[str, ...]

    def __init__(self, name: str, categories: Iterable[object]) -> None:
        labels = tuple(str(label) for label in categories)
        if not isinstance(name, str) or not name:
            raise DataError(f"dimension name is {name!r}; give a text that is not empty")
        if not labels:
            raise DataError(f"dimension {name!r} has no categories; give at least one")
        if "" in labels:
            raise DataError(f"category {labels.index('') + 1} of dimension {name!r} is empty; label every category")
        if (twice := repeated(labels)) is not None:
            raise DataError(f"dimension {name!r} lists category {twice!r} twice; every label must be unique")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "categories", labels)

    def __len__(self) -> int:
        return len(self.categories)

    def code(self, category: object) -> int:
        """Return the position of a category.

        >>> Dimension("sex", ("m", "f")).code("f")
        1
        """
        require([str(category)], self.categories, f"dimension {self.name!r} has no category")
        return self.categories.index(str(category))

    def codes(self, labels: Iterable[str]) -> IntArray:
        """Return the positions of several categories."""
        known = {label: code for code, label in enumerate(self.categories)}
        return np.array([known[label] if label in known else self.code(label) for label in labels], np.int64)


def grid_of(dimensions: Iterable[Dimension]) -> Grid:
    """Return the grid of all combinations of categories.

    >>> grid_of([Dimension("area", "ns"), Dimension("sex", "mf")]).describe(2)
    'area=s, sex=m'
    """
    return Grid.of({dimension.name: dimension.categories for dimension in dimensions})


def repeated(labels: Sequence[str]) -> str | None:
    """Return the first label that is listed twice, None if all are different."""
    return None if len(set(labels)) == len(labels) else next(one for one in labels if labels.count(one) > 1)


def locate(listed: IntArray, wanted: IntArray, order: IntArray | None = None) -> IntArray:
    """Return the places of numbers in a list without repeats, sorted or with the order that sorts it, -1 for none.

    >>> locate(np.array([2, 5, 7]), np.array([7, 3])).tolist()
    [2, -1]
    """
    if not listed.size:
        return np.full(wanted.shape, -1)
    ordered = listed if order is None else listed[order]
    low, high = int(ordered[0]), int(ordered[-1])
    if high - low < wanted.size:
        # So many numbers are found sooner in a list of all places, with one for none at either end.
        places = np.full(high - low + 3, -1)
        places[ordered - (low - 1)] = np.arange(ordered.size) if order is None else order
        found: IntArray = places[np.clip(wanted, low - 1, high + 1) - (low - 1)]
        return found
    # Without the last one, every number is sent to a place that exists.
    at = np.searchsorted(ordered[:-1], wanted)
    return np.where(ordered[at] == wanted, at if order is None else order[at], -1)


def look_up(listed: IntArray, values: npt.NDArray[Number], wanted: IntArray) -> npt.NDArray[Number]:
    """Return the values that belong to listed numbers, 0 for numbers that the list lacks.

    >>> look_up(np.array([2, 5]), np.array([30, 40]), np.array([5, 3])).tolist()
    [40, 0]
    """
    if not listed.size:
        return np.zeros(wanted.shape, values.dtype)
    at = locate(listed, wanted)
    return np.where(at >= 0, values[at], np.zeros((), values.dtype))


def recode(labels: Iterable[str], among: Iterable[str]) -> IntArray:
    """Return the place of each label among others, -1 for none.

    >>> recode(["b", "z"], ["a", "b"]).tolist()
    [1, -1]
    """
    places = {label: i for i, label in enumerate(among)}
    return np.array([places.get(label, -1) for label in labels], np.int64)


def add_up(positions: IntArray, counts: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the positions below a size that occur, sorted, and the sum of the counts at each."""
    if size <= 4 * positions.size:
        dense = np.zeros(size, np.int64)
        np.add.at(dense, positions, counts)
        cells = np.flatnonzero(dense)
        return cells, dense[cells]
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.add.reduceat(counts[order], starts) if starts.size else counts[:0]
