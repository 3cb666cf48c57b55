"""``discreet tabulate``: from records to a table with all that the rules need."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command, option, panel
from discreet.cli.options import in_output
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.table.hierarchy import Prefixes

in_records, in_reading = panel("What the records hold"), panel("Reading the records")


@dataclass(frozen=True)
class HoldingOptions:
    """What the records hold."""

    value: Annotated[str | None, in_records("Magnitudes to add up, comma-separated.")] = None
    contributor: Annotated[
        str | None,
        in_records("The column that says whose record it is; by default each record is from another contributor."),
    ] = None
    holding: Annotated[str | None, in_records("The column that says which holding it belongs to.")] = None
    weight: Annotated[str | None, in_records("The column of sampling weights, above 0.")] = None
    estimates: Annotated[bool, in_records("Publish weighted sums: weight × magnitude, or the weights.")] = False
    shadow: Annotated[str | None, in_records("The magnitude that the rules judge instead.")] = None
    hierarchy: Annotated[
        list[str] | None, in_records("dimension=file (.hrc, .csv, .parquet) or dimension=prefix:1,3; repeat it.")
    ] = None
    lead: Annotated[str, in_records("What indents the lines of a .hrc file.")] = "@"
    outside: Annotated[str, in_records("Codes in no hierarchy: error or total.")] = "error"
    missing_code: Annotated[list[str] | None, in_records("dimension=code that means missing; repeat it.")] = None
    missing: Annotated[str, in_records("Missing codes: error, category or drop.")] = "error"
    negative: Annotated[str, in_records("Negative contributions in the rules: absolute or error.")] = "absolute"

    def said(self, total: str) -> dict[str, Any]:
        """Return it as the function takes it."""
        from discreet.table.hierarchy_reader import read_hierarchy

        plain = ("contributor", "holding", "weight", "estimates", "shadow", "outside", "missing", "negative")
        trees = {
            name: [_prefixes(where) or read_hierarchy(where, lead=self.lead, total=total) for where in files]
            for name, files in options.named_files(self.hierarchy).items()
        }
        codes = options.pairs(self.missing_code, "--missing-code", "give it as region=99")
        found = {"value": options.names(self.value), "hierarchies": trees, "missing_codes": codes}
        return {name: getattr(self, name) for name in plain} | found


@dataclass(frozen=True)
class MicrodataOptions:
    """How the records are read."""

    table: Annotated[str | None, in_reading("The table of a DuckDB database.", "--database-table")] = None
    query: Annotated[str | None, in_reading("A query on a DuckDB database.")] = None
    rda: Annotated[Path | None, in_reading("The τ-ARGUS metadata of a .asc or .csv file.")] = None
    encoding: Annotated[str, in_reading("Encoding of CSV files.")] = "utf-8"
    delimiter: Annotated[str | None, in_reading("Separator; detected by default.")] = None
    decimal: Annotated[str | None, in_reading("The decimal sign; the other of . and , may separate thousands.")] = None
    engine: Annotated[str, in_reading("duckdb, spark or reference.")] = "duckdb"
    memory: Annotated[str, in_reading("Memory that the engine uses before it works on disk.")] = "2GB"

    def opened(self, records: list[str], dimensions: Any, total: str) -> tuple[Any, Any]:
        """Return where the records are, and their dimensions as metadata describe them."""
        if self.rda is None:
            return records[0] if len(records) == 1 else records, dimensions
        from discreet.tabulation.argus_microdata import read_microdata

        if len(records) > 1:
            raise RequestError("--rda describes one file of records; name one")
        return read_microdata(records[0], self.rda, encoding=self.encoding).prepared(dimensions, total=total)


@command
def tabulate(
    records: Annotated[
        list[str] | None, argument("CSV, Parquet or DuckDB files, or a quoted pattern.", "RECORDS…")
    ] = None,
    example: options.ExampleRecords = None,
    *,
    by: Annotated[
        str, option("Dimensions, comma-separated; name=coarse/finer for nested columns.", show_default=False)
    ],
    output: Annotated[Path, in_output("The table: .parquet keeps all, .csv, or .tab.")],
    margins: Annotated[
        str, option("Which margins to make: all, a number of dimensions, or a+b,a+c.", "--crossings")
    ] = "all",
    top: Annotated[int, option("How many of the largest contributions to keep.", "--largest")] = 2,
    total: Annotated[str, option("The code of the totals.")] = "Total",
    held: HoldingOptions,
    source: MicrodataOptions,
    workers: options.Workers = None,
    json: options.Json = False,
) -> None:
    """Count and add up records by the dimensions named, with every margin and the largest contributions to each cell.

    The table that is written keeps all that the sensitivity rules need; the records are not needed again.

    Examples:
        discreet tabulate firms.csv --by region,activity --value turnover --contributor id -o table.parquet
            # turnover by region and activity, every margin
        discreet tabulate 'parts/*.parquet' --by activity=A10/A21/A88,size --value turnover -o table.parquet
            # nested columns are a hierarchy
        discreet tabulate firms.csv --by region --hierarchy region=nuts.hrc --outside total -o table.parquet
            # a hierarchy from a file
        discreet tabulate f.duckdb --database-table firms --by region --crossings 1 -o t.parquet  # a database of DuckDB
        discreet tabulate --example religion --by output_area,religion -o table.parquet  # everybody in a bundled table
    """
    from discreet.tabulation.tabulate import tabulate as run

    bundled.one_of(records, example, "the files of records")
    given = list(records or ())
    show.check_output(output, *map(Path, given), endings=(".parquet", ".csv", ".tab"))
    said = held.said(total)
    how = {name: one for name, one in vars(source).items() if name != "rda"} | {"top": top, "total": total}
    with bundled.people_file(example) if example else nullcontext() as made, show.ProgressBar() as bar:
        where, dimensions = source.opened(given if made is None else [str(made)], _dimensions(by), total)
        result = run(where, dimensions, margins=_margins(margins), workers=workers, progress=bar, **said, **how)
    if output.suffix.lower() == ".tab":
        from discreet.tabulation.argus_tab import write_tab

        write_tab(result, output)
    else:
        result.write(output)

    def face(console: show.Console) -> None:
        console.print(f"{result.headline}\n")
        header, rows, _ = result.preview(8)
        show.table(console, header, rows)
        show.written(console, output)

    data = {
        "cells": result.whole,
        "margins": [list(margin) for margin in result.margins],
        "dimensions": [{"name": axis.name, "codes": len(axis), "leaves": len(axis.leaves)} for axis in result.axes],
        "responses": [response.name for response in result.responses],
        "levels": list(result.levels),
        "top": result.top,
        "records": int(result.records.max(initial=0)),
        "dropped": result.dropped,
        "output": str(output),
    }
    show.deliver("tabulate", data, json, None, face)


def _dimensions(by: str) -> dict[str, str | list[str]]:
    """Read ``region,activity=A10/A21``."""
    found: dict[str, str | list[str]] = {}
    for part in options.names(by) or []:
        name, _, columns = part.partition("=")
        if name in found:
            raise RequestError(f"dimension {name!r} is named twice in --by; name each once")
        found[name] = columns.split("/") if columns else name
    return found


def _prefixes(text: str) -> Prefixes | None:
    if not text.startswith("prefix:"):
        return None
    from discreet.table.hierarchy import Prefixes

    try:
        return Prefixes(tuple(int(part) for part in text.removeprefix("prefix:").split(",")))
    except ValueError:
        raise RequestError(f"the prefix lengths are {text!r}; give integers, as prefix:1,3") from None


def _margins(text: str) -> str | int | list[list[str]]:
    """Read ``all``, ``2`` or ``region+activity,region``."""
    if text == "all":
        return "all"
    if text.isdecimal():
        return int(text)
    return [[name.strip() for name in part.split("+") if name.strip()] for part in text.split(",")]
