"""``discreet inspect``: what is in a file, and how it would be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show

EXAMPLES = {
    "discreet inspect mystery.csv": "a table or records? which columns, which totals?",
    "discreet inspect table.xlsx --cells --json": "every figure, for programs",
}


def inspect(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Excel file.")],
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
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
) -> None:
    """Say what a file holds, a table, records or a release, and how it would be read."""
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

    show.deliver("inspect", result, json, None, face)


inspect.__doc__ = options.explained(inspect, EXAMPLES)
