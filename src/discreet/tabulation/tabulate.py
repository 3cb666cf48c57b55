"""Records to a tabulation, by the chosen engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest, require
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.table.counts import numpy_from_arrow
from discreet.table.hierarchy import TOTAL, Hierarchy, Prefixes
from discreet.table.tabulation import Tabulation
from discreet.table.units import Respondents, respondents_of
from discreet.tabulation.blanks_around import refuse_padded
from discreet.tabulation.engine import ENGINES, Run
from discreet.tabulation.plan import Plan, make_plan
from discreet.tabulation.sources import Source, source_of
from discreet.tabulation.spec import (
    KEYS,
    DimensionSpec,
    MarginsWanted,
    Missing,
    Negative,
    Outside,
    ResponseSpec,
    TableSpec,
)

MEMORY = "2GB"
"""How much memory the embedded engine may use before it works on disk: half of what a small machine has."""


By: TypeAlias = Sequence[str | DimensionSpec] | Mapping[str, str | Sequence[str]]
"""The columns that classify, or ``{dimension: [nested columns]}``."""
OF_SOURCE = ("table", "query", "encoding", "delimiter", "decimal")
SPECIFIED = ("value", "contributor", "holding", "weight", "shadow", "estimates", "hierarchies", "missing_codes")


class Options(TypedDict, total=False):
    """The options that :func:`tabulate` documents: what to tabulate, how files are read, how the engine runs."""

    value: str | Sequence[str] | None
    contributor: str | None
    holding: str | None
    weight: str | None
    estimates: bool
    shadow: str | None
    hierarchies: Mapping[str, object] | None
    missing_codes: Mapping[str, Sequence[object]] | None
    missing: Missing
    outside: Outside
    negative: Negative
    margins: MarginsWanted
    top: int
    total: str
    engine: str | None
    table: str | None
    query: str | None
    encoding: str
    delimiter: str | None
    decimal: str | None
    memory: str
    workers: int | None
    progress: Progress | None


def tabulate(records: object, by: TableSpec | By, **options: Unpack[Options]) -> Tabulation:
    """Count and add up records by the dimensions named, with every margin and the largest contributions to each cell.

    The result holds everything that the sensitivity rules need, so the records are not needed again.

    Args:
        records: a CSV, Parquet or DuckDB file, several files or a pattern; a pandas, polars or Arrow frame; a DuckDB
            relation; a Spark DataFrame.
        by: the columns that classify; ``{dimension: [nested columns]}``; or a whole :class:`TableSpec`.
        options: any of these keywords.

    - ``value``: the magnitudes to add up.
    - ``contributor``: the column that names the respondent of each record. By default every record counts as another
      respondent, but records with a column that looks like such a name and has repeated entries are refused; ``""``
      says that each record is indeed another respondent's.
    - ``holding``: the column that names the holding a contributor belongs to; empty if it belongs to none.
    - ``weight``: the column of sampling weights.
    - ``estimates``: add up the weight times the magnitude, or the weights, in place of the plain figures, as
      surveys publish. Without it the weights are kept beside the plain figures, for the rules, and nothing can be
      published from the result.
    - ``shadow``: the column by which the rules judge the magnitudes, if it is a different one.
    - ``hierarchies``: for a dimension a :class:`Hierarchy`, a file of one, :class:`Prefixes`, or a list of these.
    - ``missing_codes``: for a dimension the codes that mean that the category is unknown.
    - ``missing``: records whose category is missing are an ``"error"``, get a ``"category"``, or ``"drop"`` out.
    - ``outside``: codes that no hierarchy has are an ``"error"``, or are placed directly under the ``"total"``.
    - ``negative``: negative contributions count by their ``"absolute"`` value in the rules, or are an ``"error"``.
    - ``margins``: which dimensions are crossed: ``"all"`` subsets, those of up to a number of dimensions, or a list.
    - ``top``: how many of the largest contributions to keep, by default 2.
    - ``total``: the code of the totals.
    - ``engine``: ``"duckdb"`` (the default), ``"spark"`` (the default for a Spark DataFrame) or ``"reference"``.
    - ``table``, ``query``: the table of a DuckDB database file, or the query to run on it.
    - ``encoding``, ``delimiter``, ``decimal``: of CSV files; the delimiter is inferred from the header if it is not
      given, the decimal sign from the numbers.
    - ``memory``: how much memory the embedded engine may use before it works on disk.
    - ``workers``: threads of the embedded engine; one per core by default.
    - ``progress``: called as the work advances.

    >>> import pandas as pd
    >>> firms = pd.DataFrame({"region": ["n", "n", "n", "s"], "turnover": [59, 40, 1, 7]})
    >>> cells = tabulate(firms, ["region"], value="turnover")
    >>> cells.responses[0].sums.tolist(), cells.contributors.largest[0].top.tolist()
    ([107.0, 100.0, 7.0], [[59.0, 40.0], [59.0, 40.0], [7.0, 0.0]])
    """
    require(options, Options.__annotations__, "tabulate has no argument")
    return _tabulated(records, by, dict(options))[0]


def tabulate_keyed(
    records: object, by: By, *, key: str, key_range: int = KEYS, **options: Unpack[Options]
) -> tuple[Tabulation, IntArray]:
    """Tabulate records that have keys, and add the keys up in every cell, modulo their range.

    A cell's key depends only on who is in it: the same people have the same key in every table.

    Args:
        records: as for :func:`tabulate`.
        by: the columns that classify.
        key: the column of record keys.
        key_range: keys are integers from 0 to below this, or fractions between 0 and 1 if it is 1; these are taken as
            integer multiples of 2⁻⁵³, which makes the order of addition irrelevant.
        options: as for :func:`tabulate`, but Spark adds up no keys.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["m", "f", "f"], "k": [5, 7, 250]})
    >>> cells, keys = tabulate_keyed(people, ["sex"], key="k", key_range=256)
    >>> cells.records.tolist(), keys.tolist()
    ([3, 2, 1], [6, 1, 5])
    """
    tabulation, columns = _tabulated(records, by, {**options, "key": key, "key_range": key_range})
    return tabulation, columns["key"]


def tabulate_with_keys(
    records: object, spec: TableSpec, *, progress: Progress | None = None
) -> tuple[Tabulation, IntArray]:
    """Tabulate by a whole specification that names the column of record keys, which are added up in every cell."""
    tabulation, columns = _tabulated(records, spec, {"progress": progress})
    return tabulation, columns["key"]


def _tabulated(records: Any, by: TableSpec | By, options: dict[str, Any]) -> tuple[Tabulation, Mapping[str, Any]]:
    """Return the tabulation, and the columns that the engine made."""
    run: dict[str, Any] = {"memory": MEMORY, "workers": None, "progress": None}
    run |= {name: options.pop(name) for name in run if name in options}
    engine = options.pop("engine", None)
    reading = {name: options.pop(name) for name in OF_SOURCE if name in options}
    if isinstance(by, TableSpec):
        twice = next((name for name in SPECIFIED if options.get(name) not in (None, False)), None)
        if twice is not None:
            raise RequestError(f"{twice} is given beside a whole TableSpec; say it in one place, the specification")
        spec = by
    else:
        spec = _specification(by, **options)
    source = records if isinstance(records, Source) else source_of(records, **reading)
    chosen = ENGINES[engine or ("spark" if source.kind == "spark" else "duckdb")]
    with chosen(source, spec, Run(**run)) as session:
        labels = session.labels()
        if not labels[0]:
            raise DataError(f"{source.shown}: there are no records to tabulate; check the file, and what was left out")
        for dimension, keys in zip(spec.dimensions, labels, strict=True):
            for j, column in enumerate(dimension.columns):
                refuse_padded(source.shown, column, (key[j] for key in keys))
        plan = make_plan(spec, labels, session.place)
        columns = session.cells(plan)
        named = session.respondents(plan) if spec.contributor is not None else None
        dropped = session.dropped
    weight = spec.weight if spec.estimates else None
    responses = [(one.name, one.shadow, one.name == weight) for one in spec.responses]
    known = None if named is None else _respondents(plan, named)
    found = Tabulation.from_columns(
        plan.axes,
        spec.crossed,
        responses,
        columns,
        top=spec.top,
        dropped=dropped,
        respondents=known,
    )
    return found, columns


def _respondents(plan: Plan, named: Any) -> Respondents:
    """Return respondents from an engine's table."""

    def figures(name: str) -> Any:
        return numpy_from_arrow(named[name]) if named.num_rows else np.zeros(0)

    return respondents_of(
        plan.axes,
        (plan.spec.names,) if plan.spec.together else plan.spec.finest,
        named["unit"],
        [figures(f"leaf{i}").astype(np.int64) for i in range(len(plan.axes))],
        figures("records").astype(np.int64),
        np.stack([figures(f"sum{k}").astype(np.float64) for k in range(len(plan.spec.responses))])
        if plan.spec.responses
        else np.zeros((0, named.num_rows)),
    )


