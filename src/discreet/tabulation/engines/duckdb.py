"""DuckDB, embedded: the default engine. It works on disk when the records do not fit into memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.files import ScratchFolder
from discreet.core.parallel import available_cores
from discreet.table.counts import numpy_from_arrow
from discreet.table.units import refuse_split
from discreet.tabulation.engine import MOST, EngineSession, Run
from discreet.tabulation.engines.duckdb_input import WHOLE, literal, open_input, quoted, text_of, unreadable
from discreet.tabulation.engines.duckdb_sql import Sql
from discreet.tabulation.engines.sql import LEVELS, Margin, carriers, code_map, kept, split_holdings
from discreet.tabulation.plan import Key, Plan
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import TableSpec

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

T = TypeVar("T")

STEPS = 1000
"""The steps in which the progress of a query is reported."""
CARRIED = 4_000
"""The most cells of a margin from which several finest ones are added up. More would not fit into a processor's caches,
and grouping by fewer margins would save nothing."""
SAMPLE, ENOUGH = 1, 10_000
"""The percentage of records sampled to estimate the numbers of codes, and the fewest records that this must give: with
fewer, grouping is quick either way."""


class DuckDbSession(EngineSession):
    """A connection of its own, with the records as relation ``r``."""

    name = "duckdb"

    def __init__(self, source: Source, spec: TableSpec, run: Run) -> None:
        """Connect and look at the records."""
        import duckdb

        self.spec, self.source, self.progress = spec, source, run.progress
        self.dropped = 0
        self._done, self._steps = 0, 4
        self._folder = ScratchFolder()
        self._duckdb = duckdb
        self.connection = duckdb.connect()
        try:
            self._set(run.memory, run.workers)
            folder = Path(self._folder.name)
            self.input = self._ask(lambda: open_input(self.connection, source, spec, folder))
            self._done += STEPS
            negative = self._look()
            repeated = frozenset(self._repeated())
            self.sql = Sql(spec, frozenset(negative), repeated, self._margins())
            self._make_rows(repeated)
            self.figures = self.sql.figures()
            self._run(self.sql.base(self.figures))
            # NaN is not revealed by the statistics of a Parquet file.
            for column, alias in self.figures.sums.items():
                if not np.isfinite(self._one(f"SELECT coalesce(fsum({alias}), 0) FROM base")[0]):
                    self._refuse_infinite(column)
        except BaseException:
            self.close()
            raise

    def _set(self, memory: str, workers: int | None) -> None:
        run = self.connection.execute
        run(f"SET temp_directory = {literal(self._folder.name)}")
        try:
            run(f"SET memory_limit = {literal(memory)}")
        except self._duckdb.Error:
            raise RequestError(f"memory is {memory!r}; give a size such as 2GB") from None
        run(f"SET threads = {workers or available_cores()}")
        # In a notebook DuckDB wants a package that draws bars, and without it tells nothing of its progress.
        with suppress(self._duckdb.Error):
            run("SET enable_progress_bar = true")
            run("SET enable_progress_bar_print = false")

    # --- records ------------------------------------------------------------------------------------------

    def _look(self) -> list[str]:
        """Make the relation of rows, check the magnitudes and weights, and return which have negative values."""
        spec, records = self.spec, self.input
        kept_only = self._kept()
        if kept_only:
            self.dropped = self._one(f"SELECT count(*) FROM src WHERE NOT coalesce({kept_only}, false)")[0]
        self._where = f" WHERE {kept_only}" if kept_only else ""
        negative = []
        for column in spec.numbers:
            # A plain column is answered from the statistics of a Parquet file.
            number = quoted(column) if records.is_number(column) else records.number(column)
            facts = f"count(*), count({number}), min({number}), max({number})"
            rows, given, low, high = self._one(f"SELECT {facts} FROM src{self._where}")
            if given < rows:
                self._refuse_numbers(column)
            if rows and column == spec.weight and low <= 0:
                value = self._one(f"SELECT {number} FROM src WHERE {number} <= 0 LIMIT 1")[0]
                raise DataError(f"{self._place(f'{number} <= 0')}: weight {column!r} is {value:g}; weights are above 0")
            if rows and not np.isfinite([float(low), float(high)]).all():
                self._refuse_infinite(column)
            if rows and low < 0:
                negative.append(column)
                if spec.negative == "error":
                    place = self._place(f"{number} < 0")
                    absolute = "(negative='absolute', --negative absolute)"
                    raise DataError(f"{place}: {column!r} is negative; correct it, or take absolute values {absolute}")
        self._check_keys()
        if spec.contributor is not None:
            own = quoted(spec.contributor)
            empty = f"{text_of(own) if records.is_text(spec.contributor) else own} IS NULL"
            if kept_only:
                empty = f"{empty} AND {kept_only}"
            if self._one(f"SELECT count(*) FROM src WHERE {empty}")[0]:
                place = self._place(empty)
                raise DataError(f"{place}: contributor {spec.contributor!r} is empty; say whose record it is")
            if spec.holding is not None:
                own, held = f"CAST({own} AS VARCHAR)", text_of(quoted(spec.holding))
                query = split_holdings(own, held, f"(SELECT * FROM src{self._where})")
                split = self._ask(lambda: self.connection.execute(query).fetchall())
                refuse_split(self.source.shown, spec.contributor, spec.holding, split)
        return negative

    def _margins(self) -> tuple[Margin, ...]:
        """Return the margins by which records are grouped: the finest, or small ones that carry several of them.

        The number of codes of each dimension is estimated from a sample of the records; a wrong guess costs only time.
        Only columnar files let one sample records without reading all of them.
        """
        if len(self.spec.finest) < 2 or self.source.kind != "parquet":
            return self.spec.finest
        columns = [dimension.columns for dimension in self.spec.dimensions]
        counts = [f"count(DISTINCT ({', '.join(map(quoted, own))}))" for own in columns]
        wanted = ", ".join(dict.fromkeys(quoted(column) for own in columns for column in own))
        sample = f"(SELECT {wanted} FROM src USING SAMPLE {SAMPLE} PERCENT (system, 1))"
        seen, *sizes = self._one(f"SELECT {', '.join(['count(*)', *counts])} FROM {sample}")
        return carriers(self.spec, sizes, CARRIED) if seen >= ENOUGH else self.spec.finest

    def _parts(self) -> str:
        """Return the expression of a record key as an integer number of its parts."""
        key = self.spec.key
        assert key is not None
        if self.spec.key_range == 1:
            return f"floor({self.input.number(key)} * {self.spec.modulus})"
        whole = self.input.types[key].split("(")[0].lstrip("U") in WHOLE
        return quoted(key) if whole else self.input.number(key)

    def _check_keys(self) -> None:
        """Refuse records without a key, and keys outside their range."""
        spec = self.spec
        if spec.key is None:
            return
        if not self.input.is_number(spec.key) and not self.input.is_text(spec.key):
            kind = self.input.types[spec.key]
            raise DataError(f"{self.source.shown}: record key {spec.key!r} is of type {kind}; give numbers")
        number = self.input.number(spec.key)
        wanted = f"{number} >= 0 AND {number} < {spec.key_range}"
        if spec.key_range > 1:
            wanted += f" AND {number} = floor({number})"
        wrong = f"NOT coalesce({wanted}, false)" + self._where.replace(" WHERE ", " AND ")
        row = self._one(f"SELECT any_value({quoted(spec.key)}), count(*) FROM src WHERE {wrong}")
        if row[1]:
            what = "is missing" if row[0] is None else f"is {row[0]}"
            keys = "fractions from 0 to below 1" if spec.key_range == 1 else f"whole, from 0 to {spec.key_range - 1}"
            raise DataError(
                f"{self._place(wrong)}: record key {spec.key!r} {what} (and {row[1] - 1:,} more records are like it); "
                f"keys are {keys}; give every record one, or say their range (key_range=, --key-range)"
            )

    def _kept(self) -> str:
        spec = self.spec

        def given(k: int) -> str:
            column = spec.magnitudes[k]
            return text_of(quoted(column)) if self.input.is_text(column) else quoted(column)

        return kept(spec, lambda i, j: text_of(quoted(spec.dimensions[i].columns[j])), given, literal)

    def _refuse_numbers(self, column: str) -> None:
        number, where = self.input.number(column), self._where.replace(" WHERE ", " AND ")
        raise self.input.no_number(column, f"{number} IS NULL{where}")

    def _refuse_infinite(self, column: str) -> None:
        place = self._place(f"NOT isfinite({self.input.number(column)})")
        raise DataError(f"{place}: {column!r} is not a finite number; correct it")

    def _place(self, condition: str) -> str:
        return str(self._ask(lambda: self.input.place(condition)))

    def _keys(self) -> dict[str, str]:
        """Return the expressions that say which unit a record belongs to; missing if it is one of its own."""
        spec = self.spec
        keys = {}
        if spec.contributor is not None:
            keys["contributor"] = quoted(spec.contributor)
        if spec.holding is not None:
            other = f"'c' || CAST({quoted(spec.contributor)} AS VARCHAR)" if spec.contributor is not None else "NULL"
            keys["holding"] = f"coalesce('h' || {text_of(quoted(spec.holding))}, {other})"
        return keys

    def _repeated(self) -> list[str]:
        """Note the units of several records, and return the levels that have some."""
        found = []
        for level, key in self._keys().items():
            letter = LEVELS[level]
            self._steps += 1
            self._run(
                f"CREATE TEMP TABLE repeated_{letter} AS SELECT k FROM (SELECT {key} AS k FROM src{self._where}) "
                "WHERE k IS NOT NULL GROUP BY k HAVING count(*) > 1"
            )
            if self._one(f"SELECT count(*) FROM repeated_{letter}")[0]:
                found.append(level)
                self._steps += 2
        return found

    def _amount(self, column: str) -> str:
        """Return the expression of what a record adds to a cell."""
        spec, number = self.spec, self.input.number
        if not spec.estimates or spec.weight is None:
            return number(column)
        product = number(column) if column == spec.weight else f"{number(column)} * {number(spec.weight)}"
        return f"floor(({product}) * 100 + 0.5) / 100"

    def _make_rows(self, repeated: frozenset[str]) -> None:
        spec = self.spec
        columns = [
            f"{quoted(column)} AS d{i}_{j}"
            for i, dimension in enumerate(spec.dimensions)
            for j, column in enumerate(dimension.columns)
        ]
        columns += [f"{self._amount(column)} AS {self.sql.magnitude(column)}" for column in spec.magnitudes]
        if spec.weighted:
            assert spec.weight is not None
            columns.append(f"{self.input.number(spec.weight)} AS w")
        if spec.key is not None:
            columns.append(f"CAST({self._parts()} AS BIGINT) AS rk")
        keys = self._keys()
        columns += [f"{keys[level]} AS k{LEVELS[level]}" for level in repeated]
        if spec.contributor is not None:
            # Whose a record is: the holding's if there is one, or the contributor's.
            own = f"CAST({quoted(spec.contributor)} AS VARCHAR)"
            held = None if spec.holding is None else f"coalesce('holding ' || {text_of(quoted(spec.holding))}, {own})"
            columns.append(f"{held or own} AS ku")
        rows = f"SELECT {', '.join(columns)} FROM src{self._where}"
        if repeated:
            flags = ", ".join(f"repeated_{LEVELS[level]}.k IS NOT NULL AS f{LEVELS[level]}" for level in repeated)
            joins = " ".join(
                f"LEFT JOIN repeated_{LEVELS[level]} ON rows.k{LEVELS[level]} = repeated_{LEVELS[level]}.k"
                for level in repeated
            )
            rows = f"SELECT rows.*, {flags} FROM ({rows}) rows {joins}"
        self.connection.execute(f"CREATE TEMP VIEW r AS {rows}")

    # --- the interface ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection and remove what it kept on disk."""
        self.connection.close()
        self._folder.cleanup()

    def labels(self) -> Sequence[Sequence[Key]]:
        """Return the codes that occur."""
        found = []
        for i, dimension in enumerate(self.spec.dimensions):
            columns = [f"d{i}_{j}" for j in range(len(dimension.columns))]
            sets = [margin for margin in self.sql.margins if dimension.name in margin]
            if sets:
                query = f"SELECT DISTINCT {', '.join(columns)} FROM base WHERE gid = {self.sql.number(sets[0])}"
            else:
                query = f"SELECT DISTINCT {', '.join(text_of(column) for column in columns)} FROM r"
            found.append([tuple(row) for row in self._ask(lambda q=query: self.connection.execute(q).fetchall())])  # type: ignore[misc]
        return found

    def place(self, column: str, code: str | None) -> str:
        """Name the file and row of the first record with a code in a column."""
        text = text_of(quoted(column))
        return self._place(f"{text} IS NULL" if code is None else f"{text} = {literal(code)}")

    def cells(self, plan: Plan) -> Mapping[str, npt.NDArray[np.generic]]:
        """Add up the finest margins to all cells."""
        for i in range(len(plan.maps)):
            self.connection.register(f"map{i}", code_map(plan, i))
        queries = " UNION ALL ".join(self.sql.cells(plan, self.figures))
        self._run(f"CREATE TEMP TABLE direct AS {queries}")
        for level, letter in LEVELS.items():
            if level in self.sql.repeated:
                self._run(self.sql.units(letter))
                self._run(self.sql.keyed(plan, letter))
        arrow = self._ask(lambda: self.connection.sql(self.sql.result(self.figures)).to_arrow_table())
        self._tell(self._steps * STEPS)
        return {name: numpy_from_arrow(arrow[name]) for name in arrow.column_names}

    def respondents(self, plan: Plan) -> pa.Table | None:
        """Add up the records of each respondent in each cell of the full cross."""
        if self._one("SELECT approx_count_distinct(ku) FROM r")[0] > MOST:
            return None
        self._ask(lambda: self.connection.execute(self.sql.members()).fetchall())
        found = self._ask(lambda: self.connection.sql(self.sql.placed(plan)).limit(MOST + 1).to_arrow_table())
        return None if found.num_rows > MOST else found

    # --- running ------------------------------------------------------------------------------------------

    def _one(self, query: str) -> tuple[Any, ...]:
        row = self._ask(lambda: self.connection.execute(query).fetchone())
        assert row is not None
        return row

    def _run(self, query: str) -> None:
        """Run a long query: one step of the progress."""
        self._ask(lambda: self.connection.execute(query))
        self._done += STEPS
        self._tell(self._done)

    def _ask(self, work: Callable[[], T]) -> T:
        """Run something in DuckDB; what it cannot read is an error in the data."""
        try:
            return self._beside(work)
        except self._duckdb.OutOfMemoryException:
            raise MemoryError from None
        except self._duckdb.Error as error:
            raise unreadable(self.source, error) from None

    def _beside(self, work: Callable[[], T]) -> T:
        """Work in another thread, while this one reports progress and can be interrupted."""
        result: Future[T] = Future()

        def run() -> None:
            if not result.set_running_or_notify_cancel():
                return
            try:
                result.set_result(work())
            except BaseException as error:
                result.set_exception(error)

        # Wait for the future, not the thread: Python takes a thread for finished when its join is interrupted.
        try:
            threading.Thread(target=run, daemon=True).start()
            while not wait([result], 0.1).done:
                if self.progress is not None:
                    share = max(self.connection.query_progress(), 0.0) / 100
                    self._tell(self._done + int(share * STEPS))
        except BaseException:
            # A thread that is only starting shall not begin. Between two queries there is nothing to interrupt: once
            # may not be enough.
            result.cancel()
            while not result.done():
                self.connection.interrupt()
                wait([result], 0.1)
            raise
        return result.result()

    def _tell(self, done: int) -> None:
        if self.progress is not None:
            self.progress(min(done, self._steps * STEPS), self._steps * STEPS, "tabulating")
