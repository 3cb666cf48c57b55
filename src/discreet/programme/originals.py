"""The originals of a programme: its records tabulated once for all tables, and the cells of each cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.programme.crossings import Cluster, Crossing, TableFamily
from discreet.programme.plan_model import Programme, RecordsPart, as_list
from discreet.programme.projections import cut_axis, of_response, part_axis, projected, subsets
from discreet.programme.record_columns import columns_held
from discreet.programme.stacking import AMOUNT, INDICATOR, WHO, Contradiction, prepared, stacked
from discreet.programme.unstated_equations import refuse_unstated_equations
from discreet.programme.unstated_nesting import refuse_unstated
from discreet.protect.base import Original, Originals
from discreet.protect.cell_key.keys import KeyedTable, with_record_keys
from discreet.table.axis import Axis
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.table.hierarchy_reader import read_hierarchy
from discreet.table.tabulation import Tabulation
from discreet.tabulation.sources import Source, source_of
from discreet.tabulation.spec import KEYS, LARGEST_KEY, DimensionSpec, ResponseSpec, TableSpec
from discreet.tabulation.tabulate import tabulate, tabulate_with_keys

SECRET_KEY = "record_key"


@dataclass(frozen=True, eq=False)
class ClusterCells:
    """The cells of a cluster: all of them, with their keys where records have some; and its tables.

    ``whole`` has every crossing down to the finest level. Each group of tables is a sheet of its own, as one tabulation
    of all would cross all dimensions.
    """

    cluster: Cluster
    whole: Tabulation
    keys: IntArray | None = None
    modulus: int = KEYS

    @cached_property
    def uniform(self) -> bool:
        """Whether all tables go down to the same levels, of everybody, and show all indicators that there are."""
        groups = [group.widest for group in self.cluster.groups]
        levels: dict[str, set[int]] = {}
        for one in groups:
            for name, level in one.levels.items():
                depth = max(tree.depth for tree in self.whole.axis(name).hierarchies)
                levels.setdefault(name, set()).add(min(level, depth))
        some = any(one.where for one in groups) or INDICATOR in self.whole.names
        return not some and all(len(found) == 1 for found in levels.values())

    def axes(self, table: Crossing) -> list[Axis]:
        """Return the axes of a table, as far down as it goes."""
        found = []
        for axis in self.whole.axes:
            if axis.name in table.where:
                found.append(part_axis(axis.name, table.where[axis.name]))
            elif axis.name in table.levels:
                found.append(cut_axis(axis, table.levels[axis.name]))
            elif axis.name == INDICATOR:
                found.append(axis)
        return found

    @cached_property
    def parts(self) -> tuple[tuple[Tabulation, IntArray], ...]:
        """The sheets to protect by suppression, with the rows of the whole that they list.

        Where tables differ in levels, what has no row need not be empty to a reader of all of them: zeros are listed.
        """
        found = []
        self._refuse_finer_parts()
        for group in self.cluster.groups:
            widest = group.widest
            free = [name for name in (*widest.levels, INDICATOR) if name in self.whole.names]
            made, rows = projected(self.whole, self.axes(widest), subsets(free, widest.where), widest.where)
            found.append((made if self.uniform else made.with_empty_cells(), rows))
        return tuple(found)

    def _refuse_finer_parts(self) -> None:
        """Refuse tables of people of a category that is finer than all tables of everybody go."""
        groups = [group.widest for group in self.cluster.groups]
        for one in groups:
            for name, code in one.where.items():
                cut = [cut_axis(self.whole.axis(name), other.levels[name]) for other in groups if name in other.levels]
                if cut and not any(code in axis.codes for axis in cut):
                    raise RequestError(
                        f"table {one.name!r} is of {name} = {code!r}, but all tables by {name} stop at a coarser "
                        f"level; add one by the level of {code!r} (by), or leave this one out"
                    )

    @property
    def sheets(self) -> tuple[Tabulation, ...]:
        """The tabulations to protect in one problem."""
        return tuple(made for made, _ in self.parts)

    @cached_property
    def finest(self) -> tuple[tuple[Tabulation, IntArray], ...]:
        """The sheets down to the finest levels, of everybody: for methods that change figures one by one."""
        found = []
        for group in self.cluster.groups:
            names = [name for name in self.whole.names if name in group.dimensions or name == INDICATOR]
            found.append(projected(self.whole, [self.whole.axis(name) for name in names], subsets(names), {}))
        return tuple(found)

    @cached_property
    def judged(self) -> Tabulation:
        """The cells that are published, as one tabulation."""
        if len(self.parts) == 1 and self.uniform:
            return self.sheets[0]
        rows = np.unique(np.concatenate([rows for _, rows in self.parts]))
        return self.whole.with_columns(lambda column: column[rows], cells=self.whole.cells[rows])

    @property
    def truth(self) -> list[Original]:
        """The tabulations that every figure of the cluster follows from."""
        return list(self.sheets) if self.uniform else [made for made, _ in self.finest]

    def forms(self) -> dict[str, Originals | list[KeyedTable]]:
        """Return the inputs of methods by name; under no name, that of all others."""
        sheets = list(self.sheets)
        finest = sheets if self.uniform else [made for made, _ in self.finest]
        found: dict[str, Originals | list[KeyedTable]] = {
            "none": sheets,
            "suppress": sheets if len(sheets) > 1 else sheets[0],
        }
        found |= {"": finest if len(finest) > 1 else finest[0]}
        if self.keys is not None:
            where = self.parts if self.uniform else self.finest
            found["cell-key"] = [KeyedTable(made, self.keys[rows], self.modulus) for made, rows in where]
        return found


@dataclass(frozen=True, eq=False)
class RecordsOfPlan:
    """The records of a plan, ready to be tabulated."""

    plan: Programme
    said: RecordsPart
    source: Source
    held: frozenset[str]

    @classmethod
    def of(cls, plan: Programme) -> RecordsOfPlan:
        """Open the records, and check that their columns are there."""
        said = plan.records
        if said is None:
            raise RequestError("records: nothing says where the records are; add [records] with files to the plan")
        files = [str(plan.place(file)) for file in as_list(said.files)]
        source = source_of(
            files if len(files) > 1 else files[0],
            table=said.table,
            query=said.query,
            encoding=said.encoding,
            delimiter=said.delimiter,
            decimal=said.decimal,
        )
        return cls(plan, said, source, columns_held(plan, said))

    def _dimension(self, name: str) -> DimensionSpec:
        """Return a dimension as an engine takes it."""
        said = self.plan.dimensions.get(name)
        if said is None:
            return DimensionSpec(name, outside=self.said.outside)
        trees: list[Hierarchy | Prefixes] = [
            read_hierarchy(self.plan.place(file), total=said.total) for file in said.files
        ]
        if said.prefixes:
            trees.append(Prefixes(said.prefixes))
        return DimensionSpec(name, said.columns, tuple(trees), total=said.total, outside=self.said.outside)

    def spec(self, clusters: Sequence[Cluster], values: Sequence[str], top: int) -> TableSpec:
        """Return what to tabulate for clusters of some values and one weight: every crossing of theirs, once."""
        weight = self.plan.weights[clusters[0].name]
        when = self.said.period if any(cluster.period for cluster in clusters) else None
        names = dict.fromkeys(name for cluster in clusters for name in cluster.dimensions)
        dimensions = [self._dimension(name) for name in names]
        if when is not None and when not in names:
            dimensions.append(DimensionSpec(when))
        crossed = {
            (*group.widest.levels, *group.widest.where, *([when] if when else []))
            for cluster in clusters
            for group in cluster.groups
        }
        margins = {frozenset(part) for names in crossed for part in subsets(names)}
        return TableSpec(
            tuple(dimensions),
            tuple(ResponseSpec(value) for value in values),
            contributor=self.said.contributor,
            holding=self.said.holding,
            weight=weight,
            estimates=weight is not None,
            margins=tuple(sorted(tuple(sorted(m)) for m in margins)),
            top=top,
            missing=self.said.missing,
            negative=self.said.negative,
            together=True,
            key=(self.said.key or SECRET_KEY) if self._has_keys else None,
            key_range=(self._has_keys and self.said.key_range) or KEYS,
        )

    def overlaps(self, pair: tuple[str, str]) -> Tabulation:
        """Return how many records are where two dimensions cross."""
        spec = TableSpec(
            tuple(self._dimension(name) for name in pair), margins=(pair,), missing=self.said.missing, together=True
        )
        return tabulate(self.source, spec, engine=self.said.engine)

    @property
    def _has_keys(self) -> bool:
        return self.said.key is not None or self.said.secret is not None

    @cached_property
    def keyed(self) -> Source:
        """The records, with keys made under the secret where the plan names one."""
        if self.said.secret is None:
            return self.source
        secret = self.plan.place(self.said.secret).read_bytes().strip()
        if self.source.kind not in ("csv", "parquet"):
            raise RequestError("records.secret: keys are made for CSV and Parquet files; name a column of keys (key)")
        path = self.source.paths[0] if len(self.source.paths) == 1 else self.source.paths
        return Source("arrow", native=with_record_keys(path, self.said.identify, secret, name=SECRET_KEY))

    def clusters(self, top: int, progress: Progress | None = None) -> Iterator[ClusterCells]:
        """Tabulate, once for all values with one weight and no equation, and yield the cells of every cluster."""
        every = self.plan.clusters()
        names = dict.fromkeys(name for one in every for name in one.dimensions)
        refuse_unstated(self.source, {name: self._dimension(name) for name in names}, every, self.said.contributor)
        ties, weights = self.plan.indicators, self.plan.weights
        column = self._dimension(next(iter(names))).columns[-1]
        refuse_unstated_equations(self.source, column, every, ties, weights)
        together: dict[tuple[bool, str | None], list[Cluster]] = {}
        for one in every:
            if not ties.tied(one.variable):
                together.setdefault((bool(one.variable), weights[one.name]), []).append(one)
        made: dict[str, ClusterCells] = {}
        for clusters in together.values():
            values = list(dict.fromkeys(one.variable for one in clusters if one.variable))
            spec, source = self.spec(clusters, values, top), self.keyed
            nobody = spec.contributor is None and self.said.engine != "spark"
            if values and (self.said.decimals is not None or nobody):
                source, spec = prepared(source, spec, self.said.decimals)
            whole, keys = self._tabulated(source, spec, progress)
            made |= self._cells(clusters, whole, keys)
        for one in every:
            yield made[one.name] if one.name in made else self._tied(one, top, progress)

    def _tied(self, cluster: Cluster, top: int, progress: Progress | None) -> ClusterCells:
        """Tabulate the indicators of an equation as one dimension."""
        ties = self.plan.indicators
        spec = self.spec([cluster], [], top)
        if INDICATOR in spec.names:
            raise RequestError(f"dimension {INDICATOR!r}: equations need this name; give the dimension another name")
        try:
            rows = stacked(self.keyed, spec, ties, cluster.variable, self.held, self.said.decimals)
        except Contradiction as error:
            raise DataError(self.plan.told([(("equations",), str(error))])) from None
        tree = ties.tree(cluster.variable)
        margins = tuple((*m, *extra) for m in spec.crossed for extra in ((), (INDICATOR,)))
        indicator = DimensionSpec(INDICATOR, hierarchies=(tree,), total=tree.total)
        full = replace(
            spec,
            dimensions=(*spec.dimensions, indicator),
            responses=(ResponseSpec(AMOUNT),),
            contributor=spec.contributor or WHO,
            margins=margins,
        )
        whole, keys = self._tabulated(Source("arrow", native=rows), full, progress)
        found = self._cells([replace(cluster, variable=AMOUNT)], whole, keys)
        return replace(next(iter(found.values())), cluster=cluster)

    def _tabulated(
        self, source: Source, spec: TableSpec, progress: Progress | None
    ) -> tuple[Tabulation, IntArray | None]:
        try:
            if spec.key is not None:
                return tabulate_with_keys(source, spec, progress=progress)
            return tabulate(source, spec, engine=self.said.engine, progress=progress), None
        except DataError as error:
            about = [name for name in self.plan.dimensions if str(error).startswith(f"dimension {name!r}: ")]
            if not about:
                raise
            told = str(error).removeprefix(f"dimension {about[0]!r}: ")
            raise DataError(self.plan.told([(("dimensions", about[0]), told)])) from None

    def _cells(self, clusters: Sequence[Cluster], whole: Tabulation, keys: IntArray | None) -> dict[str, ClusterCells]:
        """Return the cells of every cluster of a tabulation; those that cross the same are cut out of it once."""
        alike: dict[object, list[Cluster]] = {}
        for one in clusters:
            alike.setdefault((one.period, frozenset(group.dimensions for group in one.groups)), []).append(one)
        modulus = LARGEST_KEY if self.said.key_range == 1 else self.said.key_range or KEYS
        made = {}
        for some in alike.values():
            first = some[0]
            fixed = {self.said.period: first.period} if self.said.period and first.period else {}
            names = {*first.dimensions, INDICATOR}
            axes = [axis for axis in whole.axes if axis.name in names]
            margins = {m for group in first.groups for m in _crossings(group, axes)}
            ordered = tuple(sorted(margins, key=lambda m: (len(m), m)))
            found, rows = projected(whole, axes, ordered, fixed, together=True)
            if not len(found):
                raise DataError(f"cluster {first.name!r}: no record is of {first.period!r}; check the period")
            for one in some:
                # What weights represent stands in the place of counts.
                own = of_response(found, one.variable or self.plan.weights[one.name])
                made[one.name] = ClusterCells(one, own, None if keys is None else keys[rows], modulus)
        return made


def _crossings(group: TableFamily, axes: Sequence[Axis]) -> Iterator[tuple[str, ...]]:
    here = {axis.name: None for axis in axes}
    names = [name for name in here if name in group.dimensions or name == INDICATOR]
    yield from subsets(names)
