"""Finished tables as a programme: a folder of files, each a table, linked by the dimensions that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, DiscreetError, RequestError, require
from discreet.core.numerics import FloatArray, IntArray, first_true
from discreet.programme.crossings import FINEST, Cluster, Crossing, TableFamily
from discreet.programme.plan_model import DimensionPart, Programme, TablePart, as_list
from discreet.programme.unstated_equations import refuse_unstated_sums
from discreet.protect.base import Originals
from discreet.reading.original import describes_itself, open_original
from discreet.reading.reading import Reading
from discreet.table.arrow_files import read_arrow
from discreet.table.axis import Axis
from discreet.table.grid import Grid, recode
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.hierarchy_reader import read_hierarchy
from discreet.table.roles import FIGURES
from discreet.table.tabulation import Tabulation
from discreet.table.units import Number
from discreet.tabulation.amount_rows import RowColumns, read_rows

NEAR = 1e-6
"""Figures of one cell that differ by less, relative to their size, may differ by their rounding alone."""


@dataclass(frozen=True, eq=False)
class FinishedCells:
    """The cells of finished tables of one variable, which are protected together."""

    cluster: Cluster
    tables: Mapping[str, Tabulation]
    uniform: bool = True

    def axes(self, table: Crossing) -> list[Axis]:
        """Return the axes of a table."""
        return list(self.tables[table.name].axes)

    @property
    def sheets(self) -> tuple[Tabulation, ...]:
        """The tables to protect in one problem."""
        return tuple(self.tables[one.name] for one in self.cluster.tables)

    @cached_property
    def judged(self) -> Tabulation:
        """All cells, those of several tables once."""
        return self.sheets[0] if len(self.sheets) == 1 else joined(self.sheets)

    def forms(self) -> dict[str, Originals]:
        """Return the input of methods: all tables at once."""
        return {"": self.sheets[0] if len(self.sheets) == 1 else list(self.sheets), "none": list(self.sheets)}

    @property
    def keys(self) -> None:
        """Finished tables have no record keys."""
        return None


def joined(tables: tuple[Tabulation, ...]) -> Tabulation:
    """Return linked tables as one tabulation: every cell once, as the first table that shows it has it.

    A total of some categories is one more group of these.
    """
    axes = {name: _joined_axis(name, tables) for name in dict.fromkeys(n for table in tables for n in table.names)}
    grid = Grid(tuple(len(axis) for axis in axes.values()))
    places = []
    for table in tables:
        codes = [
            recode(_codes(table.axis(name), axis), axis.codes)[table.codes(name)]
            if name in table.names
            else np.zeros(len(table), np.int64)
            for name, axis in axes.items()
        ]
        places.append(grid.encode(codes))
    _refuse_contradiction(places, tables)
    cells, first = np.unique(np.concatenate(places), return_index=True)

    def gathered(columns: Iterable[npt.NDArray[Number]]) -> npt.NDArray[Number]:
        return np.concatenate(list(columns))[first]

    head = tables[0]
    responses = tuple(
        replace(one, sums=gathered(table.responses[k].sums for table in tables)) for k, one in enumerate(head.responses)
    )
    largest = tuple(
        replace(one, total=gathered(same.total for same in every), top=gathered(same.top for same in every))
        for k, one in enumerate(head.contributors.largest)
        for every in [[table.contributors.largest[k] for table in tables]]
    )
    units = gathered(table.contributors.units for table in tables)
    level = replace(head.contributors, units=units, largest=largest)
    records = gathered(table.records for table in tables)
    margins = dict.fromkeys(tuple(n for n in axes if n in m) for table in tables for m in table.margins)
    return Tabulation(tuple(axes.values()), tuple(margins), cells, records, None, responses, level)


def _refuse_contradiction(places: Sequence[IntArray], tables: Sequence[Tabulation]) -> None:
    """Refuse tables of one variable that show different figures of one cell, or contributors to it."""
    told = [_told(table) for table in tables]
    for table, found in zip(tables, told, strict=True):
        if len(found) != len(told[0]):
            raise DataError(
                f"{_crossed(tables[0])} and {_crossed(table)} are of one variable, but do not have as many columns of "
                "largest contributions; name as many of both (largest)"
            )
    table_of = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    row_of = np.concatenate([np.arange(len(table)) for table in tables])
    _, first, cell = np.unique(np.concatenate(places), return_index=True, return_inverse=True)
    for what in told[0]:
        numbers = np.concatenate([found[what] for found in told])
        shown = numbers[first][cell]
        if (at := first_true(np.abs(numbers - shown) > NEAR * np.abs(shown))) is None:
            continue
        before = first[cell[at]]
        one, other = (tables[int(table_of[i])] for i in (before, at))
        raise DataError(
            f"{what}cell {one.describe(int(row_of[before]))} is {shown[at]:,.10g} in {_crossed(one)}, but "
            f"{numbers[at]:,.10g} in {_crossed(other)}; correct one of them, or say in the plan how the tables differ: "
            'variable = "…" where one is of other amounts, period = "…" of another time, or, where it is of some '
            'categories only, part = { DIMENSION = "…" } with the code of their total'
        )


def _crossed(table: Tabulation) -> str:
    return " × ".join(table.names)


def _told(table: Tabulation) -> dict[str, FloatArray]:
    """Return what a finished table says of every cell: its figure, how many contribute, and the largest of these."""
    level = table.contributors
    figures = table.responses[0].sums if table.responses else table.records
    tops = level.largest[0].top.T if level.largest else ()
    largest = {f"largest contribution {k} to ": top for k, top in enumerate(tops, 1)}
    return {"": figures.astype(np.float64), "the number of contributors to ": level.units.astype(np.float64), **largest}


def _joined_axis(name: str, tables: Sequence[Tabulation]) -> Axis:
    """Return a dimension with the trees of all tables; those of a part are below the total of everybody.

    Tables do not list codes that are empty in all of them, or finer than they show: others may.
    """
    own = [table.axis(name) for table in tables if name in table.names]
    whole = next((axis.total for axis in own if not axis.part), TOTAL)
    trees = [(tree, {whole: tree.total} if axis.part else {}) for axis in own for tree in axis.hierarchies]
    below: dict[str, dict[str, None]] = {}
    for tree, _ in trees:
        for code, parent in zip(tree.codes[1:], tree.parents[1:], strict=True):
            below.setdefault(tree.codes[parent], {})[code] = None
    found: dict[frozenset[tuple[str, str]], Hierarchy] = {}
    for tree, above in trees:
        pairs = {part: total for total, part in above.items()}
        todo = [(code, tree.codes[parent]) for code, parent in zip(tree.codes[1:], tree.parents[1:], strict=True)]
        pairs |= dict(todo)
        for code, _ in todo:
            more = [(finer, code) for finer in below.get(code, ()) if finer not in pairs]
            pairs |= dict(more)
            todo += more
        found.setdefault(frozenset(pairs.items()), Hierarchy.from_parents(pairs, total=whole, labels=tree.labels))
    return Axis(name, tuple(found.values()))


def _codes(own: Axis, joint: Axis) -> list[str]:
    """Return the codes of a table's dimension as the tables together call them."""
    return list(own.codes) if own.part else [joint.total, *own.codes[1:]]


