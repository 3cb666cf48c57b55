"""``discreet inspect``: what is in a file, and how it would be read."""

from __future__ import annotations

import json as text
import shlex
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command, option
from discreet.cli.reading_options import (
    Delimiter,
    Dimensions,
    Encoding,
    HeaderRow,
    Mark,
    Notes,
    Numbers,
    Rda,
    Sheet,
    StatisticFile,
    StatisticTexts,
    defined_statistics,
    in_reading,
)

if TYPE_CHECKING:
    from discreet.table.inspection import Inspection


@dataclass(frozen=True)
class InspectedFile:
    """How the file is read where its own description is to be corrected."""

    count: Annotated[str | None, in_reading("The column of figures.")] = None
    dimensions: Dimensions = None
    layout: Annotated[str | None, in_reading("long or wide.")] = None
    total: Annotated[str | None, in_reading("The label that marks margins.")] = None
    rda: Rda = None
    margins: Annotated[str, in_reading("Of .tab: check stated margins, or recompute them.")] = "check"
    encoding: Encoding = "utf-8"
    delimiter: Delimiter = None
    sheet: Sheet = None
    header_row: HeaderRow = None
    statistic: StatisticTexts = None
    statistics: StatisticFile = None
    numbers: Numbers = None
    notes: Notes = None
    mark: Mark = None

    def inspected(self, file: Path, *, cells: bool) -> Inspection:
        """Return what a file holds."""
        if file.suffix.lower() == ".tab" or self.rda is not None:
            from discreet.reading.published import inspect_tab_release
            from discreet.tabulation.argus_tab import inspect_tab

            recompute = self.margins == "recompute"
            published = inspect_tab_release(file, self.rda, cells=cells, encoding=self.encoding)
            return published or inspect_tab(file, self.rda, cells=cells, encoding=self.encoding, recompute=recompute)
        from discreet.table.inspection import inspect_file

        plain = ("count", "dimensions", "layout", "total", "delimiter", "sheet", "header_row", "numbers", "notes")
        given: dict[str, object] = {name: getattr(self, name) for name in plain}
        given |= {"marks": self.mark, "statistics": defined_statistics(self.statistic, self.statistics)}
        return inspect_file(file, cells=cells, encoding=self.encoding, **given)


@command
def inspect(
    file: Annotated[Path | None, argument("A CSV, Parquet, Excel or .tab file.", "FILE")] = None,
    example: options.Example = None,
    cells: Annotated[bool, option("With --json, also every figure.", "--figures")] = False,
    *,
    how: InspectedFile,
    json: options.Json = False,
) -> None:
    """Say what a file holds (a table, records or a release) and how it would be read.

    Examples:
        discreet inspect mystery.csv  # a table or records? which columns, which totals?
        discreet inspect table.xlsx --figures --json  # every figure, for programs
        discreet inspect t.csv --statistic 'pct=percentage, over=sex'  # what the statistics of a release mean
        discreet inspect --example religion  # a bundled table
        discreet inspect firms.tab  # a table of τ-ARGUS, with firms.rda beside it
    """
    bundled.one_of(file, example, "one table: a file")
    with bundled.table_file(example) if example else nullcontext(file) as named:
        assert named is not None
        file = named
        result = how.inspected(file, cells=cells)
    if json and result.cells is not None:
        # Columns of hundreds of thousands of figures, one column a line.
        head = show.as_json("inspect", replace(result, cells=None))
        print(f'{head[:-2]},\n  "cells": {text.dumps(dict(result.cells), allow_nan=False)}\n}}')
    else:
        source = f"--example {example}" if example else shlex.quote(str(file))
        read = dict(result.options) | ({} if how.encoding == "utf-8" else {"encoding": how.encoding})
        for name, value in read.items():
            source += f" --{name.replace('_', '-')} {shlex.quote(value)}"
        show.deliver("inspect", result, json, None, lambda console: _show(console, result, source))


def _show(console: show.Console, result: Inspection, named: str) -> None:
    """Show to a person what a file holds, and what to do with it."""
    console.print(result.sentence)
    rows = [
        [one.name, "numbers" if one.numeric else "labels", f"{one.distinct:,}", ", ".join(one.labels)]
        for one in result.columns
    ]
    show.table(console, ["column", "holds", "different", "such as"], rows, left=(0, 1, 3))
    for told in result.statistics:
        console.print(told)
    step = {"records": f"discreet assess {named} {_options(result)}", "release": f"discreet audit {named}"}
    if result.finished:
        step["records"] = (
            f"discreet plan new {named} drafts how a finished table is protected; of records, {step['records']}"
        )
    if any("" in one.labels for one in result.columns if one.numeric):
        step["release"] += ", if empty figures are hidden; to protect the table, fill them in (0 where nobody is)"
    console.print()
    show.next_step(console, step.get(result.content, f"discreet assess {named}"))


def _options(result: Inspection) -> str:
    """Say how records are probably read: by labels that repeat, with an amount, and a column that says whose."""
    classify = [one.name for one in result.columns if not one.numeric and 2 * one.distinct <= result.rows]
    found = f"--by {shlex.quote(','.join(classify)) if classify else 'COLUMN,COLUMN'}"
    # A number of its own in the first column says which record it is.
    alone = [one for one in result.columns if one.distinct == result.rows]
    whose = [one for one in alone if not one.numeric or one == result.columns[0]]
    amounts = [one for one in result.columns if one.numeric and one not in whose and 2 * one.distinct > result.rows]
    perhaps = f", and perhaps an amount to add up (--value {shlex.quote(amounts[0].name)})" if len(amounts) > 1 else ""
    if len(amounts) == 1:
        found += f" --value {shlex.quote(amounts[0].name)}"
    found += f" --contributor {shlex.quote(whose[0].name)}" if whose else ""
    found += " --missing category" if any("" in one.labels for one in result.columns if one.name in classify) else ""
    return f"{found}, with the columns that your table crosses{perhaps}."
