"""The units behind each cell: how many contributors or holdings, what they contribute, and who they are.

A respondent who is in several cells is one reader who knows about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError
from discreet.core.numerics import AnyArray, FloatArray, IntArray, NumberArray, first_true, sorted_runs
from discreet.table.axis import Axis
from discreet.table.grid import Copied, Grid

if TYPE_CHECKING:
    import pyarrow as pa

LevelName: TypeAlias = Literal["contributor", "holding"]
Number = TypeVar("Number", bound=np.generic)
Columns: TypeAlias = Mapping[str, NumberArray | None]
"""Figures by name, with a row per cell; None for none."""


class ColumnChange(Protocol):
    """A function from columns to columns of any content."""

    def __call__(self, column: npt.NDArray[Number], /) -> npt.NDArray[Number]:
        """Return another column."""


class Frozen(Copied):
    """A data class of arrays, which cannot be written to and are compared by what they hold."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, item.name, value)

    def mapped(self, change: ColumnChange) -> Self:
        """Return the same with every array changed, those of bundles inside it too."""

        def changed(value: object) -> object:
            if isinstance(value, tuple):
                return tuple(changed(item) for item in value)
            if isinstance(value, Frozen):
                return value.mapped(change)
            return change(value) if isinstance(value, np.ndarray) else value

        return type(self)(*(changed(getattr(self, item.name)) for item in fields(self)))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Largest(Frozen):
    """For each cell the sum of what its units contribute to a response, and their largest contributions.

    Contributions are absolute values: a loss counts like a gain of the same size. ``top`` has a row per cell,
    largest first, 0 where there are fewer units. The weighted figures hold w·x of the same units in the same order.
    """

    total: FloatArray
    top: FloatArray
    weighted_total: FloatArray | None = None
    weighted_top: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Level(Frozen):
    """How many units are in each cell, and what they contribute to each response.

    Units are contributors, or holdings: groups of contributors that know each other's figures. ``weighted_units``
    adds the weights of the units instead of counting them.
    """

    units: IntArray
    weighted_units: FloatArray | None
    largest: tuple[Largest, ...]

    def columns(self, name: LevelName, responses: Sequence[str]) -> Columns:
        """Return every figure as a column, named as in a file of a tabulation."""
        found: dict[str, NumberArray | None] = {
            f"{name}:units": self.units,
            f"{name}:weighted_units": self.weighted_units,
        }
        for response, largest in zip(responses, self.largest, strict=True):
            found[f"{name}:total:{response}"] = largest.total
            found[f"{name}:weighted_total:{response}"] = largest.weighted_total
            for i in range(largest.top.shape[1]):
                found[f"{name}:top{i + 1}:{response}"] = largest.top[:, i]
                if largest.weighted_top is not None:
                    found[f"{name}:weighted_top{i + 1}:{response}"] = largest.weighted_top[:, i]
        return found

    def refuse_contradictions(self, describe: Callable[[int], str], rounding: float = 0.0) -> None:
        """Refuse largest contributions in a file that would make a rule take a sensitive cell for safe.

        They come largest first, and those of a cell with no more units than are listed add up to its total.
        ``describe`` names a cell, ``rounding`` is how far each figure may be off.
        """
        for largest in self.largest:
            top, total = largest.top, largest.total
            if (row := first_true(np.asarray((np.diff(top, axis=1) > 0).any(axis=1)))) is not None:
                listed = ", ".join(f"{amount:,.10g}" for amount in top[row])
                raise DataError(f"cell {describe(row)}: its largest contributions are {listed}; list the largest first")
            allowed = rounding * (top.shape[1] + 1) + 1e-9 * np.abs(total)
            short = (self.units <= top.shape[1]) & (top.sum(axis=1) < total - allowed)
            if top.shape[1] and (row := first_true(short)) is not None:
                several = f"{self.units[row]:,} largest contributions add up to"
                raise DataError(
                    f"cell {describe(row)}: its {'only contribution is' if self.units[row] == 1 else several} "
                    f"{top[row].sum():,.10g}, but the cell adds up to {total[row]:,.10g}; correct one of them"
                )

    @classmethod
    def from_columns(
        cls, name: LevelName, responses: Sequence[str], columns: Mapping[str, AnyArray], top: int
    ) -> Level:
        """Build a level from the columns that :meth:`columns` returns."""

        def stacked(kind: str, response: str) -> FloatArray:
            return np.stack([columns[f"{name}:{kind}{i + 1}:{response}"] for i in range(top)], axis=1)

        largest = []
        for response in responses:
            weighted = columns.get(f"{name}:weighted_total:{response}")
            heavy = None if weighted is None else stacked("weighted_top", response)
            largest.append(Largest(columns[f"{name}:total:{response}"], stacked("top", response), weighted, heavy))
        return cls(columns[f"{name}:units"], columns.get(f"{name}:weighted_units"), tuple(largest))


@dataclass(frozen=True, eq=False)
class Response(Frozen):
    """A magnitude that is added up over the records of each cell; rules judge it by its ``shadow``, if it has one.

    ``counts`` is true of weights by themselves, whose sums estimate how many people there are.
    """

    name: str
    shadow: str | None
    sums: FloatArray
    weighted_sums: FloatArray | None = None
    counts: bool = False


