"""The published figures of one table, in columns: which cells or margins, with what value, of which kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.decimals import decimal_text
from discreet.table.frequencies import Frequencies
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.kinds import EXACT, SUPPRESSED, Kind
from discreet.table.tabulation import Tabulation

Absent: TypeAlias = Literal["empty", "unpublished"]


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """One published table: a row per figure, margins and subtotals among them.

    A figure's cell is a label along each dimension: a category, a node of a hierarchy, or the total code. Values are
    whole numbers of the last decimal published, so that 12.5 with one decimal is 125; a hidden figure has the value 0
    and the kind ``suppressed``. Of figures of the kind ``interval``, the value is the least that is possible, and
    ``upper`` holds the largest; for others ``upper`` says nothing. Nothing of the original is held beside what is
    published.

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

    def __post_init__(self) -> None:
        """Check the figures and freeze them."""
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
        for name in trees:
            if name not in labels:
                raise RequestError(f"there is no dimension {name!r} for its hierarchy; {nearest(name, list(labels))}")
        self._check_labels()
        self._check_values()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle through the constructor."""
        kept = (dict(self.labels), self.codes, self.values, self.kind, self.kinds, self.name, self.decimals)
        return Figures, (*kept, self.total, dict(self.hierarchies), self.absent, self.upper)

    def _check_labels(self) -> None:
        for name, labels in self.labels.items():
            if len(set(labels)) != len(labels):
                twice = next(label for label in labels if labels.count(label) > 1)
                raise DataError(f"{self.name}: dimension {name!r} lists category {twice!r} twice; give it once")
        for name, trees in self.hierarchies.items():
            if len({tree.part for tree in trees}) > 1:
                raise DataError(
                    f"{self.name}: the total of dimension {name!r} is a part of it in one hierarchy but not in the "
                    "other; say the same of both"
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
        for i, kind in enumerate(self.kinds):
            rows = np.flatnonzero(self.kind == i)
            if kind.spans and rows.size:
                ends = None if self.upper is None or self.upper.shape != self.values.shape else self.upper
                wrong = rows if ends is None else rows[ends[rows] < self.values[rows]]
                if wrong.size:
                    row = int(wrong[0])
                    shown = "has no upper end" if ends is None else f"is published as {self.text(row)}"
                    raise DataError(
                        f"{self.name}: cell {self.describe(row)} {shown}; give the lower, then the upper end"
                    )
            if kind.step > 1:
                off = rows[self.values[rows] % kind.step != 0]
                if off.size:
                    row = int(off[0])
                    raise DataError(
                        f"{self.name}: cell {self.describe(row)} is {self.text(row)}, which is not a multiple of the "
                        f"rounding base {kind.step}; give the base that was used, or say that the figure is exact"
                    )

    # --- making -------------------------------------------------------------------------------------------

    @classmethod
    def from_array(
        cls,
        array: Any,
        dimensions: Mapping[str, Sequence[object]],
        *,
        kind: Kind = EXACT,
        mark: Kind = SUPPRESSED,
        **about: Any,
    ) -> Figures:
        """Build figures from nested lists; None hides a figure, and a category called as the total is a margin.

        ``mark`` is what a reader knows of those that are hidden: where it says nothing and zeros are shown, that they
        are above 0; ``Kind("suppressed", least=0)`` says that zeros are hidden too.
        """
        cells = np.array(array, dtype=object)
        shape = tuple(len(labels) for labels in dimensions.values())
        if cells.shape != shape:
            raise DataError(f"the figures have the shape {cells.shape}, but the categories {shape}; give one per cell")
        flat = cells.ravel()
        hidden = np.array([value is None for value in flat])
        values = np.array([0 if value is None else int(value) for value in flat], np.int64)
        codes = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
        labels = {name: tuple(str(label) for label in found) for name, found in dimensions.items()}
        return cls(labels, codes, values, hidden.astype(np.int64), (kind, mark), **about).marked()

    @classmethod
    def of_table(cls, table: Frequencies, kind: Kind, *, zeros: bool = False, **about: Any) -> Figures:
        """Return the inner counts of a table as figures of one kind; empty cells are published as empty.

        Empty cells are listed with ``zeros``, and always where a figure of 0 need not mean that a cell is empty.
        """
        if kind.exact and not zeros:
            cells, values = table.cells, table.counts
        else:
            # A zero is a figure like any other once values were moved; only structural zeros are known to be empty.
            cells = np.setdiff1d(np.arange(table.size), table.impossible)
            values = table.at(cells)
        codes = np.stack(table.grid.decode(cells), axis=1)
        labels = {dimension.name: dimension.categories for dimension in table.dimensions}
        return cls(labels, codes, values, np.zeros(values.size, np.int64), (kind, SUPPRESSED), **about)

    @classmethod
    def of_tabulation(
        cls,
        tabulation: Tabulation,
        *,
        response: str | None = None,
        hidden: Any = None,
        values: IntArray | None = None,
        kind: Kind = EXACT,
        mark: Kind = SUPPRESSED,
        **about: Any,
    ) -> Figures:
        """Return the cells and margins of a tabulation as figures, with its hierarchies.

        Args:
            tabulation: the cells.
            response: the magnitude that is published; by default the first, or the counts where there is none.
            hidden: true for the cells that are suppressed; their values do not enter the figures.
            values: published values where they are not the sums themselves, in units of the last decimal of the sums.
            kind: what a reader knows of the true values behind the figures that are shown.
            mark: what a reader knows of those that are hidden.
            about: the name and other fields of the figures.

        >>> from discreet.table.table import Table
        >>> by_sex = Tabulation.from_table(Table.from_array([3, 5], {"sex": ["m", "f"]}))
        >>> Figures.of_tabulation(by_sex, hidden=[False, True, True])
        release: sex (3), 3 figures, 2 hidden (exact, suppressed)
        """
        units, decimals = units_of(tabulation, response)
        shown = units if values is None else np.asarray(values, np.int64)
        covered = np.zeros(shown.size, bool) if hidden is None else np.asarray(hidden, bool)
        return cls(
            {axis.name: axis.codes for axis in tabulation.axes},
            np.stack([tabulation.codes(axis.name) for axis in tabulation.axes], axis=1),
            np.where(covered, 0, shown),
            covered.astype(np.int64),
            (kind, mark),
            decimals=decimals,
            total=tabulation.axes[0].codes[0],
            hierarchies={axis.name: axis.hierarchies for axis in tabulation.axes},
            **about,
        )

    # --- what is in it ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(self.labels)

    def part(self, name: str) -> str | None:
        """Return the code of a dimension's total where it is of the categories in its hierarchy only, None otherwise.

        >>> east = Hierarchy.flat(["e1", "e2"]).as_part("East")
        >>> shown = Figures.from_array([3, 1, 4], {"x": ["e1", "e2", "East"]}, hierarchies={"x": (east,)})
        >>> shown.part("x"), shown.is_total("x", "East"), shown.is_total("x", "e1")
        ('East', True, False)
        """
        trees = self.hierarchies.get(name, ())
        return trees[0].total if trees and trees[0].part else None

    def is_total(self, name: str, label: str) -> bool:
        """Say whether a label is the total of a dimension: the total code, or that of one of its hierarchies."""
        return label == self.total or any(label == tree.total for tree in self.hierarchies.get(name, ()))

    @property
    def hidden(self) -> Any:
        """True where the figure is suppressed."""
        hides = np.array([kind.hidden for kind in self.kinds])
        return hides[self.kind]

    @property
    def stated(self) -> tuple[bool, ...]:
        """Whether each kind says all that a reader who knows the method learns from a figure of it.

        Intervals do where all counts of their range are hidden, and no others; those that stand for figures suppressed
        by choice do not.
        """
        limit = max((kind.hides for kind in self.kinds), default=0)
        return tuple(kind.stated or (kind.spans and limit > 0) for kind in self.kinds)

    @property
    def unsaid(self) -> bool:
        """Whether nothing says if a figure that is hidden can be 0."""
        return any(self.kinds[i].unsaid for i in np.unique(self.kind).tolist())

    @property
    def shows_zeros(self) -> bool:
        """Whether cells are seen to be empty: by a figure of 0 that is exact, or because they have no row.

        >>> Figures.from_array([3, None, 0], {"x": list("abc")}).shows_zeros
        True
        """
        exact = np.array([kind == EXACT for kind in self.kinds])[self.kind]
        if (exact & (self.values == 0)).any():
            return True
        inner = np.ones(len(self), bool)
        for column, (name, labels) in zip(self.codes.T, self.labels.items(), strict=True):
            sums = {self.total} | {t.codes[p] for t in self.hierarchies.get(name, ()) for p in t.parents if p >= 0}
            inner &= np.array([label not in sums for label in labels])[column]
        if self.absent != "empty" or not inner.any() or not (exact | self.hidden)[inner].all():
            return False
        cells = math.prod(np.unique(column[inner]).size for column in self.codes.T)
        return int(inner.sum()) < cells

    def marked(self, *, above_zero: bool | None = None) -> Figures:
        """Return the figures with marks that say nothing of zeros taken to hide none, by default where zeros are shown.

        >>> Figures.from_array([3, None, 0], {"x": list("abc")}, mark=SUPPRESSED).kinds[1].phrase
        'suppressed, at least 1'
        """
        if not self.unsaid or not (self.shows_zeros if above_zero is None else above_zero):
            return self
        return replace(self, kinds=tuple(kind.above_zero() for kind in self.kinds))

    def telling(self) -> Figures:
        """Return the figures without those that are sums of others, which say nothing that these do not.

        >>> shown = Figures.from_array([3, 6], {"sex": ["m", "Total"]}, kind=Kind("random", base=3))
        >>> len(replace(shown, kind=np.array([0, 2]), kinds=(*shown.kinds, Kind("added"))).telling())
        1
        """
        keep = np.array([not kind.summed for kind in self.kinds])[self.kind]
        if keep.all():
            return self
        ends = None if self.upper is None else self.upper[keep]
        return replace(self, codes=self.codes[keep], values=self.values[keep], kind=self.kind[keep], upper=ends)

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value that each figure admits."""
        return self._ranges

    @cached_property
    def _ranges(self) -> tuple[IntArray, IntArray]:
        """The ranges, worked out once for all who ask."""
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
        """Return the number of figures."""
        return int(self.values.size)

    def __str__(self) -> str:
        """Say what is published and how much of it is hidden."""
        spread = " × ".join(f"{name} ({len(labels)})" for name, labels in self.labels.items())
        made = ", ".join(dict.fromkeys(kind.phrase for i, kind in enumerate(self.kinds) if (self.kind == i).any()))
        return f"{self.name}: {spread}, {len(self):,} figures, {int(self.hidden.sum()):,} hidden ({made})"

    __repr__ = __str__


def units_of(tabulation: Tabulation, response: str | None = None) -> tuple[IntArray, int]:
    """Return the sums of a response, or the counts, as whole numbers of their last decimal, and how many decimals."""
    tabulation.check_publishable()
    if not tabulation.responses:
        return tabulation.records, 0
    chosen = tabulation.responses[0 if response is None else tabulation.response(response)]
    # A large sum is known to a few units of its last binary digit only.
    near = np.maximum(4 * np.finfo(np.float64).eps * np.abs(chosen.sums), 1e-9)
    decimals = next((d for d in range(7) if (np.abs(chosen.sums - np.round(chosen.sums, d)) <= near).all()), 6)
    return np.rint(chosen.sums * 10**decimals).astype(np.int64), decimals
