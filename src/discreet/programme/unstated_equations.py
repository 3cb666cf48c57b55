"""Amounts of records, or of finished tables, that follow from each other, though the plan does not say so.

Profit is turnover less costs, and turnover in thousands is turnover. If a plan takes such columns for variables that
have nothing to do with each other, each is hidden by itself, and one table shows what another hides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError
from discreet.core.files import ScratchFolder
from discreet.core.numerics import FloatArray
from discreet.programme.crossings import Cluster
from discreet.programme.indicators import Indicators
from discreet.table.tabulation import Tabulation
from discreet.tabulation.engines.duckdb_input import Input, open_input, unreadable
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import DimensionSpec, ResponseSpec, TableSpec

FEWEST = 4
"""Of fewer records that are not 0, amounts may follow from each other by chance: a round choice."""
CLOSE = 1e-9
"""Amounts that differ by less, relative to their size, are the same but for the last digits of a computer."""
ROUNDED = 1e-3
"""Figures of finished tables that differ by less, relative to their size, may do so by rounding: a round choice."""


def refuse_unstated_equations(
    source: Source,
    dimension: str,
    clusters: Sequence[Cluster],
    indicators: Indicators,
    weights: Mapping[str, str | None],
) -> None:
    """Refuse records in which an amount is a multiple of another, or the sum of two, and no equation ties them.

    Args:
        source: the records.
        dimension: a column that classifies them.
        clusters: the tables of the plan; those of numbers count the records, or add up their weights.
        indicators: the equations of the plan.
        weights: the column of weights of each cluster.
    """
    import duckdb

    columns: dict[tuple[str, str | None], str] = {}
    for one in clusters:
        for name in indicators.tree(one.variable).codes if indicators.tied(one.variable) else (one.variable,):
            columns.setdefault((name, weights[one.name]), one.variable)
    if len(columns) < 2:
        return
    numbers = dict.fromkeys(name for pair in columns for name in pair if name)
    spec = TableSpec((DimensionSpec(dimension),), tuple(ResponseSpec(name) for name in numbers), alone=True)
    with ScratchFolder() as folder, duckdb.connect() as connection:
        rows = open_input(connection, source, spec, Path(folder))
        amounts = [" * ".join([*(rows.number(name) for name in pair if name), "1"]) for pair in columns]
        names = [_said(*pair) for pair in columns]
        try:
            for terms in _candidates(_products(rows, amounts), list(columns.values())):
                _refuse(rows, [amounts[i] for i in terms], [names[i] for i in terms])
        except duckdb.Error as error:
            raise unreadable(source, error) from None


def refuse_unstated_sums(tables: Sequence[tuple[str, Tabulation]]) -> None:
    """Refuse finished tables of several variables if one is a multiple of another, or the sum of two, in every cell.

    Args:
        tables: a variable and a table of it, each; only tables that cross the same are compared.
    """
    crossed: dict[frozenset[str], dict[str, Tabulation]] = {}
    for variable, table in tables:
        crossed.setdefault(frozenset(table.names), {}).setdefault(variable, table)
    for several in crossed.values():
        names = list(several)
        found = [_cells(table) for table in several.values()] if len(names) > 1 else []
        every = list(dict.fromkeys(cell for cells in found for cell in cells))
        if not every:
            continue
        columns = np.array([[cells.get(cell, 0.0) for cell in every] for cells in found])
        for first, *others in _candidates(columns @ columns.T, names):
            whole, parts = columns[first], columns[others].sum(axis=0)
            times = whole.sum() / parts.sum() if len(others) == 1 and parts.sum() else 1.0
            if (whole != 0).sum() >= FEWEST and np.allclose(whole, times * parts, rtol=ROUNDED, atol=ROUNDED):
                said = " + ".join(_said(names[i], None) for i in others)
                said = f"{times:g} times {said}" if len(others) == 1 else said
                raise DataError(
                    f"in every cell, {_said(names[first], None)} is {said}, so what one table hides another may show; "
                    "leave tables of one of them out, or tabulate the records by a plan that says so (equations)"
                )


def _cells(table: Tabulation) -> dict[frozenset[tuple[str, str]], float]:
    """Return the figures of a finished table by the labels of their cells."""
    figures = table.responses[0].sums if table.responses else table.records
    return {frozenset(table.label(row).items()): float(one) for row, one in enumerate(figures)}


def _said(name: str, weight: str | None) -> str:
    own = repr(name) if name else "the number of records"
    return own if weight is None else f"{own}, weighted by {weight!r}"


def _products(rows: Input, amounts: Sequence[str]) -> FloatArray:
    """Return the sums of products of every two amounts, over all records."""
    pairs = [(i, j) for i in range(len(amounts)) for j in range(i + 1)]
    asked = ", ".join(f"coalesce(sum(({amounts[i]}) * ({amounts[j]})), 0)" for i, j in pairs)
    found = rows.connection.execute(f"SELECT {asked} FROM src").fetchone() or ()
    result = np.zeros((len(amounts),) * 2)
    for (i, j), value in zip(pairs, found, strict=True):
        result[i, j] = result[j, i] = value
    return result


def _candidates(g: FloatArray, root: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield amounts that may follow from each other by their sums of products, unless an equation ties them."""
    some = [i for i in range(len(root)) if g[i, i] > 0]
    for i, j in combinations(some, 2):
        # Cauchy and Schwarz: equal where the two are proportional.
        if root[i] != root[j] and g[i, i] * g[j, j] - g[i, j] ** 2 <= CLOSE * g[i, i] * g[j, j]:
            yield i, j
    for i, j, k in permutations(some, 3):
        left = g[i, i] + g[j, j] + g[k, k] - 2 * g[i, j] - 2 * g[i, k] + 2 * g[j, k]
        if j < k and len({root[i], root[j], root[k]}) > 1 and left <= CLOSE * g[i, i]:
            yield i, j, k


def _refuse(rows: Input, amounts: Sequence[str], names: Sequence[str]) -> None:
    """Refuse amounts if the first is a multiple of the second, or the sum of the others, in every record."""
    one, *others = (f"({amount})" for amount in amounts)
    times = 1.0
    if len(others) == 1:
        whole, part = rows.connection.execute(f"SELECT sum({one}), sum({others[0]}) FROM src").fetchone() or (0, 0)
        times = whole / part if part else 0.0
    off = f"abs({one} - {times!r} * ({' + '.join(others)})) > {CLOSE} * abs({one})"
    facts = f"count_if({off}), count_if({one} <> 0)"
    different, some = rows.connection.execute(f"SELECT {facts} FROM src").fetchone() or (1, 0)
    if different or some < FEWEST:
        return
    hides = f"{rows.source.shown}: in every record, {names[0]} is {{}}, so what one table hides another may show; {{}}"
    if len(others) == 1:
        raise DataError(hides.format(f"{times:g} times {names[1]}", "publish tables of one of the two"))
    said = " = ".join([names[0].strip("'"), " + ".join(name.strip("'") for name in names[1:])])
    remedy = f'say so, and they are protected together: equations = ["{said}"]'
    raise DataError(hides.format(" + ".join(names[1:]), remedy))