def clusters_in(plan: Programme) -> tuple[Cluster, ...]:
    """Return which tables of a plan are one problem; what finished tables cross is in their files."""
    if plan.tables[0].file is None:
        return plan.clusters()
    return tuple(one.cluster for one in finished_clusters(plan))


def _refuse_other_totals(tables: Mapping[str, Tabulation]) -> None:
    """Refuse tables of one variable that call the total of everybody otherwise: one may be of a part only."""
    first: dict[str, tuple[str, str]] = {}
    for name, one in tables.items():
        for axis in one.axes:
            if axis.part:
                continue
            total, other = first.setdefault(axis.name, (axis.total, name))
            if total != axis.total:
                raise RequestError(
                    f"the total of dimension {axis.name!r} is {total!r} in table {other!r} and {axis.total!r} in table "
                    f"{name!r}; give both the same code if both are of everybody, or say which one is of some "
                    f'categories only: part = {{ "{axis.name}" = "{axis.total}" }}'
                )


def _opened(plan: Programme, table: TablePart) -> Tabulation:
    """Read a finished table."""
    assert table.file is not None
    file = plan.place(table.file)
    rows = table.value is not None or (table.by and (table.part or _has_subtotals(plan, table, file)))
    if rows and not describes_itself(file):
        return _of_rows(plan, table, file)
    if strange := next((key for key in ("largest", "decimal") if getattr(table, key)), None):
        raise RequestError(f"{strange} is about amounts; name the column of their sums too (value), or leave it out")
    trees = {name: [str(plan.place(f)) for f in said.files] for name, said in plan.dimensions.items() if said.files}
    own = {name: found for name, found in trees.items() if not table.by or name in table.by}
    how = {"value": table.value, "hierarchies": own or None, "count": table.count, "dimensions": table.by or None}
    parts = {name: [code] for name, code in table.part.items()}
    found = open_original(file, Reading.of({**how, "parts": parts or None})).tabulation()
    if lacking := next((name for name, code in table.part.items() if not _is_part(found, name, code)), None):
        raise RequestError(
            f"part: dimension {lacking!r} has no total {table.part[lacking]!r}; name the code of the total in its rows"
        )
    return found


