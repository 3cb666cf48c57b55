"""Apache Spark, for records that outgrow one machine: the same specification, the same figures.

Records are added up to base cells first, and these are rolled up; expanding the records themselves to every margin
would move each of them many times. Base cells are those of the full cross where it has far fewer cells than there are
records, and of a few margins that carry all others otherwise. Contributors and holdings whose records lie in one cell
of the full cross add up like any figure; only those that spread over several are grouped anew for every margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING
from uuid import uuid4

from discreet.core.errors import DataError, RequestError
from discreet.table.arrow_files import BLANKS
from discreet.table.counts import numpy_from_arrow
from discreet.table.units import refuse_split
from discreet.tabulation.blanks_around import refuse_padded, units
from discreet.tabulation.engine import MOST, EngineSession, Run, check_types
from discreet.tabulation.engines.sql import (
    LEVELS,
    SqlTerm,
    carried,
    carriers,
    code_columns,
    code_map,
    file_columns,
    grouping,
    judged,
    kept,
    levels,
    same_codes,
    separated,
    split_holdings,
    with_point,
)
from discreet.tabulation.plan import Key, Plan
from discreet.tabulation.sources import Source, csv_head
from discreet.tabulation.spec import TableSpec
from discreet.tabulation.whose import refuse_repeated, suspects

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyspark.sql import DataFrame

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
ODD = "{0} IS NULL OR isnan({0}) OR abs({0}) = double('infinity')"
"""What is not a finite number; Spark's NaN is larger than any number and equals itself."""
STEPS = 3
"""The steps of the progress: records, codes and cells."""
SPARSE = 4
"""How many records a base cell has on average where it carries several finest margins, a round choice: with fewer,
adding up to it first saves next to nothing."""


