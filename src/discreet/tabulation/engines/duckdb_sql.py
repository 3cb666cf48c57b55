"""The SQL that tabulates: a few margins straight from the records, everything else from those.

Records pass once through GROUPING SETS over the finest margins, or over small ones that carry several of them; nothing
is joined to them, because looking up codes costs more than grouping by the codes as they are. The few resulting cells
are joined with the hierarchies and added up to all nodes and margins. The contributions of a contributor with several
records do not add up in this way, since the records may lie in different cells of one margin and in the same cell of
another; only these contributors are grouped again for every margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from discreet.tabulation.engines.duckdb_input import quoted, text_of
from discreet.tabulation.engines.sql import (
    LEVELS,
    Margin,
    SqlTerm,
    carried,
    code_columns,
    file_columns,
    grouping,
    judged,
    same_codes,
)
from discreet.tabulation.plan import Plan
from discreet.tabulation.spec import TableSpec


@dataclass(eq=False)
class SqlFigures:
    """The aggregates that are needed, each once, and the columns of the result that they fill.

    ``first`` maps an alias to its aggregate over records, ``again`` to how its values add up further, ``sums`` a
    response to the alias of its sum, and ``result`` a column to its expression.
    """

    top: int
    modulus: int
    first: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)
    result: dict[str, str] = field(default_factory=dict)

    def need(self, kind: str, expression: str, only: str) -> str:
        """Ask for a count, a sum, a sum of keys or the largest values of an expression, and return its alias."""
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
        return alias


def merged(lists: list[str], top: int) -> str:
    """Return the expression of the largest values of several lists."""
    joined = ", ".join(f"coalesce({one}, [])" for one in lists)
    return f"list_slice(list_reverse_sort(list_concat({joined})), 1, {top})"


@dataclass(frozen=True, eq=False)
class Sql:
    """Writes the queries of one specification.

    ``negative`` are the magnitudes that have negative values; ``repeated`` the levels at which some unit has more than
    one record; ``margins`` those by which records are grouped.
    """

    spec: TableSpec
    negative: frozenset[str]
    repeated: frozenset[str]
    margins: tuple[Margin, ...]

    def magnitude(self, column: str) -> str:
        """Return the alias of a magnitude."""
        return f"m{self.spec.magnitudes.index(column)}"

    def size(self, column: str, weight: str = "") -> str:
        """Return the expression of a contribution's absolute value."""
        plain = f"{weight}{self.magnitude(column)}"
        return f"abs({plain})" if column in self.negative else plain

    # --- figures ------------------------------------------------------------------------------------------

    def figures(self) -> SqlFigures:
        """Return the aggregates over records; those of a level leave out its units of several records."""
        found = SqlFigures(self.spec.top, self.spec.modulus)
        for column in file_columns(self.spec):
            alias = found.need(*self._aggregate(column))
            found.result[column.name] = self._shown(column, alias)
            if column.figure == "sum" and column.response is not None and not column.weighted:
                found.sums[column.response.name] = alias
        return found

    def _aggregate(self, column: SqlTerm) -> tuple[str, str, str]:
        """Return the kind of a column's aggregate, what it is over, and which records it leaves out."""
        only = f" FILTER (WHERE NOT f{LEVELS[column.level]})" if column.level in self.repeated else ""
        if column.figure == "key":
            return "key", "rk", ""
        if column.response is None:
            return ("sum", "w", only) if column.weighted else ("count", "*", only)
        if column.figure == "sum":
            own = self.magnitude(column.response.name)
            return "sum", f"w * {own}" if column.weighted else own, ""
        size, heavy = (self.size(column.response.judged, weight) for weight in ("", "w * "))
        if column.figure == "total":
            return "sum", heavy if column.weighted else size, only
        return "top", self._entry(size, heavy), only

    def _shown(self, column: SqlTerm, alias: str) -> str:
        """Return the expression of a column of the result, units of several records added."""
        own, also = f"direct.{alias}", column.level in self.repeated
        if not column.level:
            return own
        units = f"keyed_{LEVELS[column.level]}"
        of = "" if column.response is None else f"_{self.magnitude(column.response.judged)}"
        if column.figure == "top":
            top = merged([own, f"{units}.l{of}"], self.spec.top) if also else own
            part = ".w" if column.weighted else ".v" if self.spec.weighted else ""
            return f"coalesce((({top})[{column.rank}]){part}, 0)"
        added = f"{units}.{column.figure[0]}{'w' if column.weighted else ''}{of}"
        return f"coalesce({own}, 0)" + (f" + coalesce({added}, 0)" if also else "")

    def _entry(self, size: str, heavy: str) -> str:
        """Return the expression of one contribution: its size, and its weighted size if there are weights."""
        return f"{{'v': {size}, 'w': {heavy}}}" if self.spec.weighted else size

    # --- records ------------------------------------------------------------------------------------------

    def base(self, figures: SqlFigures) -> str:
        """Return the query that groups the records by the margins from which all others add up."""
        used = self._grouped()
        sets = ", ".join(f"({', '.join(code_columns(self.spec, margin))})" for margin in self.margins)
        aggregates = [f"{aggregate} AS {alias}" for alias, aggregate in figures.first.items()]
        number = f"GROUPING_ID({', '.join(used)})" if used else "0"
        inner = ", ".join([f"{number} AS gid", *used, *aggregates])
        labels = [f"{text_of(c if c in used else 'NULL')} AS {c}" for c in code_columns(self.spec)]
        return (
            f"CREATE TEMP TABLE base AS SELECT {', '.join(['gid', *labels, *figures.first])} FROM "
            f"(SELECT {inner} FROM r GROUP BY GROUPING SETS ({sets}))"
        )

    def _grouped(self) -> list[str]:
        """Return the columns that records are grouped by."""
        return code_columns(self.spec, {name for margin in self.margins for name in margin})

    def number(self, margin: Margin) -> int:
        """Return the number that GROUPING_ID gives to a margin by which records are grouped."""
        own = set(code_columns(self.spec, margin))
        return int("".join(["0", *("0" if column in own else "1" for column in self._grouped())]), 2)

    def _added(self, table: str, key: str, sums: list[str], where: str = "") -> str:
        """Return the query that adds up the records of each unit in each combination of codes."""
        codes = code_columns(self.spec)
        wanted = [key, *(f"{text_of(column)} AS {column}" for column in codes), *sums]
        group = ", ".join([key.split(" ")[0], *codes])
        return f"CREATE TEMP TABLE {table} AS SELECT {', '.join(wanted)} FROM r {where} GROUP BY {group}"

    def units(self, letter: str) -> str:
        """Return the query of units of several records."""
        sums = ["count(*) AS n", *(["fsum(w) AS w"] if self.spec.weighted else [])]
        for k in judged(self.spec):
            sums.append(f"fsum(m{k}) AS m{k}")
            if self.spec.weighted:
                sums.append(f"fsum(w * m{k}) AS wm{k}")
        return self._added(f"units_{letter}", f"k{letter} AS k", sums, f"WHERE f{letter}")

    def members(self) -> str:
        """Return the query of respondents; where each has one record, nothing has to be added up."""
        if self.spec.holding is None and "contributor" not in self.repeated:
            names = [f"CAST({self.magnitude(r.name)} AS DOUBLE) AS sum{k}" for k, r in enumerate(self.spec.responses)]
            codes = [f"{text_of(column)} AS {column}" for column in code_columns(self.spec)]
            wanted = ["ku AS unit", *codes, "CAST(1 AS BIGINT) AS records", *names]
            return f"CREATE TEMP VIEW members AS SELECT {', '.join(wanted)} FROM r"
        sums = [f"fsum({self.magnitude(r.name)}) AS sum{k}" for k, r in enumerate(self.spec.responses)]
        return self._added("members", "ku AS unit", ["count(*) AS records", *sums])

    def placed(self, plan: Plan) -> str:
        """Return the query of respondents with the leaf of each axis in place of codes."""
        sums = [f"sum{k}" for k in range(len(self.spec.responses))]
        wanted = ["unit", *(f"leaf{i}" for i in range(len(plan.maps))), "records", *sums]
        return f"SELECT {', '.join(wanted)} FROM members {self._joins('members', self.spec.names)}"

    # --- cells --------------------------------------------------------------------------------------------

    def _joins(self, relation: str, names: Sequence[str]) -> str:
        numbers = [i for i, name in enumerate(self.spec.names) if name in names]
        return " ".join(f"JOIN map{i} ON {same_codes(self.spec, relation, i)}" for i in numbers)

    def _mapped(self, relation: str, plan: Plan, names: Sequence[str]) -> str:
        """Return the relation joined with the levels of some dimensions."""
        levels = [
            f"l{i}_{j}" if self.spec.names[i] in names else f"CAST(NULL AS BIGINT) AS l{i}_{j}"
            for i, one in enumerate(plan.maps)
            for j in range(len(one.levels))
        ]
        return f"(SELECT {', '.join([f'{relation}.*', *levels])} FROM {relation} {self._joins(relation, names)})"

    def cells(self, plan: Plan, figures: SqlFigures) -> Iterator[str]:
        """Yield the queries that add up to all cells, one for every margin by which records are grouped."""
        again = ", ".join(f"{how} AS {alias}" for alias, how in figures.again.items())
        for margin, groupings in carried(plan, self.margins):
            cell, _, sets = grouping(plan, groupings)
            yield (
                f"SELECT * FROM (SELECT {cell} AS cell, {again} FROM "
                f"(SELECT * FROM {self._mapped('base', plan, margin)} WHERE gid = {self.number(margin)}) "
                f"GROUP BY GROUPING SETS ({sets})) WHERE cell IS NOT NULL"
            )

    def keyed(self, plan: Plan, letter: str) -> str:
        """Return the query of the figures of units of several records, which are added up anew in every cell."""
        every = [one for _, groupings in plan.groupings for one in groupings]
        cell, _, sets = grouping(plan, every, "k")
        weighted = self.spec.weighted
        sums = ["sum(n) AS n", *(["fsum(w) AS w"] if weighted else [])]
        outer = ["count(*) AS u", *(["fsum(w / n) AS uw"] if weighted else [])]
        for k in judged(self.spec):
            sums += [f"fsum({part}) AS {part}" for part in ([f"m{k}", f"wm{k}"] if weighted else [f"m{k}"])]
            outer.append(f"fsum(abs(m{k})) AS t_m{k}")
            outer += [f"fsum(abs(wm{k})) AS tw_m{k}"] if weighted else []
            outer.append(f"max({self._entry(f'abs(m{k})', f'abs(wm{k})')}, {self.spec.top}) AS l_m{k}")
        return (
            f"CREATE TEMP TABLE keyed_{letter} AS SELECT cell, {', '.join(outer)} FROM ("
            f"SELECT {cell} AS cell, k, {', '.join(sums)} FROM "
            f"{self._mapped(f'units_{letter}', plan, self.spec.names)} "
            f"GROUP BY GROUPING SETS ({sets})) WHERE cell IS NOT NULL GROUP BY cell"
        )

    def result(self, figures: SqlFigures) -> str:
        """Return the query of the whole result: the columns of a tabulation's file, sorted by cell."""
        columns = [f"{expression} AS {quoted(name)}" for name, expression in figures.result.items()]
        letters = [letter for level, letter in LEVELS.items() if level in self.repeated]
        joins = " ".join(f"LEFT JOIN keyed_{one} ON direct.cell = keyed_{one}.cell" for one in letters)
        return f"SELECT {', '.join(['direct.cell AS cell', *columns])} FROM direct {joins} ORDER BY 1"
