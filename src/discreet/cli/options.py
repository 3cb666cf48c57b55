"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.core.errors import DataError, InfeasibleError, RequestError

READING = "Reading the table"
OUTPUT = "Output"


def panel(title: str) -> Callable[..., Any]:
    """Return what makes options that help shows under a title."""
    return partial(typer.Option, rich_help_panel=title)


in_reading, in_output = panel(READING), panel(OUTPUT)

Dimensions = Annotated[
    str | None,
    in_reading(
        "--dimensions", help="Columns that classify, with commas; others are left out. All but the counts by default."
    ),
]
Layout = Annotated[str, in_reading("--layout", help="long, wide or auto.")]
Total = Annotated[str, in_reading("--total", help="The label that marks margins; empty for none.")]
Part = Annotated[
    list[str] | None,
    in_reading("--part", help="DIMENSION=CODE: this total is of the codes below it only, and not of everybody."),
]
Encoding = Annotated[str, in_reading("--encoding", help="Encoding of CSV files.")]
Delimiter = Annotated[str | None, in_reading("--delimiter", help="Separator of CSV files; found by itself.")]
Example = Annotated[
    str | None,
    typer.Option("--example", help="A bundled table: country_of_birth, mode_of_travel, sex, religion or cholesterol."),
]
Weights = Annotated[str, typer.Option("--weights", help="Weights of zeros, concentration and size; they sum to 1.")]
Slices = Annotated[
    str | None,
    typer.Option("--slices", help="Dimensions whose slices are measured, with commas; all by default."),
]
Json = Annotated[bool, in_output("--json", help="Print JSON for programs.")]
Output = Annotated[
    Path | None, in_output("--output", "-o", help="Also write the result: .json, .csv (slices) or .txt.")
]
Top = Annotated[int, in_output("--top", help="How many of the worst slices to show.", min=0)]
Seed = Annotated[
    int | None,
    in_output(
        "--seed",
        help="Makes random draws reproducible. That of a release is a secret of 96 bits or more; one of 128 is drawn.",
        min=0,
    ),
]
Trial = Annotated[
    bool,
    in_output("--trial", help="Nothing of this is published: a short seed will do, and what is written is marked."),
]
Workers = Annotated[int | None, in_output("--workers", help="Threads; one per core by default.", min=1)]


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


def names(text: str | None) -> list[str] | None:
    """Split a list of names given with commas."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def pairs(texts: Sequence[str] | None, option: str, form: str) -> dict[str, list[str]]:
    """Read ``NAME=TEXT``, several for one name if need be; ``form`` says in complaints how it is given.

    >>> pairs(["region=nuts.hrc", "region=lau.hrc"], "--hierarchy", "give it as region=nuts.hrc")
    {'region': ['nuts.hrc', 'lau.hrc']}
    """
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, rest = (piece.strip() for piece in text.partition("="))
        if not equals or not name or not rest:
            raise RequestError(f"{option} is {text!r}; {form}")
        found.setdefault(name, []).append(rest)
    return found


def named_files(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Read ``DIMENSION=FILE``."""
    return pairs(texts, "--hierarchy", "give it as region=nuts.hrc")


def parts(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Read the totals of tables that cover a part of a dimension: ``region=East``."""
    return pairs(texts, "--part", "give DIMENSION=CODE, as region=East")


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
