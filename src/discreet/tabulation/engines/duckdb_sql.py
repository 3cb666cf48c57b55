"""The SQL that tabulates: finest margins straight from the records, everything else from those.

Records pass once through GROUPING SETS over the finest margins; nothing is joined to them, because looking codes up
costs more than grouping by the codes as they stand. The few cells that come out are joined with the hierarchies and
added up to all nodes and margins. Contributions of a contributor with several records do not add up in this way, since
the records may lie in different cells of one margin and in the same cell of another; only these contributors are
grouped anew for every margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from discreet.tabulation.plan import Plan
from discreet.tabulation.spec import TableSpec

LEVELS = {"contributor": "c", "holding": "h"}


@dataclass(eq=False)
class Figures:
    """The aggregates that are needed, each once, and the columns of the result that they fill.

    ``first`` maps an alias to its aggregate over records, ``again`` to how its values add up further.
    """

    top: int
    modulus: int
    first: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    result: dict[str, str] = field(default_factory=dict)

    def need(self, name: str, kind: str, expression: str = "*", only: str = "") -> None:
        """Ask for a count, a sum, a sum of keys or the largest values of an expression, as a column of the result."""
        aggregate = {
            "count": f"count({expression})",
            "sum": f"fsum({expression})",
            "top": f"max({expression}, {self.top})",
            "key": f"CAST(sum({expression}) % {self.modulus} AS BIGINT)",
        }[kind] + only
        alias = next((a for a, known in self.first.items() if known == aggregate), f"a{len(self.first)}")
        self.first[alias] = aggregate
        self.again[alias] = {
            "count": f"CAST(sum({alias}) AS BIGINT)",
            "sum": f"fsum({alias})",
            "top": merged([f"max({alias}[{i + 1}], {self.top})" for i in range(self.top)], self.top),
            "key": f"CAST(sum({alias}) % {self.modulus} AS BIGINT)",
        }[kind]
        self.result[name] = alias


def merged(lists: list[str], top: int) -> str:
    """Return the expression of the largest values of several lists."""
    joined = ", ".join(f"coalesce({one}, [])" for one in lists)
    return f"list_slice(list_reverse_sort(list_concat({joined})), 1, {top})"


def entry(size: str, weight: str | None) -> str:
    """Return the expression of one contribution: its size, and its weighted size where there are weights."""
    return size if weight is None else f"{{'v': {size}, 'w': {weight}}}"


@dataclass(frozen=True, eq=False)
class Sql:
    """Writes the queries of one specification.

    ``negative`` are the magnitudes that have negative values; ``repeated`` the levels at which some unit has more than
    one record.
    """

    spec: TableSpec
    negative: frozenset[str]
    repeated: frozenset[str]

    # --- names --------------------------------------------------------------------------------------------

    def columns(self, names: tuple[str, ...] | None = None) -> list[str]:
        """Return the aliases of the columns of some dimensions, by default all."""
        return [
            f"d{i}_{j}"
            for i, dimension in enumerate(self.spec.dimensions)
            if names is None or dimension.name in names
            for j in range(len(dimension.columns))
        ]

    def magnitude(self, column: str) -> str:
        """Return the alias of a magnitude."""
        return f"m{self.spec.magnitudes.index(column)}"

    @property
    def weighted(self) -> bool:
        """Whether weighted figures are wanted beside the plain ones."""
        return self.spec.weighted

    def levels(self) -> Iterator[tuple[str, str]]:
        """Go through the levels and their letters."""
        for name, letter in LEVELS.items():
            if name == "contributor" or self.spec.holding is not None:
                yield name, letter

    def judged(self) -> Iterator[tuple[str, str]]:
        """Go through the responses, each with the alias of the magnitude that the rules judge."""
        for response in self.spec.responses:
            yield response.name, self.magnitude(response.shadow or response.name)

    def size(self, alias: str, weight: str = "") -> str:
        """Return the expression of a contribution's absolute value."""
        plain = f"{weight}{alias}"
        return f"abs({plain})" if self.spec.magnitudes[int(alias[1:])] in self.negative else plain

    # --- records ------------------------------------------------------------------------------------------

    def figures(self) -> Figures:
        """Return the aggregates over records; those of a level leave out its units of several records."""
        found = Figures(self.spec.top, self.spec.modulus)
        found.need("records", "count")
        if self.spec.key is not None:
            found.need("key", "key", "rk")
        if self.weighted:
            found.need("weighted", "sum", "w")
        for response in self.spec.responses:
            alias = self.magnitude(response.name)
            found.need(f"sum:{response.name}", "sum", alias)
            if self.weighted:
                found.need(f"weighted_sum:{response.name}", "sum", f"w * {alias}")
        for level, letter in self.levels():
            only = f" FILTER (WHERE NOT f{letter})" if level in self.repeated else ""
            found.need(f"{level}:units", "count", only=only)
            if self.weighted:
                found.need(f"{level}:weighted_units", "sum", "w", only)
            for name, alias in self.judged():
                size = self.size(alias)
                heavy = self.size(alias, "w * ") if self.weighted else None
                found.need(f"{level}:total:{name}", "sum", size, only)
                if heavy is not None:
                    found.need(f"{level}:weighted_total:{name}", "sum", heavy, only)
                found.need(f"{level}:top:{name}", "top", entry(size, heavy), only)
        return found

    def base(self, figures: Figures) -> str:
        """Return the query that groups the records by every finest margin."""
        used = self._grouped()
        sets = ", ".join(f"({', '.join(self.columns(margin))})" for margin in self.spec.finest)
        aggregates = [f"{aggregate} AS {alias}" for alias, aggregate in figures.first.items()]
        number = f"GROUPING_ID({', '.join(used)})" if used else "0"
        inner = ", ".join([f"{number} AS gid", *used, *aggregates])
        labels = ", ".join(
            f"nullif(CAST({column if column in used else 'NULL'} AS VARCHAR), '') AS {column}"
            for column in self.columns()
        )
        return (
            f"CREATE TEMP TABLE base AS SELECT gid, {labels}, {', '.join(figures.first)} FROM "
            f"(SELECT {inner} FROM r GROUP BY GROUPING SETS ({sets}))"
        )

    def _grouped(self) -> list[str]:
        """Return the columns that some finest margin groups by."""
        names = {name for margin in self.spec.finest for name in margin}
        return self.columns(tuple(names))

    def number(self, margin: tuple[str, ...]) -> int:
        """Return the number that GROUPING_ID gives to a finest margin."""
        own = set(self.columns(margin))
        return int("".join(["0", *("0" if column in own else "1" for column in self._grouped())]), 2)

    def units(self, level: str, letter: str) -> str:
        """Return the query that adds up the records of each unit of several records in each combination of codes."""
        labels = ", ".join(f"nullif(CAST({column} AS VARCHAR), '') AS {column}" for column in self.columns())
        sums = ["count(*) AS n", *(["fsum(w) AS w"] if self.weighted else [])]
        for alias in sorted({alias for _, alias in self.judged()}):
            sums.append(f"fsum({alias}) AS {alias}")
            if self.weighted:
                sums.append(f"fsum(w * {alias}) AS w{alias}")
        return (
            f"CREATE TEMP TABLE units_{letter} AS SELECT k{letter} AS k, {labels}, {', '.join(sums)} FROM r "
            f"WHERE f{letter} GROUP BY k{letter}, {', '.join(self.columns())}"
        )

    def members(self) -> str:
        """Return the query that adds up the records of each respondent in each combination of codes."""
        labels = ", ".join(f"nullif(CAST({column} AS VARCHAR), '') AS {column}" for column in self.columns())
        sums = [f"fsum({self.magnitude(r.name)}) AS sum{k}" for k, r in enumerate(self.spec.responses)]
        return (
            f"CREATE TEMP TABLE members AS SELECT ku AS unit, {labels}, "
            f"{', '.join(['count(*) AS records', *sums])} FROM r GROUP BY ku, {', '.join(self.columns())}"
        )

    def placed(self, plan: Plan) -> str:
        """Return the query of respondents with the leaf of each axis in place of codes."""
        joins = []
        for i, dimension in enumerate(self.spec.dimensions):
            same = [f"members.d{i}_{j} IS NOT DISTINCT FROM map{i}.k{j}" for j in range(len(dimension.columns))]
            joins.append(f"JOIN map{i} ON {' AND '.join(same)}")
        sums = [f"sum{k}" for k in range(len(self.spec.responses))]
        wanted = ["unit", *(f"leaf{i}" for i in range(len(plan.maps))), "records", *sums]
        return f"SELECT {', '.join(wanted)} FROM members {' '.join(joins)}"

    # --- cells --------------------------------------------------------------------------------------------

    def _cell(self, plan: Plan, used: set[str]) -> str:
        """Return the expression of a cell's position; missing where a branch does not reach a level."""
        parts = ["0"]
        for i, (one, stride) in enumerate(zip(plan.maps, plan.grid.strides, strict=True)):
            mine = [f"l{i}_{j}" for j in range(len(one.levels)) if f"l{i}_{j}" in used]
            if mine:
                cases = " ".join(f"WHEN GROUPING({level}) = 0 THEN {level}" for level in mine)
                parts.append(f"(CASE {cases} ELSE 0 END) * {stride}")
        return f"CAST({' + '.join(parts)} AS BIGINT)"

    def _mapped(self, relation: str, plan: Plan, names: tuple[str, ...]) -> str:
        """Return the relation joined with the levels of some dimensions."""
        joins, absent = [], []
        for i, one in enumerate(plan.maps):
            if self.spec.names[i] in names:
                same = " AND ".join(
                    f"{relation}.d{i}_{j} IS NOT DISTINCT FROM map{i}.k{j}"
                    for j in range(len(self.spec.dimensions[i].columns))
                )
                joins.append(f"JOIN map{i} ON {same}")
            else:
                absent += [f"CAST(NULL AS BIGINT) AS l{i}_{j}" for j in range(len(one.levels))]
        levels = [
            f"l{i}_{j}" for i, o in enumerate(plan.maps) if self.spec.names[i] in names for j in range(len(o.levels))
        ]
        select = ", ".join([f"{relation}.*", *levels, *absent])
        return f"(SELECT {select} FROM {relation} {' '.join(joins)})"

    def _sets(self, groupings: tuple[tuple[int | None, ...], ...], key: str = "") -> str:
        sets = []
        for grouping in groupings:
            chosen = [f"l{i}_{level}" for i, level in enumerate(grouping) if level is not None]
            sets.append(f"({', '.join([*([key] if key else []), *chosen])})")
        return ", ".join(sets)

    def cells(self, plan: Plan, figures: Figures) -> Iterator[str]:
        """Go through the queries that add the finest margins up to all cells, one per finest margin."""
        again = ", ".join(f"{how} AS {alias}" for alias, how in figures.again.items())
        for margin, groupings in plan.groupings:
            used = {f"l{i}_{level}" for grouping in groupings for i, level in enumerate(grouping) if level is not None}
            yield (
                f"SELECT * FROM (SELECT {self._cell(plan, used)} AS cell, {again} FROM "
                f"(SELECT * FROM {self._mapped('base', plan, margin)} WHERE gid = {self.number(margin)}) "
                f"GROUP BY GROUPING SETS ({self._sets(groupings)})) WHERE cell IS NOT NULL"
            )

    def keyed(self, plan: Plan, level: str, letter: str) -> str:
        """Return the query of the figures of units of several records, which are added up anew in every cell."""
        every = tuple(grouping for _, groupings in plan.groupings for grouping in groupings)
        used = {f"l{i}_{chosen}" for grouping in every for i, chosen in enumerate(grouping) if chosen is not None}
        aliases = sorted({alias for _, alias in self.judged()})
        sums = ["sum(n) AS n", *(["fsum(w) AS w"] if self.weighted else [])]
        sums += [f"fsum({alias}) AS {alias}" for alias in aliases]
        sums += [f"fsum(w{alias}) AS w{alias}" for alias in aliases if self.weighted]
        outer = ["count(*) AS u", *(["fsum(w / n) AS uw"] if self.weighted else [])]
        for alias in aliases:
            heavy = f"abs(w{alias})" if self.weighted else None
            outer.append(f"fsum(abs({alias})) AS t_{alias}")
            outer += [f"fsum({heavy}) AS tw_{alias}"] if heavy is not None else []
            outer.append(f"max({entry(f'abs({alias})', heavy)}, {self.spec.top}) AS l_{alias}")
        return (
            f"CREATE TEMP TABLE keyed_{letter} AS SELECT cell, {', '.join(outer)} FROM ("
            f"SELECT {self._cell(plan, used)} AS cell, k, {', '.join(sums)} FROM "
            f"{self._mapped(f'units_{letter}', plan, self.spec.names)} "
            f"GROUP BY GROUPING SETS ({self._sets(every, 'k')})) WHERE cell IS NOT NULL GROUP BY cell"
        )

    def result(self, figures: Figures) -> str:
        """Return the query of the whole result: the columns of a tabulation's file, sorted by cell."""
        columns = ["direct.cell AS cell"]
        joins = []
        simple = [name for name in figures.result if name.split(":")[0] not in LEVELS]
        columns += [f'direct.{figures.result[name]} AS "{_safe(name)}"' for name in simple]
        for level, letter in self.levels():
            also = level in self.repeated
            if also:
                joins.append(f"LEFT JOIN keyed_{letter} ON direct.cell = keyed_{letter}.cell")
            columns += self._level(figures, level, letter, also)
        return f"SELECT {', '.join(columns)} FROM direct {' '.join(joins)} ORDER BY 1"

    def _level(self, figures: Figures, level: str, letter: str, also: bool) -> Iterator[str]:
        def both(name: str, keyed: str) -> str:
            own = f"coalesce(direct.{figures.result[name]}, 0)"
            return f"{own} + coalesce(keyed_{letter}.{keyed}, 0)" if also else own

        yield f'{both(f"{level}:units", "u")} AS "{_safe(f"{level}:units")}"'
        if self.weighted:
            yield f'{both(f"{level}:weighted_units", "uw")} AS "{_safe(f"{level}:weighted_units")}"'
        for name, alias in self.judged():
            yield f'{both(f"{level}:total:{name}", f"t_{alias}")} AS "{_safe(f"{level}:total:{name}")}"'
            if self.weighted:
                heavy = f"{level}:weighted_total:{name}"
                yield f'{both(heavy, f"tw_{alias}")} AS "{_safe(heavy)}"'
            top = f"direct.{figures.result[f'{level}:top:{name}']}"
            if also:
                top = merged([top, f"keyed_{letter}.l_{alias}"], self.spec.top)
            for i in range(self.spec.top):
                at, part = f"({top})[{i + 1}]", ".v" if self.weighted else ""
                yield f'coalesce(({at}){part}, 0) AS "{_safe(f"{level}:top{i + 1}:{name}")}"'
                if self.weighted:
                    yield f'coalesce(({at}).w, 0) AS "{_safe(f"{level}:weighted_top{i + 1}:{name}")}"'


def _safe(name: str) -> str:
    return name.replace('"', '""')