def _is_part(found: Tabulation, name: str, code: str) -> bool:
    return name in found.names and found.axis(name).part and found.axis(name).total == code


def _has_subtotals(plan: Programme, table: TablePart, file: Path) -> bool:
    """Say whether a file has rows of subtotals of its hierarchies."""
    said = {name: plan.dimensions[name] for name in table.by if name in plan.dimensions}
    groups = {
        name: {c for f in one.files for c in _groups(read_hierarchy(plan.place(f)))} for name, one in said.items()
    }
    if not any(groups.values()):
        return False
    rows = read_arrow(file)
    return any(
        name in rows.column_names and not found.isdisjoint(map(str, rows[name].to_pylist()))
        for name, found in groups.items()
    )


def _groups(tree: Hierarchy) -> list[str]:
    """Return the codes of a hierarchy that contain others, without the total."""
    return [tree.codes[parent] for parent in dict.fromkeys(tree.parents[1:]) if parent]


def _of_rows(plan: Programme, table: TablePart, file: Path) -> Tabulation:
    """Read a table of amounts, or of counts with subtotals, in rows."""
    if not table.by:
        raise RequestError(f"{table.file} has amounts; name the columns that classify (by): all others are figures")
    require(table.part, table.by, "part: the table does not cross")
    said = {name: plan.dimensions.get(name, DimensionPart()) for name in table.by}
    return read_rows(
        file,
        RowColumns(table.by, table.value, table.count or FIGURES[0], tuple(as_list(table.largest)), table.decimal),
        totals={name: one.total for name, one in said.items()},
        part=table.part,
        trees={
            name: [_tree(plan.place(own), one.total, table.part.get(name)) for own in one.files]
            for name, one in said.items()
        },
    )


def _tree(file: Path, total: str, part: str | None) -> Hierarchy:
    """Return a hierarchy below the total of a table: all of it, or the branch of a part where it has one."""
    tree = read_hierarchy(file, total=total)
    if part is None:
        return tree
    return (tree.below(part) if part in tree.codes else tree).as_part(part)


def _parts(table: Tabulation) -> dict[str, str]:
    return {axis.name: axis.total for axis in table.axes if axis.part}


def finished_clusters(plan: Programme) -> list[FinishedCells]:
    """Read the tables of a plan, and put those of one variable and period together."""
    families: dict[tuple[str, str], dict[str, Tabulation]] = {}
    for table in plan.tables:
        try:
            found = _opened(plan, table)
        except DiscreetError as error:
            raise type(error)(f"table {table.name!r}: {error}") from None
        if found.weighted is not None or found.holdings is not None:
            raise RequestError(f"table {table.name!r} holds weights or holdings; let the plan tabulate its records")
        variable = table.variable or (found.responses[0].name if found.responses else "")
        families.setdefault((variable, table.period), {})[table.name] = found
    made = []
    for when in dict.fromkeys(period for _, period in families):
        several = [(own[0], own[1], one) for own, tables in families.items() for one in tables.values()]
        refuse_unstated_sums([(variable, one) for variable, period, one in several if period == when])
    for (variable, period), tables in families.items():
        _refuse_other_totals(tables)
        crossings = [
            Crossing(name, variable, variable, period, dict.fromkeys(one.names, FINEST), {}, part=_parts(one))
            for name, one in tables.items()
        ]
        made.append(FinishedCells(Cluster(variable, period, tuple(TableFamily((one,)) for one in crossings)), tables))
    return made
