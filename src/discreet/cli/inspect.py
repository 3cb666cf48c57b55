"""``discreet inspect``: what is in a file, and how it would be read."""

from __future__ import annotations

import json as text
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show

EXAMPLES = {
    "discreet inspect mystery.csv": "a table or records? which columns, which totals?",
    "discreet inspect table.xlsx --cells --json": "every figure, for programs",
    "discreet inspect firms.tab": "a table of τ-ARGUS, with firms.rda beside it",
}


def inspect(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet, Excel or .tab file.")],
    cells: Annotated[bool, typer.Option("--cells", help="With --json, also every figure.")] = False,
    count: Annotated[
        str | None, typer.Option("--count", help="The column of figures.", rich_help_panel=options.READING)
    ] = None,
    dimensions: options.Dimensions = None,
    layout: Annotated[
        str | None, typer.Option("--layout", help="long or wide.", rich_help_panel=options.READING)
    ] = None,
    total: Annotated[
        str | None, typer.Option("--total", help="The label that marks margins.", rich_help_panel=options.READING)
    ] = None,
    rda: Annotated[
        Path | None, typer.Option("--rda", help="The metadata of a .tab file.", rich_help_panel=options.READING)
    ] = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
) -> None:
    """Say what a file holds, a table, records or a release, and how it would be read."""
    if file.suffix.lower() == ".tab" or rda is not None:
        from discreet.tabulation.argus_tab import inspect_tab

        result = inspect_tab(file, rda, cells=cells, encoding=encoding)
    else:
        from discreet.table.inspection import inspect_file

        result = inspect_file(
            file,
            cells=cells,
            encoding=encoding,
            count=count,
            dimensions=dimensions,
            layout=layout,
            total=total,
            delimiter=delimiter,
        )

    def face(console: Any) -> None:
        console.print(str(result), markup=False)

    if json and result.cells is not None:
        # Columns of hundreds of thousands of figures, one column a line.
        head = show.as_json("inspect", replace(result, cells=None))
        print(f'{head[:-2]},\n  "cells": {text.dumps(dict(result.cells), allow_nan=False)}\n}}')
    else:
        show.deliver("inspect", result, json, None, face)


inspect.__doc__ = options.explained(inspect, EXAMPLES)
