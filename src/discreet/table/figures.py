"""The published figures of one table, in columns: which cells or margins, with what value, of which kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError, nearest, require
from discreet.core.numerics import BoolArray, IntArray, first_true
from discreet.core.text import Face, Readable, decimal_text, html_table, many
from discreet.table.axis import Axis
from discreet.table.frequencies import Frequencies
from discreet.table.grid import Copied, locate, repeated
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.kinds import EXACT, SUPPRESSED, Kind
from discreet.table.statistic import StatisticColumn
from discreet.table.tabulation import Tabulation

Absent: TypeAlias = Literal["empty", "unpublished"]


class FigureOptions(TypedDict, total=False):
    """Fields of :class:`Figures` that say what its figures are."""

    name: str
    absent: Absent
    upper: IntArray | None
    measure: str
    figure: str
    statistics: tuple[StatisticColumn, ...]


class LaidOut(FigureOptions, total=False):
    """The same, and how labels and values are written."""

    decimals: int
    total: str
    hierarchies: Mapping[str, tuple[Hierarchy, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Figures(Copied, Readable):
    """One published table: a row per figure, margins and subtotals among them.

    A figure's cell is a label along each dimension: a category, a node of a hierarchy, or the total code. Values are
    integers in units of the last decimal published: 12.5 with one decimal is 125. A hidden figure has the value 0 and
    the kind ``suppressed``. A figure of the kind ``interval`` has the least possible value, and ``upper`` holds the
    largest; for others ``upper`` says nothing. It holds nothing of the original beyond what is published.

    ``statistics`` are published beside the figures, which definitions call ``figure``. A table of another quantity, in
    the same cells, has a ``measure`` of its own. ``unit`` is what a file says of the unit of its figures.

    >>> shown = Figures.from_array([[3, None], [1, 5]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> shown.hidden.tolist()
    [False, True, False, False]
    """

    labels: Mapping[str, tuple[str, ...]]
    codes: IntArray
    values: IntArray
    kind: IntArray
    kinds: tuple[Kind, ...] = (EXACT, SUPPRESSED)
    name: str = "release"
    decimals: int = 0
    total: str = TOTAL
    hierarchies: Mapping[str, tuple[Hierarchy, ...]] = field(default_factory=dict)
    absent: Absent = "empty"
    upper: IntArray | None = None
    measure: str = ""
    figure: str = "count"
    statistics: tuple[StatisticColumn, ...] = ()
    unit: str = ""

    def __post_init__(self) -> None:
        labels = {name: tuple(str(label) for label in found) for name, found in self.labels.items()}
        trees = {name: tuple(found) for name, found in self.hierarchies.items()}
        object.__setattr__(self, "labels", MappingProxyType(labels))
        object.__setattr__(self, "hierarchies", MappingProxyType(trees))
        if self.absent not in ("empty", "unpublished"):
            raise RequestError(f"absent is {self.absent!r}; cells without a row are 'empty' or 'unpublished'")
        if not labels:
            raise DataError(f"{self.name} has no dimensions; name at least one")
        for attribute in ("codes", "values", "kind", *(() if self.upper is None else ("upper",))):
            array = np.array(getattr(self, attribute), np.int64)
            array.flags.writeable = False
            object.__setattr__(self, attribute, array)
        if self.codes.shape != (self.values.size, len(labels)) or self.kind.shape != self.values.shape:
            raise DataError(f"{self.name}: give every figure a value, a kind, and a label along each dimension")
        require(trees, labels, "a hierarchy is given, but there is no dimension")
        self._check_labels()
        self._check_values()

    def _check_labels(self) -> None:
        for name, labels in self.labels.items():
            if (twice := repeated(labels)) is not None:
                raise DataError(f"{self.name}: dimension {name!r} lists category {twice!r} twice; give it once")
        for name, trees in self.hierarchies.items():
            if len({tree.part for tree in trees}) > 1:
                raise DataError(
                    f"{self.name}: the total of dimension {name!r} is a part of it in one hierarchy but not in the "
                    "other; say the same about both"
                )
            known = {code for tree in trees for code in tree.codes} | {self.total}
            strange = next((label for label in self.labels[name] if label not in known), None)
            if strange is not None:
                raise DataError(
                    f"{self.name}: category {strange!r} of dimension {name!r} is not in its hierarchy; "
                    f"{nearest(strange, sorted(known))}"
                )
        order = np.lexsort(self.codes.T[::-1])
        again = np.flatnonzero((np.diff(self.codes[order], axis=0) == 0).all(axis=1))
        if again.size:
            row, next_row = int(order[again[0]]), int(order[again[0] + 1])
            raise DataError(
                f"{self.name}: cell {self.describe(row)} is given twice, as {self.text(row)} and as "
                f"{self.text(next_row)}; keep one row per cell"
            )

    def _check_values(self) -> None:
        ends = None if self.upper is None or self.upper.shape != self.values.shape else self.upper
        spans = self.where(lambda kind: kind.spans)
        if (row := first_true(spans if ends is None else spans & (ends < self.values))) is not None:
            shown = "has no upper end" if ends is None else f"is published as {self.text(row)}"
            raise DataError(f"{self.name}: cell {self.describe(row)} {shown}; give the lower, then the upper end")
        step = np.array([kind.step for kind in self.kinds], np.int64)[self.kind]
        if (row := first_true(self.values % step != 0)) is not None:
            raise DataError(
                f"{self.name}: cell {self.describe(row)} is {self.text(row)}, which is not a multiple of the "
                f"rounding base {step[row]}; give the base that was used, or say that the figure is exact"
            )

    @classmethod
    def from_array(
        cls,
        array: object,
        dimensions: Mapping[str, Sequence[object]],
        *,
        kind: Kind = EXACT,
        mark: Kind = SUPPRESSED,
        **about: Unpack[LaidOut],
    ) -> Figures:
        """Build figures from nested lists; None hides a figure, and the category named like the total is a margin.

        ``mark`` is what a reader knows about hidden figures. If it says nothing and zeros are shown, they are above 0;
        ``Kind("suppressed", least=0)`` says that zeros are hidden too.
        """
        cells = np.array(array, dtype=object)
        shape = tuple(len(labels) for labels in dimensions.values())
        if cells.shape != shape:
            raise DataError(f"the figures have the shape {cells.shape}, but the categories {shape}; give one per cell")
        flat = cells.ravel()
        hidden = np.array([value is None for value in flat])
        values = np.array([0 if value is None else int(value) for value in flat], np.int64)
        codes = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
        labels = {name: tuple(map(str, found)) for name, found in dimensions.items()}
        return cls(labels, codes, values, hidden.astype(np.int64), (kind, mark), **about).marked()

    @classmethod
    def of_table(
        cls, table: Frequencies, kind: Kind, *, zeros: bool = False, **about: Unpack[FigureOptions]
    ) -> Figures:
        """Return the inner counts of a table as figures of one kind; empty cells are published as empty.

        Empty cells are listed with ``zeros``, and always if a figure of 0 need not mean that a cell is empty.
        """
        if kind.exact and not zeros:
            cells, values = table.cells, table.counts
        else:
            # A zero is a figure like any other once values were moved; only structural zeros are known to be empty.
            cells = np.setdiff1d(np.arange(table.size), table.impossible)
            values = table.at(cells)
        codes = np.stack(table.grid.decode(cells), axis=1)
        return cls(table.categories_by_name, codes, values, np.zeros_like(values), (kind, SUPPRESSED), **about)

    @classmethod
    def of_tabulation(
        cls,
        tabulation: Tabulation,
        *,
        response: str | None = None,
        hidden: npt.ArrayLike | None = None,
        values: IntArray | None = None,
        kind: Kind = EXACT,
        mark: Kind = SUPPRESSED,
        **about: Unpack[FigureOptions],
    ) -> Figures:
        """Return the cells and margins of a tabulation as figures, with its hierarchies.

        Args:
            tabulation: the cells.
            response: the magnitude that is published; by default the first, or the counts if there is none.
            hidden: true for the cells that are suppressed; their values do not enter the figures.
            values: published values if they are not the sums themselves, in units of the last decimal of the sums.
            kind: what a reader knows of the true values behind the figures shown.
            mark: what a reader knows of the hidden ones.
            about: the name and other fields of the figures.

        >>> from discreet.table.table import Table
        >>> by_sex = Tabulation.from_table(Table.from_array([3, 5], {"sex": ["m", "f"]}))
        >>> Figures.of_tabulation(by_sex, hidden=[False, True, True])
        release: sex (3), 2 figures hidden (exact, suppressed)
        """
        units, decimals = units_of(tabulation, response)
        if tabulation.responses:
            about.setdefault("figure", response or tabulation.responses[0].name)
        shown = units if values is None else np.asarray(values, np.int64)
        covered = np.zeros(shown.size, bool) if hidden is None else np.asarray(hidden, bool)
        return cls(
            tabulation.categories_by_name,
            np.stack(tabulation.grid.decode(tabulation.cells), axis=1),
            np.where(covered, 0, shown),
            covered.astype(np.int64),
            (kind, mark),
            decimals=decimals,
            total=tabulation.axes[0].codes[0],
            hierarchies={axis.name: axis.hierarchies for axis in tabulation.axes},
            **about,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(self.labels)

    def part(self, name: str) -> str | None:
        """Return the code of a dimension's total if it is of the categories in its hierarchy only, otherwise None.

        >>> east = Hierarchy.flat(["e1", "e2"]).as_part("East")
        >>> shown = Figures.from_array([3, 1, 4], {"x": ["e1", "e2", "East"]}, hierarchies={"x": (east,)})
        >>> shown.part("x"), shown.is_total("x", "East"), shown.is_total("x", "e1")
        ('East', True, False)
        """
        trees = self.hierarchies.get(name, ())
        return trees[0].total if trees and trees[0].part else None

    def is_total(self, name: str, label: str) -> bool:
        """Say whether a label is the total of a dimension: the total code, or that of one of its hierarchies."""
        return label == self.total or label in self._totals.get(name, ())

    @cached_property
    def _totals(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(tree.total for tree in trees) for name, trees in self.hierarchies.items()}

    @cached_property
    def named(self) -> dict[str, tuple[str, ...]]:
        """The labels of each dimension that are not totals."""
        return {
            name: tuple(label for label in labels if not self.is_total(name, label))
            for name, labels in self.labels.items()
        }

    def categories(self, name: str) -> list[int]:
        """Return the codes of a dimension that are not totals, in the order of the table."""
        return [i for i, label in enumerate(self.labels[name]) if not self.is_total(name, label)]

    def sums(self, name: str) -> set[str]:
        """Return the labels of a dimension that are sums of others: totals, and nodes of hierarchies."""
        return {self.total}.union(*(tree.sums() for tree in self.hierarchies.get(name, ())))

    def where(self, is_so: Callable[[Kind], bool]) -> BoolArray:
        """Say for each figure whether something is true of its kind."""
        return np.array([is_so(kind) for kind in self.kinds], bool)[self.kind]

    @property
    def hidden(self) -> BoolArray:
        """True where the figure is suppressed."""
        return self.where(lambda kind: kind.hidden)

    @property
    def stated(self) -> tuple[bool, ...]:
        """Whether each kind says all that a reader who knows the method learns from a figure of it.

        Intervals do if exactly the counts of their range are hidden. Intervals in place of figures suppressed by choice
        do not.
        """
        limit = max((kind.hides for kind in self.kinds), default=0)
        return tuple(kind.stated or (kind.spans and limit > 0) for kind in self.kinds)

    @property
    def used(self) -> list[Kind]:
        """The kinds that some figure is of."""
        return [self.kinds[i] for i in np.unique(self.kind).tolist()]

    @property
    def unsaid(self) -> bool:
        """Whether nothing says if a figure that is hidden can be 0."""
        return any(kind.unsaid for kind in self.used)

    @property
    def shows_zeros(self) -> bool:
        """Whether cells are seen to be empty: by a figure of 0 that is exact, or because they have no row.

        >>> Figures.from_array([3, None, 0], {"x": list("abc")}).shows_zeros
        True
        """
        exact = self.where(lambda kind: kind == EXACT)
        if (exact & (self.values == 0)).any():
            return True
        inner = np.ones(len(self), bool)
        for column, (name, labels) in zip(self.codes.T, self.labels.items(), strict=True):
            sums = self.sums(name)
            inner &= np.array([label not in sums for label in labels])[column]
        if self.absent != "empty" or not inner.any() or not (exact | self.hidden)[inner].all():
            return False
        cells = math.prod(np.unique(column[inner]).size for column in self.codes.T)
        return int(inner.sum()) < cells

    def marked(self, least: int | None = None) -> Figures:
        """Return the figures with marks that do not mention zeros taken to hide none, if zeros are shown.

        If it is known what hidden figures are at least, such marks say that.

        >>> Figures.from_array([3, None, 0], {"x": list("abc")}, mark=SUPPRESSED).kinds[1].phrase
        'suppressed, at least 1'
        """
        if not self.unsaid or (least is None and not self.shows_zeros):
            return self
        return replace(self, kinds=tuple(kind.saying(1 if least is None else least) for kind in self.kinds))

    def telling(self) -> Figures:
        """Return the figures without sums of other figures, which add nothing unless a statistic divides by them.

        >>> shown = Figures.from_array([3, 6], {"sex": ["m", "Total"]}, kind=Kind("random", base=3))
        >>> len(replace(shown, kind=np.array([0, 2]), kinds=(*shown.kinds, Kind("added"))).telling())
        1
        """
        keep = ~self.where(lambda kind: kind.summed)
        if keep.all() or self.statistics:
            return self
        ends = None if self.upper is None else self.upper[keep]
        return replace(self, codes=self.codes[keep], values=self.values[keep], kind=self.kind[keep], upper=ends)

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value that each figure admits."""
        return self._ranges

    @cached_property
    def _ranges(self) -> tuple[IntArray, IntArray]:
        """The ranges, computed once."""
        lower, upper = np.zeros_like(self.values), np.zeros_like(self.values)
        for i, kind in enumerate(self.kinds):
            rows = self.kind == i
            if kind.spans and self.upper is not None:
                lower[rows], upper[rows] = self.values[rows], self.upper[rows]
            else:
                lower[rows], upper[rows] = kind.range(self.values[rows])
        lower.flags.writeable = upper.flags.writeable = False
        return lower, upper

    def describe(self, row: int) -> str:
        """Return the cell of a row as a phrase."""
        pairs = zip(self.labels.items(), self.codes[row], strict=True)
        return ", ".join(f"{name}={labels[int(code)]}" for (name, labels), code in pairs)

    def text(self, row: int) -> str:
        """Return a figure as it is published."""
        kind = self.kinds[int(self.kind[row])]
        if kind.hidden:
            return "hidden"
        shown = decimal_text(int(self.values[row]), self.decimals)
        if not kind.spans or self.upper is None:
            return shown
        return f"{shown} to {decimal_text(int(self.upper[row]), self.decimals)}"

    def __len__(self) -> int:
        return int(self.values.size)

    def __str__(self) -> str:
        spread = " × ".join(f"{name} ({len(labels)})" for name, labels in self.labels.items())
        made = ", ".join(dict.fromkeys(kind.phrase for kind in self.used))
        return f"{self.name}: {spread}, {many(int(self.hidden.sum()), 'figure')} hidden ({made})"

    def face(self) -> Face:
        """Return the figures as a cross-table where they fit, and the first of them as a list otherwise."""
        listed = list(self.labels.values())
        if len(listed) == 2 and all(len(labels) <= SHOWN for labels in listed):
            shown = {(i, j): self.text(row) for row, (i, j) in enumerate(self.codes.tolist())}
            empty = self._empty_cells(set(shown))
            rows = [
                [str(label), *(shown.get((i, j), "0" if (i, j) in empty else "") for j in range(len(listed[1])))]
                for i, label in enumerate(listed[0])
            ]
            return Face([" \\ ".join(self.names), *map(str, listed[1])], rows, str(self))
        first = [
            [*(str(labels[code]) for labels, code in zip(listed, codes, strict=True)), self.text(row)]
            for row, codes in enumerate(self.codes[:SHOWN].tolist())
        ]
        first += [["…"] * (len(listed) + 1)] if len(self) > SHOWN else []
        return Face([*self.names, "figure"], first, str(self), len(listed))

    def _empty_cells(self, shown: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return the cells of a two-way table that are empty as they have no row, in lines that show other cells."""
        sums = [self.sums(name) for name in self.names]
        groups = any(found.intersection(labels) for found, labels in zip(sums, self.named.values(), strict=True))
        if self.absent != "empty" or groups:
            return set()
        inner = [self.categories(name) for name in self.names]
        cells = {(i, j) for i, j in shown if i in inner[0] and j in inner[1]}
        down, across = {i for i, _ in cells}, {j for _, j in cells}
        return {(i, j) for i in down for j in across} - shown

    def _repr_html_(self) -> str:
        header, rows, sentence, left = self.face()
        return html_table(header, rows, left, sentence)


SHOWN = 20
"""How many rows and columns of a table a notebook shows."""
MOST_DECIMALS = 6
"""The most decimals of amounts that are kept: a round choice, a millionth of the unit."""


def units_of(tabulation: Tabulation, response: str | None = None) -> tuple[IntArray, int]:
    """Return the sums of a response, or the counts, as integers in units of their last decimal, and the decimals."""
    tabulation.check_publishable()
    if not tabulation.responses:
        return tabulation.records, 0
    chosen = tabulation.responses[0 if response is None else tabulation.response(response)]
    # A large sum is known to a few units of its last binary digit only.
    near = np.maximum(4 * np.finfo(np.float64).eps * np.abs(chosen.sums), 1e-9)
    exact = (d for d in range(MOST_DECIMALS + 1) if (np.abs(chosen.sums - np.round(chosen.sums, d)) <= near).all())
    decimals = next(exact, None)
    largest = float(np.abs(chosen.sums).max(initial=0.0)) * 10**MOST_DECIMALS
    if largest >= 2**62:
        raise DataError(f"a sum of {chosen.name} is {largest:.3g} units of its last decimal, too large; round it")
    units = np.rint(chosen.sums * 10 ** (MOST_DECIMALS if decimals is None else decimals)).astype(np.int64)
    if decimals is not None:
        return units, decimals
    # Amounts were rounded to the last decimal: margins are the sums of what is in them. Those that are further off than
    # rounding explains stay as they are, and are refused where they are used.
    found = units.copy()
    for _, _, rows, slot in families_of(tabulation):
        sums = np.zeros_like(found)
        np.add.at(sums, slot, found[rows])
        times = np.bincount(slot, minlength=found.size)
        summed = (times > 0) & (np.abs(sums - units) <= len(tabulation))
        found[summed] = sums[summed]
    return found, MOST_DECIMALS


def families_of(tabulation: Tabulation) -> Iterator[tuple[Axis, int, IntArray, IntArray]]:
    """Yield the axis, the number of children, the rows of children and those of their sums, for every sum of cells.

    Finer sums come first, and the sums along one dimension before those along the next.
    """
    for number, axis in enumerate(tabulation.axes):
        codes = tabulation.codes(axis.name)
        for parent, children in reversed(axis.families()):
            rows = np.flatnonzero(np.isin(codes, children))
            slot = locate(tabulation.cells, tabulation.grid.moved(tabulation.cells[rows], number, parent))
            yield axis, children.size, rows[slot >= 0], slot[slot >= 0]


def decimal_texts(values: IntArray, decimals: int) -> npt.NDArray[np.str_]:
    """Return integers in units of the last decimal as decimal texts.

    >>> decimal_texts(np.array([-5, 1250]), 2).tolist()
    ['-0.05', '12.50']
    """
    if not decimals:
        return values.astype("U20")
    whole, part = np.divmod(np.abs(values), 10**decimals)
    sign = np.where(values < 0, "-", "")
    points = np.char.add(np.char.add(sign, whole.astype("U20")), ".")
    return np.char.add(points, np.char.zfill(part.astype("U20"), decimals))