def _specification(
    by: By,
    *,
    value: str | Sequence[str] | None = None,
    shadow: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    missing_codes: Mapping[str, Sequence[object]] | None = None,
    total: str = TOTAL,
    outside: Outside = "error",
    **rest: Any,
) -> TableSpec:
    """Build a specification from the arguments of the short form."""
    given: list[str | DimensionSpec] = [by] if isinstance(by, str) else list(by)
    if isinstance(by, Mapping):
        given = [DimensionSpec(n, (c,) if isinstance(c, str) else tuple(c)) for n, c in by.items()]
    names = [one if isinstance(one, str) else one.name for one in given]
    trees, lost = hierarchies or {}, missing_codes or {}
    for what, listed in (("hierarchies", trees), ("missing_codes", lost)):
        for name in listed:
            if name not in names:
                raise RequestError(f"{what} names {name!r}, which is not a dimension; {nearest(name, names)}")
    dimensions = []
    for one in given:
        base = DimensionSpec(one) if isinstance(one, str) else one
        codes = lost.get(base.name, ())
        dimensions.append(
            replace(
                base,
                hierarchies=(*base.hierarchies, *trees_of(trees.get(base.name), total)),
                missing=(*base.missing, *([codes] if isinstance(codes, str) else map(str, codes))),
                total=total if base.total == TOTAL else base.total,
                outside=outside if base.outside == "error" else base.outside,
            )
        )
    values = [value] if isinstance(value, str) else list(value or ())
    if shadow is not None and not values:
        raise RequestError("a shadow variable is judged in place of a magnitude; name the magnitude (value=, --value)")
    return TableSpec(tuple(dimensions), tuple(ResponseSpec(name, shadow) for name in values), **rest)


def trees_of(given: object, total: str) -> list[Hierarchy | Prefixes]:
    """Return hierarchies, read from a file where a file is named."""
    if given is None:
        return []
    found: list[Hierarchy | Prefixes] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        if isinstance(one, str | Path):
            from discreet.table.hierarchy_reader import read_hierarchy

            found.append(read_hierarchy(one, total=total))
        elif isinstance(one, Hierarchy | Prefixes):
            found.append(one)
        else:
            raise RequestError(f"a hierarchy is a Hierarchy, Prefixes or a file, not a {type(one).__name__}")
    return found
