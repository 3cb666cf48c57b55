"""Finished tables as a programme: a folder of files, each a table, linked by the dimensions that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DiscreetError, RequestError
from discreet.programme.crossings import FINEST, Cluster, Crossing, TableFamily
from discreet.programme.plan_model import Programme
from discreet.protect.base import Originals
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table.axis import Axis
from discreet.table.grid import Grid, recode
from discreet.table.tabulation import Tabulation
from discreet.table.units import Number


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
    """Return linked tables as one tabulation: every cell once, as the first table that shows it has it."""
    axes: dict[str, Axis] = {}
    for table in tables:
        for axis in table.axes:
            known = axes.get(axis.name)
            trees = dict.fromkeys([*(known.hierarchies if known else ()), *axis.hierarchies])
            axes[axis.name] = Axis(axis.name, tuple(trees))
    grid = Grid(tuple(len(axis) for axis in axes.values()))
    places = []
    for table in tables:
        codes = [
            recode(table.axis(name).codes, axis.codes)[table.codes(name)]
            if name in table.names
            else np.zeros(len(table), np.int64)
            for name, axis in axes.items()
        ]
        places.append(grid.encode(codes))
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


def clusters_in(plan: Programme) -> tuple[Cluster, ...]:
    """Return which tables of a plan are one problem; what finished tables cross is in their files."""
    if plan.tables[0].file is None:
        return plan.clusters()
    return tuple(one.cluster for one in finished_clusters(plan))


def _refuse_other_totals(tables: Mapping[str, Tabulation]) -> None:
    """Refuse tables of one variable that call the total of a dimension otherwise: one may be of a part only."""
    first: dict[str, tuple[str, str]] = {}
    for name, one in tables.items():
        for axis in one.axes:
            total, other = first.setdefault(axis.name, (axis.total, name))
            if total != axis.total:
                raise RequestError(
                    f"the total of dimension {axis.name!r} is {total!r} in table {other!r} and {axis.total!r} in table "
                    f"{name!r}; give both the same code if both are of everybody, or else put the table of a part into "
                    "a plan of its own, with the same ledger"
                )


def finished_clusters(plan: Programme) -> list[FinishedCells]:
    """Read the tables of a plan, and put those of one variable together."""
    families: dict[str, dict[str, Tabulation]] = {}
    for table in plan.tables:
        assert table.file is not None
        trees = {name: [str(plan.place(f)) for f in said.files] for name, said in plan.dimensions.items() if said.files}
        own = {name: found for name, found in trees.items() if not table.by or name in table.by}
        how = {"value": table.value, "hierarchies": own or None, "count": table.count, "dimensions": table.by or None}
        reading = Reading.of(how)
        try:
            found = open_original(plan.place(table.file), reading).tabulation()
        except DiscreetError as error:
            raise type(error)(f"table {table.name!r}: {error}") from None
        if found.weighted is not None or found.holdings is not None:
            raise RequestError(f"table {table.name!r} holds weights or holdings; tabulate its records by the plan")
        variable = found.responses[0].name if found.responses else ""
        families.setdefault(variable, {})[table.name] = found
    made = []
    for variable, tables in families.items():
        _refuse_other_totals(tables)
        crossings = [
            Crossing(name, variable, variable, "", dict.fromkeys(one.names, FINEST), {}) for name, one in tables.items()
        ]
        made.append(FinishedCells(Cluster(variable, "", tuple(TableFamily((one,)) for one in crossings)), tables))
    return made
