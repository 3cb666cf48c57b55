"""``discreet tabulate``: from records to a table with all that the rules need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.core.errors import RequestError

EXAMPLES = {
    "discreet tabulate firms.csv --by region,activity --value turnover --contributor id -o table.parquet": (
        "turnover by region and activity, every margin"
    ),
    "discreet tabulate 'parts/*.parquet' --by activity=A10/A21/A88,size --value turnover -o table.parquet": (
        "nested columns are a hierarchy"
    ),
    "discreet tabulate firms.csv --by region --hierarchy region=nuts.hrc --outside total -o table.parquet": (
        "a hierarchy from a file"
    ),
    "discreet tabulate firms.duckdb --table firms --by region --margins 1 -o table.parquet": "a DuckDB database",
}
RECORDS = "What the records hold"
READING = "Reading the records"
ENDINGS = (".parquet", ".csv", ".tab")


def tabulate(
    records: Annotated[list[str], typer.Argument(help="CSV, Parquet or DuckDB files, or a quoted pattern.")],
    by: Annotated[
        str,
        typer.Option("--by", help="Dimensions, with commas; name=coarse/finer for nested columns.", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The table: .parquet keeps all, .csv, or .tab.", rich_help_panel=options.OUTPUT
        ),
    ],
    value: Annotated[
        str | None, typer.Option("--value", help="Magnitudes to add up, with commas.", rich_help_panel=RECORDS)
    ] = None,
    contributor: Annotated[
        str | None,
        typer.Option("--contributor", help="Whose record it is; each its own by default.", rich_help_panel=RECORDS),
    ] = None,
    holding: Annotated[
        str | None, typer.Option("--holding", help="Which holding it belongs to.", rich_help_panel=RECORDS)
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", help="Sampling weights, above 0.", rich_help_panel=RECORDS)
    ] = None,
    estimates: Annotated[
        bool,
        typer.Option("--estimates", help="Add up weight × magnitude, or weights: to publish.", rich_help_panel=RECORDS),
    ] = False,
    shadow: Annotated[
        str | None, typer.Option("--shadow", help="What the rules judge instead.", rich_help_panel=RECORDS)
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            help="dimension=file (.hrc, .csv, .parquet) or dimension=prefix:1,3; repeat it.",
            rich_help_panel=RECORDS,
        ),
    ] = None,
    lead: Annotated[
        str, typer.Option("--lead", help="What indents the lines of a .hrc file.", rich_help_panel=RECORDS)
    ] = "@",
    outside: Annotated[
        str, typer.Option("--outside", help="Codes in no hierarchy: error or total.", rich_help_panel=RECORDS)
    ] = "error",
    missing_code: Annotated[
        list[str] | None,
        typer.Option("--missing-code", help="dimension=code that means missing; repeat it.", rich_help_panel=RECORDS),
    ] = None,
    missing: Annotated[
        str, typer.Option("--missing", help="Missing codes: error, category or drop.", rich_help_panel=RECORDS)
    ] = "error",
    negative: Annotated[
        str, typer.Option("--negative", help="In the rules: absolute or error.", rich_help_panel=RECORDS)
    ] = "absolute",
    margins: Annotated[str, typer.Option("--margins", help="all, a number of dimensions, or a+b,a+c.")] = "all",
    top: Annotated[int, typer.Option("--top", help="How many of the largest contributions to keep.")] = 2,
    total: Annotated[str, typer.Option("--total", help="The code of the totals.")] = "Total",
    table: Annotated[
        str | None, typer.Option("--table", help="The table of a DuckDB database.", rich_help_panel=READING)
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", help="A query on a DuckDB database.", rich_help_panel=READING)
    ] = None,
    rda: Annotated[
        Path | None,
        typer.Option("--rda", help="The τ-ARGUS metadata of a .asc or .csv file.", rich_help_panel=READING),
    ] = None,
    encoding: Annotated[
        str, typer.Option("--encoding", help="Encoding of CSV files.", rich_help_panel=READING)
    ] = "utf-8",
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Separator; found by itself.", rich_help_panel=READING)
    ] = None,
    decimal: Annotated[
        str, typer.Option("--decimal", help="Decimal sign of CSV files.", rich_help_panel=READING)
    ] = ".",
    engine: Annotated[
        str, typer.Option("--engine", help="duckdb, spark or reference.", rich_help_panel=READING)
    ] = "duckdb",
    memory: Annotated[
        str, typer.Option("--memory", help="What the engine may use before it works on disk.", rich_help_panel=READING)
    ] = "2GB",
    workers: options.Workers = None,
    json: options.Json = False,
) -> None:
    """Count and add up records by the dimensions named, with every margin and the largest contributions to each cell.

    The table that is written keeps all that the sensitivity rules need; the records are not needed again.
    """
    from discreet.table.hierarchy_reader import read_hierarchy
    from discreet.tabulation.tabulate import tabulate as run

    show.check_output(output, *(Path(name) for name in records), endings=ENDINGS)
    dimensions: Any = _dimensions(by)
    trees: dict[str, list[Any]] = {}
    for name, where in _pairs(hierarchy, "--hierarchy", "region=nuts.hrc"):
        trees.setdefault(name, []).append(_prefixes(where) or read_hierarchy(where, lead=lead, total=total))
    codes: dict[str, list[str]] = {}
    for name, code in _pairs(missing_code, "--missing-code", "region=99"):
        codes.setdefault(name, []).append(code)
    source: Any = records[0] if len(records) == 1 else records
    if rda is not None:
        from discreet.tabulation.argus_microdata import read_microdata

        if len(records) > 1:
            raise RequestError("--rda describes one file of records; name one")
        source, dimensions = read_microdata(records[0], rda, encoding=encoding).prepared(dimensions, total=total)
    with show.Bar() as bar:
        result = run(
            source,
            dimensions,
            value=options.names(value),
            contributor=contributor,
            holding=holding,
            weight=weight,
            estimates=estimates,
            shadow=shadow,
            hierarchies=trees,
            missing_codes=codes,
            missing=missing,  # type: ignore[arg-type]
            outside=outside,  # type: ignore[arg-type]
            negative=negative,  # type: ignore[arg-type]
            margins=_margins(margins),
            top=top,
            total=total,
            engine=engine,
            table=table,
            query=query,
            encoding=encoding,
            delimiter=delimiter,
            decimal=decimal,
            memory=memory,
            workers=workers,
            progress=bar,
        )
    if output.suffix.lower() == ".tab":
        from discreet.tabulation.argus_tab import write_tab

        write_tab(result, output)
    else:
        result.write(output)

    def face(console: Any) -> None:
        console.print(f"[bold]{len(result):,} cells[/bold] in {len(result.margins)} margins")
        console.print(result.headline, markup=False)
        console.print()
        header, rows, _ = result.preview(8)
        show.table(console, header, rows)
        console.print(f"\nWritten: {output}", style="dim", markup=False)

    show.deliver("tabulate", _Summary(result, output), json, None, face)


class _Summary:
    """What programs are told of a tabulation."""

    def __init__(self, tabulation: Any, output: Path) -> None:
        self.tabulation, self.output = tabulation, output

    def to_dict(self) -> dict[str, Any]:
        cells = self.tabulation
        return {
            "cells": len(cells),
            "margins": [list(margin) for margin in cells.margins],
            "dimensions": [{"name": axis.name, "codes": len(axis), "leaves": len(axis.leaves)} for axis in cells.axes],
            "responses": [response.name for response in cells.responses],
            "levels": list(cells.levels),
            "top": cells.top,
            "records": int(cells.records.max(initial=0)),
            "dropped": cells.dropped,
            "output": str(self.output),
        }


def _dimensions(by: str) -> dict[str, str | list[str]]:
    """Read ``region,activity=A10/A21``."""
    found: dict[str, str | list[str]] = {}
    for part in options.names(by) or []:
        name, _, columns = part.partition("=")
        if name in found:
            raise RequestError(f"dimension {name!r} is named twice in --by; name each once")
        found[name] = columns.split("/") if columns else name
    return found


def _pairs(given: list[str] | None, option: str, example: str) -> list[tuple[str, str]]:
    pairs = []
    for one in given or []:
        name, sign, rest = one.partition("=")
        if not sign or not name or not rest:
            raise RequestError(f"{option} is {one!r}; give it as {example}")
        pairs.append((name, rest))
    return pairs


def _prefixes(text: str) -> Any:
    if not text.startswith("prefix:"):
        return None
    from discreet.table.hierarchy import Prefixes

    try:
        return Prefixes(tuple(int(part) for part in text.removeprefix("prefix:").split(",")))
    except ValueError:
        raise RequestError(f"the prefix lengths are {text!r}; give whole numbers, as prefix:1,3") from None


def _margins(text: str) -> Any:
    """Read ``all``, ``2`` or ``region+activity,region``."""
    if text == "all":
        return "all"
    if text.isdecimal():
        return int(text)
    return [[name.strip() for name in part.split("+") if name.strip()] for part in text.split(",")]


tabulate.__doc__ = options.explained(tabulate, EXAMPLES)
