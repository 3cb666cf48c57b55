"""Records with several indicators, stacked: one row for each record and each indicator that is not a sum of others.

The indicators of an equation become the codes of one more dimension. Where the records also hold a sum, it must be what
the equation says, record by record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import DataError, RequestError
from discreet.core.files import ScratchFolder
from discreet.programme.indicators import Indicators
from discreet.tabulation.engines.duckdb_input import Input, literal, open_input, quoted, unreadable
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import DimensionSpec, ResponseSpec, TableSpec

if TYPE_CHECKING:
    import pyarrow as pa

INDICATOR, AMOUNT, WHO = "indicator", "amount", "record"
"""The columns of stacked records: which indicator, how much of it, and whose where no column says so."""
NEAR = 1e-9
"""The largest relative error of a sum: the last digits of floating-point numbers."""


class Contradiction(DataError):
    """Records contradict an equation of the plan."""


def stacked(
    source: Source,
    spec: TableSpec,
    ties: Indicators,
    root: str,
    held: frozenset[str],
    decimals: int | None = None,
) -> pa.Table:
    """Return records as an Arrow table with a row for each indicator below a root; ``held`` are columns of records."""
    import duckdb

    tree = ties.tree(root)
    numbers = tuple(ResponseSpec(name) for name in tree.codes if name in held)
    wanted = TableSpec(
        tuple(DimensionSpec(one.name, one.columns) for one in spec.dimensions if one.name != INDICATOR),
        numbers,
        contributor=spec.contributor,
        holding=spec.holding,
        weight=spec.weight,
        key=spec.key,
        alone=spec.alone,
    )
    with ScratchFolder() as folder, duckdb.connect() as connection:
        rows = open_input(connection, source, wanted, Path(folder))
        try:
            _refuse_no_numbers(rows, [one.name for one in numbers], spec.missing == "drop")
            refuse_contradiction_of(rows, ties, root, held)
            return connection.sql(_query(rows, wanted, tree.leaves, decimals)).to_arrow_table()
        except duckdb.Error as error:
            raise unreadable(source, error) from None


def prepared(source: Source, spec: TableSpec, decimals: int | None) -> tuple[Source, TableSpec]:
    """Return records with every magnitude rounded, so that sums agree in all tables, and with a name for each record.

    Whoever knows a record knows its part of crossings that no table shows. If no column says whose records are, each is
    somebody else's, and its number is the name.
    """
    import duckdb

    shown = dict.fromkeys(column for column, _ in spec.roles())
    if WHO in shown and spec.contributor is None:
        raise RequestError(f"column {WHO!r}: records are numbered under this name; give the column another name")
    with ScratchFolder() as folder, duckdb.connect() as connection:
        rows = open_input(connection, source, spec, Path(folder))
        columns = [
            f"round({rows.number(name)}, {decimals}) AS {quoted(name)}"
            if decimals is not None and name in spec.magnitudes
            else quoted(name)
            for name in shown
        ]
        columns += [f"row_number() OVER () AS {quoted(WHO)}"] if spec.contributor is None else []
        try:
            made = connection.sql(f"SELECT {', '.join(columns)} FROM src").to_arrow_table()
        except duckdb.Error as error:
            raise unreadable(source, error) from None
    return Source("arrow", native=made), replace(spec, contributor=spec.contributor or WHO)


def _query(rows: Input, spec: TableSpec, leaves: tuple[str, ...], decimals: int | None) -> str:
    named = [column for column, role in spec.roles() if role != "response"]
    columns = ", ".join(quoted(name) for name in dict.fromkeys(named))
    who = f", row_number() OVER () AS {quoted(WHO)}" if spec.contributor is None else ""
    rows.connection.execute(f"CREATE TEMP TABLE numbered AS SELECT *{who} FROM src")
    mine = "" if spec.contributor is not None else f", {quoted(WHO)}"
    amounts = {leaf: rows.number(leaf) for leaf in leaves}
    if decimals is not None:
        amounts = {leaf: f"round({amount}, {decimals})" for leaf, amount in amounts.items()}
    some = [
        f"SELECT {columns}{mine}, {literal(leaf)} AS {quoted(INDICATOR)}, {amount} AS {quoted(AMOUNT)} FROM numbered"
        for leaf, amount in amounts.items()
    ]
    return " UNION ALL ".join(some)


def _refuse_no_numbers(rows: Input, columns: Sequence[str], drop: bool) -> None:
    """Refuse indicators that are not numbers; where records with empty ones are left out, these are not looked at."""
    for column in columns:
        wrong = f"{rows.number(column)} IS NULL"
        wrong += f" AND coalesce(trim(CAST({quoted(column)} AS VARCHAR)), '') <> ''" if drop else ""
        if rows.connection.execute(f"SELECT count(*) FROM src WHERE {wrong}").fetchall()[0][0]:
            raise rows.no_number(column, wrong)


def refuse_contradiction_of(rows: Input, ties: Indicators, root: str, held: frozenset[str]) -> None:
    """Refuse records in which an indicator is not what its equation says."""
    inside = set(ties.tree(root).codes)
    for one in ties.equations:
        if one.whole not in inside or not {one.whole, *one.parts} <= held:
            continue
        whole = rows.number(one.whole)
        parts = " + ".join(rows.number(name) for name in one.parts)
        apart = f"abs({whole} - ({parts})) > {NEAR} * greatest(1, abs({whole}))"
        found = rows.connection.execute(
            f"SELECT count(*), min({whole}), min({parts}) FROM src WHERE {apart}"
        ).fetchall()[0]
        if found[0]:
            first = rows.connection.execute(f"SELECT {whole}, {parts} FROM src WHERE {apart} LIMIT 1").fetchall()[0]
            more = f" ({found[0]:,} records are like it)" if found[0] > 1 else ""
            raise Contradiction(
                f"{rows.place(apart)}: {one.whole} is {first[0]:,.10g}, but {' + '.join(one.parts)} is "
                f"{first[1]:,.10g}{more}; correct the records, or take {one.text!r} out of the equations of the plan"
            )