@dataclass(frozen=True, eq=False)
class Respondents(Frozen):
    """Who contributed what: one entry per respondent and finest cell that it has records in, by respondent and cell.

    A tabulation keeps them if its records name their contributors; a holding represents all its contributors. ``cell``
    is the position of a finest cell of one of the finest margins, or of the cross of all dimensions, whatever margins
    there are; ``records`` is how many the respondent has in it, and ``amounts`` what they sum to, with a row per
    response.
    """

    names: tuple[str, ...]
    unit: IntArray
    cell: IntArray
    records: IntArray
    amounts: FloatArray

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def once(self) -> bool:
        """Whether nobody has two entries, and they are in the order of names."""
        return bool((np.diff(self.unit) > 0).all())

    def moved(self, position: IntArray) -> Respondents:
        """Return the respondents with another position for each entry, added up where positions coincide."""
        if self.once:
            return Respondents(self.names, self.unit, position, self.records, self.amounts)
        order, start = sorted_runs(self.unit, position)
        if start.size == order.size and (order[1:] > order[:-1]).all():
            return Respondents(self.names, self.unit, position, self.records, self.amounts)
        records, amounts = self.records[order], self.amounts[:, order]
        if start.size:
            records, amounts = np.add.reduceat(records, start), np.add.reduceat(amounts, start, axis=1)
        return Respondents(self.names, self.unit[order[start]], position[order[start]], records, amounts)


def named_units(column: pa.ChunkedArray | pa.Array) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct names in an Arrow column, sorted, and the place of every entry among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = column.cast(pa.string()).dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    # Arrow sorts by the bytes of UTF-8, which is the order of characters.
    order = pc.array_sort_indices(coded.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    names: tuple[str, ...] = tuple(coded.dictionary.take(order).to_pylist())
    return names, place[coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)]


def respondents_of(
    axes: Sequence[Axis],
    crossed: Sequence[tuple[str, ...]],
    units: pa.ChunkedArray,
    codes: Sequence[IntArray],
    records: IntArray,
    amounts: FloatArray,
) -> Respondents:
    """Return respondents from entries of the full cross: whose they are, an Arrow column, and a leaf for each axis.

    They are added up to the cells of each crossing of ``crossed``.
    """
    names, unit = named_units(units)
    grid = Grid(tuple(len(axis) for axis in axes))
    order, start = sorted_runs(unit)
    unit, codes, records, amounts = unit[order], [code[order] for code in codes], records[order], amounts[:, order]
    cells = [
        grid.encode(
            [code if axis.name in margin else np.zeros_like(code) for axis, code in zip(axes, codes, strict=True)]
        )
        for margin in crossed
    ]
    if start.size == unit.size and (one := _of_one_entry_each(names, unit, cells, records, amounts)) is not None:
        return one
    whole = Respondents(names, unit, np.zeros(unit.size, np.int64), records, amounts)
    parts = [whole.moved(cell) for cell in cells]
    unit, cell, records = (np.concatenate([getattr(p, name) for p in parts]) for name in ("unit", "cell", "records"))
    together = Respondents(whole.names, unit, cell, records, np.concatenate([p.amounts for p in parts], axis=1))
    return together.moved(cell)


def _of_one_entry_each(
    names: tuple[str, ...], unit: IntArray, cells: Sequence[IntArray], records: IntArray, amounts: FloatArray
) -> Respondents | None:
    """Return respondents of one entry each, who are in a cell of every crossing; None where two of these are one cell.

    Only the cells of each respondent have to be put in order.
    """
    every = np.stack(cells, axis=1)
    every.sort(axis=1)
    if (every[:, 1:] == every[:, :-1]).any():
        return None
    size = len(cells)
    columns = (np.repeat(unit, size), every.reshape(-1), np.repeat(records, size), np.repeat(amounts, size, axis=1))
    for column in columns:
        column.flags.writeable = False
    return Respondents(names, *columns)


def refuse_split(shown: str, contributor: str, holding: str, pairs: Iterable[tuple[str | None, str | None]]) -> None:
    """Refuse records in which a contributor is in two holdings, or in one in some of its records only.

    A holding stands for its contributors. One that is in two would be two readers, each of whom knows a part of what it
    knows itself.

    Args:
        shown: how messages name the records.
        contributor: the column of contributors.
        holding: the column of holdings.
        pairs: a contributor and its holding, None for none; of each record, or of some that matter.

    >>> refuse_split("firms.csv", "firm", "group", [("E", "g1"), ("F", "g1"), ("F", None)])
    Traceback (most recent call last):
    discreet.core.errors.DataError: firms.csv: contributor 'F' of column 'firm' is in holding 'g1' and in no holding \
(column 'group'), so nobody would be judged with all that it knows; give all its records the same holding
    """
    held: dict[str | None, str | None] = {}
    for who, group in pairs:
        if (other := held.setdefault(who, group)) != group:
            known = sorted(name for name in (other, group) if name is not None)
            said = [*(f"holding {name!r}" for name in known), *(["no holding"] if len(known) < 2 else [])]
            raise DataError(
                f"{shown}: contributor {who!r} of column {contributor!r} is in {' and in '.join(said)} (column "
                f"{holding!r}), so nobody would be judged with all that it knows; give all its records the same holding"
            )
