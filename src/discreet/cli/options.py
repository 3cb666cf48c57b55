"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.core.errors import DataError, InfeasibleError, RequestError

if TYPE_CHECKING:
    from discreet.table import Table

READING = "Reading the table"
OUTPUT = "Output"

Count = Annotated[str, typer.Option("--count", help="The column of counts of a long file.", rich_help_panel=READING)]
Dimensions = Annotated[
    str | None,
    typer.Option(
        "--dimensions",
        help="Columns that classify, with commas; others are left out. All but the counts by default.",
        rich_help_panel=READING,
    ),
]
Layout = Annotated[str, typer.Option("--layout", help="long, wide or auto.", rich_help_panel=READING)]
Total = Annotated[
    str,
    typer.Option("--total", help="The label that marks margins; empty for none.", rich_help_panel=READING),
]
Part = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        help="DIMENSION=CODE: this total is of the codes below it only, and not of everybody.",
        rich_help_panel=READING,
    ),
]
Margins = Annotated[
    str,
    typer.Option("--margins", help="check stated margins, or recompute them from the cells.", rich_help_panel=READING),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of CSV files.", rich_help_panel=READING)]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="Separator of CSV files; found by itself.", rich_help_panel=READING),
]
Impossible = Annotated[
    Path | None,
    typer.Option(
        "--impossible",
        help="A file of combinations that cannot occur (structural zeros).",
        rich_help_panel=READING,
    ),
]
Example = Annotated[
    str | None,
    typer.Option("--example", help="A bundled table: country_of_birth, mode_of_travel, sex, religion or cholesterol."),
]
Weights = Annotated[str, typer.Option("--weights", help="Weights of zeros, concentration and size; they sum to 1.")]
By = Annotated[
    str | None,
    typer.Option("--by", help="Dimensions whose slices are measured, with commas; all by default."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.", rich_help_panel=OUTPUT)]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also write the result: .json, .csv (slices) or .txt.", rich_help_panel=OUTPUT),
]
Top = Annotated[int, typer.Option("--top", help="How many of the worst slices to show.", min=0, rich_help_panel=OUTPUT)]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Makes random draws reproducible. That of a release is a secret of 96 bits or more; one of 128 is drawn.",
        min=0,
        rich_help_panel=OUTPUT,
    ),
]
Trial = Annotated[
    bool,
    typer.Option(
        "--trial",
        help="Nothing of this is published: a short seed will do, and what is written is marked.",
        rich_help_panel=OUTPUT,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Threads; one per core by default.", min=1, rich_help_panel=OUTPUT),
]


def explained(command: Callable[..., None], examples: Mapping[str, str]) -> str:
    """Return the help of a command, its paragraphs unbroken, with examples and what each does."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(command.__doc__ or "").split("\n\n")]
    shown = [f"  [dim]# {what}[/dim]\n  {line}" for line, what in examples.items()]
    return "\n\n".join([*paragraphs, "[bold]Examples[/bold]", *shown])


@contextmanager
def about(*sources: object) -> Iterator[None]:
    """Name the files in complaints about the data in them, where they do not name one themselves."""
    named = [str(source) for source in sources if source is not None]
    try:
        yield
    except (DataError, InfeasibleError) as error:
        if not named or str(error).startswith(tuple(named)):
            raise
        raise type(error)(f"{' and '.join(named)}: {error}") from None


DEFAULTS = {"count": "count", "layout": "auto", "total": "Total", "margins": "check", "encoding": "utf-8"}


def told(reading: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """Return the options of reading that the user gave, so that what is not said can be found out from the file."""
    given: dict[str, Any] = {name: value for name, value in reading.items() if value != DEFAULTS[name]}
    return given | {name: value for name, value in more.items() if value is not None}


def names(text: str | None) -> list[str] | None:
    """Split a list of names given with commas."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def parts(texts: list[str] | None) -> dict[str, list[str]]:
    """Read the totals of tables that cover a part of a dimension: ``region=East``."""
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, code = (piece.strip() for piece in text.partition("="))
        if not equals or not name or not code:
            raise RequestError(f"--part is {text!r}; give DIMENSION=CODE, as region=East")
        found.setdefault(name, []).append(code)
    return found


def check_parts(wanted: Mapping[str, Iterable[str]], totals: Iterable[tuple[str, str, bool]]) -> None:
    """Refuse a total of a part that no table has; totals are given by dimension, with whether they are one."""
    known = list(totals)
    for name, codes in wanted.items():
        for code in codes:
            if (name, code, False) in known:
                raise RequestError(
                    f"--part is '{name}={code}', but {code!r} is the code of everybody; give the total of some "
                    "categories a code of its own in the file, and name that one"
                )
            if (name, code, True) not in known:
                shown = dict.fromkeys(repr(total) for other, total, _ in known if other == name)
                there = f"totals along {name!r} are {', '.join(shown)}" if shown else f"no table has {name!r}"
                raise RequestError(f"--part is '{name}={code}', but {there}; name one of these")


def check_seed(seed: int | None, trial: bool) -> None:
    """Refuse a seed with which a release can be undone, unless it is for a trial."""
    from discreet.core.random import release_seed

    release_seed(seed, trial=trial)


def weights(text: str) -> tuple[float, float, float]:
    """Read the three weights."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(f"weights are {text!r}; give three numbers with commas, as 0.1,0.8,0.1") from None
    if len(values) != 3:
        raise RequestError(f"weights are {text!r}: {len(values)} of them; give three, as 0.1,0.8,0.1")
    return (values[0], values[1], values[2])


def load(
    path: Path | None,
    *,
    example: str | None = None,
    count: str,
    dimensions: str | None,
    layout: str,
    total: str,
    totals: Mapping[str, str] | None = None,
    margins: str,
    encoding: str,
    delimiter: str | None,
    impossible: Path | None = None,
) -> Table:
    """Read the table that a command was given: a file, or a bundled example."""
    if (path is None) == (example is None):
        raise RequestError("name one table: a CSV or Parquet file, or a bundled one with --example religion")
    if example is not None:
        from discreet import datasets

        table = datasets.load(example)
        return table if impossible is None else table.with_structural_zeros(impossible)
    assert path is not None
    from discreet.table.table_reader import read_table

    return read_table(
        path,
        count=count,
        dimensions=names(dimensions),
        layout=layout,  # type: ignore[arg-type]
        total=total or None,
        totals=totals,
        margins=margins,  # type: ignore[arg-type]
        encoding=encoding,
        delimiter=delimiter,
        impossible=impossible,
    )
