"""How results reach people, programs and files."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from discreet.core.errors import RequestError
from discreet.core.files import write_text
from discreet.core.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SCHEMA = 1
"""The version of what ``--json`` prints."""
LABELS = ("dimension", "category")
FIGURES = ("value", "mean", "sd", "mc_error", "risk", "hellinger", "terms", "people", "cells")
"""What the rows of a CSV file hold, where a result has it; the whole table's row has no labels."""
ENDINGS = (".json", ".csv", ".txt")
"""The formats that results are written in."""
PATIENCE = 2.0
"""Seconds before a progress bar appears."""


class Result(Protocol):
    """What every result offers."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""


def as_json(command: str, result: Result) -> str:
    """Return the JSON that a command prints."""
    return json.dumps({"schema": SCHEMA, "command": command, **result.to_dict()}, indent=2, allow_nan=False)


def check_output(output: Path | None, *inputs: Path | None, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse an output that cannot be written, or that would replace an input, before any work is done."""
    if output is None:
        return
    if output.suffix.lower() not in endings:
        allowed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise RequestError(f"{output}: '{output.suffix}' is not written; end the name in {allowed}")
    if os.path.isdir(output) or not os.path.isdir(output.parent):
        raise RequestError(f"{output} cannot be written; name a file in a folder that exists")
    if os.path.exists(output) and any(path and os.path.exists(path) and path.samefile(output) for path in inputs):
        raise RequestError(f"{output} is the table that is read; name another file for the result")


def write_result(command: str, result: Result, output: Path) -> None:
    """Write a result in the format that the file's ending names."""
    suffix = output.suffix.lower()
    if suffix == ".json":
        write_text(output, as_json(command, result) + "\n")
    elif suffix == ".txt":
        write_text(output, f"{result}\n")
    elif hasattr(result, "to_csv"):
        write_text(output, result.to_csv())
    else:
        write_text(output, _slices_csv(result))


def _slices_csv(result: Result) -> str:
    """Return whole table and slices as CSV, one row each; what is undefined stays empty."""
    import csv
    import io

    data = result.to_dict()
    rows = [
        _flatten({name: row[name] for name in (*LABELS, *FIGURES) if name in row}) for row in [data, *data["slices"]]
    ]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*LABELS, *rows[0]], restval="", lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def write_columns(path: Path, names: list[str], figures: Any) -> None:
    """Write columns of figures as CSV, one row per line."""
    import numpy as np

    lines = [",".join(names), *(",".join(f"{value:.10g}" for value in row) for row in np.asarray(figures).tolist())]
    write_text(path, "\n".join(lines) + "\n")


def _flatten(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}_"))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def deliver(command: str, result: Result, as_program: bool, output: Path | None, face: Any) -> None:
    """Write the result if a file was named, then print it, for a program or with `face` for a person."""
    if output is not None:
        write_result(command, result, output)
    if as_program:
        print(as_json(command, result))
        return
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    face(console)
    if output is not None:
        console.print(f"\nWritten: {output}", style="dim", markup=False)


def head(console: Any, headline: str, note: str) -> None:
    """Print what was read, and what was assumed in reading it."""
    for line in (headline, note):
        if line:
            console.print(line, style="dim", markup=False)


def table(
    console: Any, header: list[str], rows: list[list[str]], bar: int | None = None, left: tuple[int, ...] = (0,)
) -> None:
    """Print an aligned table; the column `bar` is drawn as a bar beside its figure, those in `left` are flush left."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    grid = RichTable(box=None, pad_edge=False, header_style="dim")
    for i, name in enumerate(header):
        grid.add_column(name, justify="left" if i in left else "right", overflow="fold")
    if bar is not None:
        grid.add_column("", justify="left")
    for row in rows:
        cells = [escape(text) for text in row]
        if bar is not None:
            cells.append(_bar(row[bar]))
        grid.add_row(*cells)
    console.print(grid)


def _bar(text: str, width: int = 12) -> str:
    try:
        share = min(max(float(text), 0.0), 1.0)
    except ValueError:
        return ""
    filled = round(share * width)
    colour = "green" if share < 1 / 3 else "yellow" if share < 2 / 3 else "red"
    return f"[{colour}]{'█' * filled}[/][dim]{'░' * (width - filled)}[/]"


LISTENERS: list[Progress] = []
"""Who is told of progress instead of the terminal."""


class Bar:
    """A progress bar with the time left, drawn on the error stream once work takes over two seconds."""

    def __init__(self) -> None:
        """Start the clock."""
        self._start = time.monotonic()
        self._bar: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Bar:
        """Be ready to draw."""
        return self

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show how much is done."""
        for listener in LISTENERS:
            listener(done, total, label)
        if self._bar is None:
            if time.monotonic() - self._start < PATIENCE or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        if label not in self._tasks:
            self._tasks[label] = self._bar.add_task(label, total=total)
        self._bar.update(self._tasks[label], completed=done, total=total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