class SparkTabulation(EngineSession):
    """Records as a Spark view, and the views that are made of it."""

    name = "spark"

    def __init__(self, source: Source, spec: TableSpec, run: Run) -> None:
        """Check the records against the specification."""
        if spec.key is not None:
            raise RequestError("only the engine duckdb adds up record keys; write the records as Parquet for it")
        self.spec, self.source, self.progress = spec, source, run.progress
        self._tag = uuid4().hex
        self._cached: list[DataFrame] = []
        self._views: list[str] = []
        self._done = 0
        frame = source.native if source.kind == "spark" else _read(source)
        self.spark = frame.sparkSession
        self.types = dict(frame.dtypes)
        check_types(source, spec, self.types, _is_code, lambda kind: kind.split("(")[0] in (*NUMBERS, "string"))
        self._view("src", frame)
        for column in suspects(self.types, spec):
            name = quoted(column)
            found = self._sql(f"SELECT count({name}), count(DISTINCT {name}) FROM {self._name('src')}").first()
            refuse_repeated(source.shown, column, *found)
        if source.kind != "csv":
            self._refuse_blanks()
        self.dropped = self._look()

    def _refuse_blanks(self) -> None:
        """Refuse units that differ in nothing but blanks around them."""
        for column in units(self.spec):
            if self.types[column] == "string":
                name = quoted(column)
                several = f"SELECT min({name}), max({name}) FROM {self._name('src')} WHERE {name} IS NOT NULL "
                several += f"GROUP BY trim(BOTH {literal(BLANKS)} FROM {name}) HAVING min({name}) < max({name}) LIMIT 1"
                refuse_padded(self.source.shown, column, self._sql(several).first() or ())

    # --- records ------------------------------------------------------------------------------------------

    def _amount(self, column: str) -> str:
        """Return the expression of what a record adds to a cell."""
        weight, product = self.spec.weight, self._number(column)
        if not self.spec.estimates or weight is None:
            return product
        if column != weight:
            product = f"{product} * {self._number(weight)}"
        # A floor of doubles is an integer of 64 bits in Spark.
        product = f"({product}) * 100 + 0.5D"
        return f"(({product}) - pmod({product}, 1D)) / 100"

    def _number(self, column: str) -> str:
        if self.types[column] != "string":
            return f"CAST({quoted(column)} AS DOUBLE)"
        text = f"trim({quoted(column)})"
        if (sign := self.source.decimal) is not None:
            text = with_point(text, sign, f"{text} RLIKE {literal(f'^(?:{separated(sign)})$')}")
        return f"try_cast({text} AS DOUBLE)"

    def _look(self) -> int:
        """Make the view of rows; refuse what is not a number, weights of 0 or less, and nameless contributors."""
        spec = self.spec
        columns = [
            f"{text_of(column)} AS d{i}_{j}"
            for i, dimension in enumerate(spec.dimensions)
            for j, column in enumerate(dimension.columns)
        ]
        columns += [f"{self._amount(column)} AS m{k}" for k, column in enumerate(spec.magnitudes)]
        columns += [f"{text_of(column)} AS e{k}" for k, column in enumerate(spec.magnitudes)]
        columns.append(f"{self._number(spec.weight)} AS w" if spec.weight is not None else "CAST(1 AS DOUBLE) AS w")
        own = text_of(spec.contributor) if spec.contributor is not None else "CAST(NULL AS STRING)"
        columns.append(f"concat('c', {own}) AS kc")
        holding = text_of(spec.holding) if spec.holding is not None else "CAST(NULL AS STRING)"
        columns.append(f"coalesce(concat('h', {holding}), concat('c', {own})) AS kh")
        rows = self._sql(f"SELECT {', '.join(columns)} FROM {self._name('src')}")
        wanted = kept(spec, lambda i, j: f"d{i}_{j}", lambda k: f"e{k}", literal)
        dropped = 0
        if wanted:
            dropped = int(rows.filter(f"NOT ({wanted})").count())
            rows = rows.filter(wanted)
        self._view("r", rows)
        self._refuse()
        self._tell()
        return dropped

    def _refuse(self) -> None:
        spec, shown = self.spec, self.source.shown
        parts = ["count(*)"]
        for k in range(len(spec.magnitudes)):
            parts += [f"count_if({ODD.format(f'm{k}')})", f"count_if(m{k} < 0)"]
        parts += ["count_if(w IS NULL OR isnan(w) OR w <= 0)", "count_if(kc IS NULL)"]
        codes = [", ".join(code_columns(spec, [name])) for name in spec.names]
        parts += [f"approx_count_distinct(xxhash64({columns}))" for columns in codes]
        # How many parts the records are in: enough for their cells too. Empty records are in none.
        parts.append("coalesce(max(part), 0) + 1")
        numbered = f"(SELECT *, spark_partition_id() AS part FROM {self._name('r')})"
        *found, self._parts = self._sql(f"SELECT {', '.join(parts)} FROM {numbered}").first()
        (rows, *figures, light, nameless), sizes = found[: -len(codes)], found[-len(codes) :]
        self._sets = carriers(spec, sizes, rows / SPARSE)
        for column, bad, below in zip(spec.magnitudes, figures[::2], figures[1::2], strict=True):
            if bad:
                odd = ODD.format(self._number(column))
                found = self._sql(f"SELECT {quoted(column)} FROM {self._name('src')} WHERE {odd} LIMIT 1").first()
                value = "empty" if found is None or found[0] is None else repr(found[0])
                sign = ", or say which sign is decimal (decimal=',' or '.', --decimal , or .)" if "," in value else ""
                raise DataError(f"{shown}: {column!r} is {value} in {bad:,} of {rows:,} records; give numbers{sign}")
            if below and spec.negative == "error":
                raise DataError(f"{shown}: {column!r} is negative in {below:,} records; correct them")
        if spec.weight is not None and light:
            raise DataError(
                f"{shown}: weight {spec.weight!r} is not above 0 in {light:,} of {rows:,} records; weights are above 0"
            )
        if spec.contributor is not None and nameless:
            raise DataError(
                f"{shown}: contributor {spec.contributor!r} is empty in {nameless:,} records; say whose they are"
            )
        if spec.contributor is not None and spec.holding is not None:
            held = "CASE WHEN kh LIKE 'h%' THEN substring(kh, 2) END"
            split = split_holdings("substring(kc, 2)", held, self._name("r"))
            refuse_split(shown, spec.contributor, spec.holding, self._sql(split).collect())

    # --- the interface ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Drop what was made; the Spark session is the caller's."""
        for frame in self._cached:
            frame.unpersist()
        for view in self._views:
            self.spark.catalog.dropTempView(view)

    def labels(self) -> Sequence[Sequence[Key]]:
        """Return the codes that occur."""
        self._make_base()
        codes = [f"struct({', '.join(code_columns(self.spec, [name]))})" for name in self.spec.names]
        found: list[list[Key]] = [[] for _ in codes]
        for source, chosen in self._sources_of_codes().items():
            sets = ", ".join(f"collect_set(IF({where}, {codes[i]}, NULL))" for i, where in chosen.items())
            for i, rows in zip(chosen, self._sql(f"SELECT {sets} FROM {source}").first(), strict=True):
                found[i] = [tuple(row) for row in rows]
        self._tell()
        return found

    def _sources_of_codes(self) -> dict[str, dict[int, str]]:
        """Return where the codes of each dimension are found, base cells or records, and in which of these rows."""
        sources: dict[str, dict[int, str]] = {}
        for i, name in enumerate(self.spec.names):
            sets = [number for number, margin in enumerate(self._sets) if name in margin]
            source, where = ("base", f"gid = {sets[0]}") if sets else ("r", "TRUE")
            sources.setdefault(self._name(source), {})[i] = where
        return sources

    def place(self, column: str, code: str | None) -> str:
        """Name the column; records of a distributed table have no row numbers."""
        return f"{self.source.shown}: column {column!r}" + (f", code {code!r}" if code is not None else "")

    def cells(self, plan: Plan) -> Mapping[str, npt.NDArray[np.generic]]:
        """Roll the base cells up to all cells."""
        for i in range(len(plan.maps)):
            self._view(f"map{i}", self.spark.createDataFrame(code_map(plan, i)))
        parts = [*self._rolled(plan), *(self._regrouped(plan, letter) for letter in self._spread)]
        self._view("parts", _union(parts))
        # Cells fit on this machine, where sorting them takes no further exchange.
        arrow = self._sql(f"{self._final()} FROM {self._name('parts')} GROUP BY cell").toArrow().sort_by("cell")
        self._tell()
        return {name: numpy_from_arrow(arrow[name]) for name in arrow.column_names}

    def respondents(self, plan: Plan) -> pa.Table | None:
        """Add up the records of each respondent in each cell of the full cross."""
        own = "concat('holding ', substring(kh, 2))"
        unit = f"CASE WHEN substring(kh, 1, 1) = 'h' THEN {own} ELSE substring(kc, 2) END"
        sums = [f"sum(m{self.spec.magnitudes.index(r.name)}) AS sum{k}" for k, r in enumerate(self.spec.responses)]
        leaves = [f"leaf{i}" for i in range(len(plan.maps))]
        query = f"SELECT {unit} AS unit, {', '.join([*leaves, 'count(*) AS records', *sums])}"
        found = self._sql(f"{query} FROM {self._mapped('r', plan)} GROUP BY {', '.join(['1', *leaves])}")
        arrow = found.limit(MOST + 1).toArrow()
        return None if arrow.num_rows > MOST else arrow

    # --- aggregates ---------------------------------------------------------------------------------------

    def _top(self, value: str) -> str:
        """Return the largest of some contributions: an array of size and weighted size."""
        return f"max_by({value}, {value}, {self.spec.top})"

    def _make_base(self) -> None:
        """Add records up to base cells: counts and sums, and for each level its units that lie in one base cell."""
        spec = self.spec
        aggregates = ["count(*) AS n", *self._weighted("sum(w) AS w")]
        for k in range(len(spec.magnitudes)):
            aggregates += [f"sum(m{k}) AS x{k}", *self._weighted(f"sum(w * m{k}) AS xw{k}")]
        self._spread: list[str] = []
        keyed = [LEVELS[level] for level in levels(spec)]
        if spec.contributor is None:
            keyed.remove("c")
            aggregates += self._unit_figures("c", "w", "w * m")
        parts = self._based("r", aggregates)
        for letter in keyed:
            self._units(letter)
            parts += self._based(f"simple_{letter}", self._unit_figures(letter))
        self._view("base", _union(parts), cache=True)

    def _based(self, relation: str, aggregates: list[str]) -> list[DataFrame]:
        """Return a relation added up to the base cells of every set of dimensions, which is numbered."""
        found = []
        for number, margin in enumerate(self._sets):
            codes = code_columns(self.spec, margin)
            query = f"SELECT {', '.join([f'{number} AS gid', *codes, *aggregates])} FROM {self._name(relation)}"
            found.append(self._sql(f"{query} GROUP BY {', '.join(codes)}" if codes else query))
        return found

    def _weighted(self, *figures: str) -> tuple[str, ...]:
        """Return figures that are needed only if records have weights."""
        return figures if self.spec.weighted else ()

    def _unit_figures(self, letter: str, weight: str = "w / n", heavy: str = "wm") -> list[str]:
        """Return the aggregates of a level over relations that have a row per unit."""
        found = [f"count(*) AS u_{letter}", *self._weighted(f"sum({weight}) AS uw_{letter}")]
        for k in judged(self.spec):
            plain, weighted = f"abs(m{k})", f"abs({heavy}{k})"
            found += [f"sum({plain}) AS t_{letter}{k}", *self._weighted(f"sum({weighted}) AS tw_{letter}{k}")]
            entry = f"struct({plain} AS v, {weighted} AS w)" if self.spec.weighted else plain
            found.append(f"{self._top(entry)} AS l_{letter}{k}")
        return found

    def _units(self, letter: str) -> None:
        """Add up the records of each unit in each cell of the full cross; keep those of several cells for later."""
        key, dims = f"k{letter}", ", ".join(code_columns(self.spec))
        sums = ["count(*) AS n", "sum(w) AS w"]
        for k in judged(self.spec):
            sums += [f"sum(m{k}) AS m{k}", f"sum(w * m{k}) AS wm{k}"]
        # A record without a key is a unit of its own: it gets a key that nobody else has.
        named = f"coalesce({key}, concat('r', uuid()))" if letter == "h" and self.spec.contributor is None else key
        self._view(f"rows_{letter}", self._sql(f"SELECT *, {named} AS k FROM {self._name('r')}"))
        units = self._sql(f"SELECT k, {dims}, {', '.join(sums)} FROM {self._name(f'rows_{letter}')} GROUP BY k, {dims}")
        # Random keys must be drawn only once.
        units = self._view(f"units_{letter}", units, cache=True)
        spread = self._sql(f"SELECT k FROM {self._name(f'units_{letter}')} GROUP BY k HAVING count(*) > 1")
        spread = self._view(f"spread_{letter}", spread, cache=True)
        if not spread.isEmpty():
            self._spread.append(letter)
            self._view(f"apart_{letter}", units.join(spread, "k", "left_semi"))
            units = units.join(spread, "k", "left_anti")
        self._view(f"simple_{letter}", units)

    # --- cells --------------------------------------------------------------------------------------------

    def _mapped(self, relation: str, plan: Plan, names: Sequence[str] | None = None, only: str = "") -> str:
        """Return a relation, or some rows of it, joined with the levels of some dimensions, by default all."""
        name = self._name(relation)
        numbers = [i for i, own in enumerate(self.spec.names) if names is None or own in names]
        joins = [f"JOIN {self._name(f'map{i}')} AS map{i} ON {same_codes(self.spec, name, i)}" for i in numbers]
        columns = [f"l{i}_{j}" for i in numbers for j in range(len(plan.maps[i].levels))]
        columns += [f"leaf{i}" for i in numbers]
        hint = f"/*+ BROADCAST({', '.join(f'map{i}' for i in numbers)}) */" if numbers else ""
        chosen = ", ".join([f"{name}.*", *columns])
        return f"(SELECT {hint} {chosen} FROM {name} {' '.join(joins)}{f' WHERE {only}' if only else ''})"

    def _rolled(self, plan: Plan) -> list[DataFrame]:
        """Add up base cells to all cells."""
        columns = self.spark.table(self._name("base")).columns
        aggregates = ", ".join(self._again(name) for name in columns if name != "gid" and not name.startswith("d"))
        found = []
        for number, (margin, groupings) in enumerate(carried(plan, self._sets)):
            cell, sets = _grouped(plan, groupings)
            base = self._mapped("base", plan, margin, f"gid = {number}")
            query = f"SELECT {cell} AS cell, {aggregates} FROM {base} {sets}"
            found.append(self._sql(query).filter("cell IS NOT NULL"))
        return found

    def _again(self, name: str) -> str:
        """Return how a figure of base cells adds up."""
        if not name.startswith("l_"):
            return f"sum({name}) AS {name}"
        tops = [self._top(f"get({name}, {i})") for i in range(self.spec.top)]
        return f"{self._merged(tops)} AS {name}"

    def _merged(self, arrays: list[str]) -> str:
        joined = ", ".join(f"coalesce({one}, array())" for one in arrays)
        present = f"filter(concat({joined}), x -> x IS NOT NULL)"
        return f"slice(sort_array({present}, false), 1, {self.spec.top})"

    def _regrouped(self, plan: Plan, letter: str) -> DataFrame:
        """Add up again, in every cell, the units that spread over several base cells."""
        cell, sets = _grouped(plan, [one for _, groupings in plan.groupings for one in groupings], "k")
        sums = ["sum(n) AS n", "sum(w) AS w"]
        for k in judged(self.spec):
            sums += [f"sum(m{k}) AS m{k}", f"sum(wm{k}) AS wm{k}"]
        inner = f"SELECT {cell} AS cell, k, {', '.join(sums)} FROM {self._mapped(f'apart_{letter}', plan)} {sets}"
        figures = ", ".join(self._unit_figures(letter))
        return self._sql(f"SELECT cell, {figures} FROM ({inner}) WHERE cell IS NOT NULL GROUP BY cell")

    def _final(self) -> str:
        """Return the columns of a tabulation's file, from parts that are to be added up."""
        columns = [f"{self._figure(column)} AS {quoted(column.name)}" for column in file_columns(self.spec)]
        return f"SELECT {', '.join(['cell', *columns])}"

    def _figure(self, column: SqlTerm) -> str:
        heavy = "w" if column.weighted else ""
        if column.figure == "records":
            return "sum(w)" if heavy else "CAST(sum(n) AS BIGINT)"
        if column.response is None:
            units = f"coalesce(sum(u{heavy}_{LEVELS[column.level]}), 0)"
            return units if heavy else f"CAST({units} AS BIGINT)"
        if column.figure == "sum":
            return f"sum(x{heavy}{self.spec.magnitudes.index(column.response.name)})"
        of = f"{LEVELS[column.level]}{self.spec.magnitudes.index(column.response.judged)}"
        if column.figure == "total":
            return f"coalesce(sum(t{heavy}_{of}), 0)"
        # A cell has at most a few parts: collecting their tops costs nothing.
        top = self._merged([f"flatten(collect_list(l_{of}))"])
        part = f".{heavy or 'v'}" if self.spec.weighted else ""
        return f"coalesce(get({top}, {column.rank - 1}){part}, 0)"

    # --- running ------------------------------------------------------------------------------------------

    def _name(self, view: str) -> str:
        return f"discreet_{self._tag}_{view}"

    def _view(self, view: str, frame: DataFrame, cache: bool = False) -> DataFrame:
        if cache:
            # Spark keeps what it groups in 200 parts unless told otherwise, however little it is.
            frame = frame.coalesce(self._parts).cache()
            self._cached.append(frame)
        frame.createOrReplaceTempView(self._name(view))
        self._views.append(self._name(view))
        return frame

    def _sql(self, query: str) -> DataFrame:
        return self.spark.sql(query)

    def _tell(self) -> None:
        self._done += 1
        if self.progress is not None:
            self.progress(min(self._done, STEPS), STEPS, "tabulating")


