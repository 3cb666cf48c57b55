"""Contributions: who added how much to which cell, for the audit of what contributors learn about each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, require
from discreet.core.numerics import FloatArray, IntArray, first_true, sorted_runs
from discreet.core.text import Readable
from discreet.table.arrow_files import TextOptions, errors_of, read_arrow_rows
from discreet.table.columns import coded_arrow
from discreet.table.counts import Where, amounts_from_arrow
from discreet.table.space import Space
from discreet.table.units import refuse_split


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Readable):
    """One row per contribution: its finest categories, whose it is, and its amount.

    Respondents of one holding know each other's figures: they act as one. ``coalitions`` are further groups of
    respondents or holdings who pool what they know, in addition to each alone.

    >>> firms = Contributions.from_rows([({"size": "4"}, "A", 400), ({"size": "4"}, "B", 600)])
    >>> firms
    2 contributions of 2 respondents by size
    """

    labels: Mapping[str, tuple[str, ...]]
    codes: IntArray
    units: tuple[str, ...]
    unit: IntArray
    values: FloatArray
    coalitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))
        groups = {name: tuple(members) for name, members in self.coalitions.items()}
        object.__setattr__(self, "coalitions", MappingProxyType(groups))
        if (row := first_true(~(np.isfinite(self.values) & (self.values >= 0)))) is not None:
            raise DataError(
                f"row {row + 1}: {self.units[int(self.unit[row])]} contributes {self.values[row]}; give 0 or more"
            )
        require(chain(*groups.values()), self.units, "there is no contributor")

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[Mapping[str, object], object, float]], coalitions: Sequence[Sequence[str]] = ()
    ) -> Contributions:
        """Build contributions from ``(cell, respondent, amount)``; a holding is named in place of its respondents."""
        listed = list(rows)
        if not listed:
            raise DataError("there are no contributions; give at least one")
        names = list(listed[0][0])
        data: dict[str, Sequence[object]] = {name: [str(cell[name]) for cell, _, _ in listed] for name in names}
        data["respondent"] = [str(who) for _, who, _ in listed]
        data["value"] = [float(amount) for _, _, amount in listed]
        return cls.from_arrow(pa.table(data), coalitions=coalitions)

    @classmethod
    def from_arrow(
        cls,
        arrow: pa.Table,
        *,
        value: str = "value",
        respondent: str = "respondent",
        holding: str | None = None,
        coalitions: Sequence[Sequence[str]] = (),
        where: Where = lambda row: f"row {row + 1}",
    ) -> Contributions:
        """Build contributions from columns: dimensions, respondent, amount, and holding if there is one.

        Args:
            arrow: the columns.
            value: the column of amounts.
            respondent: the column that says whose they are.
            holding: the column of holdings; by default one named ``holding``, if there is one.
            coalitions: groups of respondents or holdings who pool what they know.
            where: names the place of a row in messages.
        """
        names = list(arrow.column_names)
        options = {respondent: "respondent=, --contributor", value: "value=, --contribution"}
        for name, option in (options | ({} if holding is None else {holding: "holding=, --holding"})).items():
            require([name], names, f"contributions need a column; name theirs ({option}): there is no column")
        holding = "holding" if holding is None else holding
        who = arrow[respondent].cast(pa.string())
        if holding in names:
            group = pc.fill_null(arrow[holding].cast(pa.string()), "")
            pairs = pa.table({"who": who, "group": group}).group_by(["who", "group"]).aggregate([])
            listed = ((pair["who"], pair["group"] or None) for pair in pairs.to_pylist())
            refuse_split("the contributions", respondent, holding, listed)
            who = pc.if_else(pc.equal(group, ""), who, group)
        units = coded_arrow(respondent, who, where)
        left = [name for name in names if name not in (respondent, value, holding)]
        if not left:
            raise DataError("there is no dimension beside the contributions; add the columns that classify them")
        coded = {name: coded_arrow(name, arrow[name], where) for name in left}
        return cls(
            {name: tuple(column.categories) for name, column in coded.items()},
            np.stack([column.codes for column in coded.values()], axis=1),
            tuple(units.categories),
            units.codes,
            amounts_from_arrow(arrow[value], "the value", where),
            {" + ".join(members): tuple(members) for members in coalitions},
        )

    def spread(self, space: Space) -> tuple[IntArray, IntArray, FloatArray]:
        """Return position, unit and amount for every sum of the space that each contribution is in, added up by unit.

        Units after those listed are the coalitions, in their order.
        """
        require(space.names, self.labels, "the contributions lack a dimension that is published: there is no column")
        above = [[axis.above(label) for label in self.labels[axis.name]] for axis in space.axes]
        codes = [self.codes[:, list(self.labels).index(axis.name)] for axis in space.axes]
        rows, position = space.grid.climb(codes, above, "audit fewer dimensions at a time")
        unit, values = self.unit[rows], self.values[rows]
        parts = [(position, unit, values)]
        for number, members in enumerate(self.coalitions.values()):
            mine = np.isin(unit, [self.units.index(member) for member in members])
            parts.append((position[mine], np.full(int(mine.sum()), len(self.units) + number), values[mine]))
        position, unit, values = (np.concatenate([part[i] for part in parts]) for i in range(3))
        order, start = sorted_runs(position, unit)
        return position[order[start]], unit[order[start]], np.add.reduceat(values[order], start)

    @property
    def names(self) -> tuple[str, ...]:
        """All who can act as one: respondents or holdings, then coalitions."""
        return (*self.units, *self.coalitions)

    def __str__(self) -> str:
        return f"{self.values.size:,} contributions of {len(self.units):,} respondents by {' × '.join(self.labels)}"


def read_contributions(
    path: str | Path,
    *,
    value: str = "value",
    respondent: str = "respondent",
    holding: str | None = None,
    coalitions: Sequence[Sequence[str]] = (),
    **text: Unpack[TextOptions],
) -> Contributions:
    """Read contributions from a Parquet or CSV (``encoding``, ``delimiter``) file; see ``Contributions.from_arrow``."""
    arrow, where = read_arrow_rows(path, **text)
    with errors_of(path):
        return Contributions.from_arrow(
            arrow, value=value, respondent=respondent, holding=holding, coalitions=coalitions, where=where
        )