def quoted(name: str) -> str:
    """Return a name quoted for Spark."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Return a text as a literal of Spark."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def text_of(column: str) -> str:
    """Return the expression of a column as a text, missing where it is empty."""
    return f"nullif(CAST({quoted(column)} AS STRING), '')"


def _is_code(kind: str) -> bool:
    return kind.split("(")[0] not in ("float", "double", "decimal", "binary") and "<" not in kind


def _grouped(plan: Plan, groupings: Sequence[tuple[int | None, ...]], key: str = "") -> tuple[str, str]:
    """Return the expression of a cell's position and the grouping sets that make cells."""
    cell, columns, sets = grouping(plan, groupings, key)
    return cell, f"GROUP BY {', '.join(columns)} GROUPING SETS ({sets})" if columns else ""


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _read(source: Source) -> DataFrame:
    """Read files, or hand over a frame, with the Spark session of this process."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise RequestError("PySpark is not installed; install it with: pip install 'discreet[spark]'") from None
    try:
        spark = SparkSession.builder.appName("discreet").getOrCreate()
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RequestError(f"Spark cannot start ({reason}); it needs Java 17 or newer") from None
    paths = [str(path) for path in source.paths]
    if source.kind == "parquet":
        return spark.read.parquet(*paths)
    if source.kind == "csv":
        header, separator, _ = csv_head(source, source.paths[0])
        reader = spark.read.option("header", True).option("sep", separator).option("mode", "FAILFAST")
        found = reader.option("encoding", source.encoding).option("escape", '"').csv(paths).toDF(*header)
        named = [quoted(name) for name in header if name]
        return found.selectExpr(*(f"trim(BOTH {literal(BLANKS)} FROM {name}) AS {name}" for name in named))
    if source.kind == "arrow":
        return spark.createDataFrame(source.native)
    raise RequestError("Spark reads Parquet and CSV files, frames and Spark DataFrames; a database is read by duckdb")
