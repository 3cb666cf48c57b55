"""``discreet risk``: the risk of a table before and after protection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.compose import composed
from discreet.cli.original_options import OriginalOptions
from discreet.core.errors import RequestError

EXAMPLES = {
    "discreet risk religion.csv": "before protection: R1, every slice",
    "discreet risk religion.csv --released rounded.csv": "after: R2 and information loss",
    "discreet risk religion.csv --method random-rounding": "what random rounding does, over 1,000 draws",
    "discreet risk religion.csv --method cell-key:bound=3,variance=1": "any other method, with its parameters",
    "discreet risk --example religion --json": "a bundled table, for programs",
}
in_method = options.panel("What a method would do")
DRAWING = ("draws", "precision", "exact", "aggregate")
"""Options of methods that are judged over their draws."""


@composed
def risk(
    *,
    table: Annotated[Path | None, typer.Argument(help="The original table: CSV or Parquet, long or wide.")] = None,
    released: Annotated[
        Path | None,
        typer.Option("--released", help="The table that will be published, on the same categories."),
    ] = None,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="The released table is a sample: no cell may exceed the original's."),
    ] = False,
    example: options.Example = None,
    weights: options.Weights = "0.1,0.8,0.1",
    form: Annotated[str, typer.Option("--form", help="Form of R2: 2015, or 2014 to replay that paper.")] = "2015",
    slices: options.Slices = None,
    method: Annotated[
        str | None,
        in_method(
            "--method",
            help="NAME or NAME:KEY=VALUE,KEY=VALUE: a random method over its draws, another one applied once.",
        ),
    ] = None,
    base: Annotated[int | None, in_method("--base", help="Base of random-rounding; 3 by default.")] = None,
    n: Annotated[int | None, in_method("--n", help="Sample size of random-sample.")] = None,
    draws: Annotated[int | None, in_method("--draws", help="How many releases to draw; 1,000 by default.")] = None,
    precision: Annotated[
        float | None, in_method("--precision", help="Draw until the Monte Carlo error is at most this.")
    ] = None,
    exact: Annotated[bool, in_method("--exact", help="Enumerate every release instead of drawing.")] = False,
    aggregate: Annotated[
        str, in_method("--aggregate", help="measure: mean of R2; transition: entropy of the mean.")
    ] = "measure",
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    workers: options.Workers = None,
    output: options.Output = None,
    top: options.Top = 10,
) -> None:
    """Measure the attribute-disclosure risk of a frequency table, from 0 (low) to 1 (high).

    Before protection: R1. With --released: R2 of what will be published, and what was lost. With --method: the
    same of what a method makes, and of a random method the expected R2 over its draws.
    """
    show.check_output(output, table, released, read.impossible)
    if released is not None and method is not None:
        raise RequestError("give either --released (one release) or --method (a method over its draws), not both")
    if sampled and released is None:
        raise RequestError("--sampled says what the released table is; give it with --released")
    belongs: dict[str, Any] = {
        "draws": draws,
        "precision": precision,
        "exact": exact or None,
        "aggregate": None if aggregate == "measure" else aggregate,
        "base": base,
        "n": n,
    }
    stray = next((name for name, value in belongs.items() if value is not None), None)
    if method is None and stray is not None:
        raise RequestError(f"--{stray} belongs to a random method; name it with --method")
    opened = read.opened(table, example=example)
    original = opened.table()
    w = options.weights(weights)
    made: Any = None if method is None else _method(method, base, n)
    if method is not None and _over_draws(made, stray):
        from discreet.evaluate.expected import expected_risk

        with show.Bar() as bar, options.about(table or example):
            expected = expected_risk(
                original,
                made,
                draws=1000 if draws is None else draws,
                precision=precision,
                exact=exact,
                aggregate=aggregate,  # type: ignore[arg-type]
                weights=w,
                form=form,  # type: ignore[arg-type]
                slices=options.names(slices),
                seed=seed,
                workers=workers,
                progress=bar,
            )

        def face_of_method(console: Any) -> None:
            show.head(console, original.headline, opened.note)
            console.print(f"[bold]R2 = {expected.risk.mean:.4f}[/bold] expected{_scale(form)}")
            console.print(expected.sentence, markup=False)
            header = ["", "risk", "deviation", "MC error", "Hellinger"]
            show.table(console, header, expected.rows()[: top + 1], bar=1)

        show.deliver("risk", expected, json, output, face_of_method)
        return
    from discreet.measures.risk import risk as measure
    from discreet.reading.original import open_released

    figures = open_released(released, read.reading(impossible=None))
    loss = None
    with show.Bar() as bar, options.about(table or example, released):
        if made is not None:
            figures = made.apply(original, progress=bar).release.table
        result = measure(
            original,
            figures,
            weights=w,
            form=form,  # type: ignore[arg-type]
            slices=options.names(slices),
            sampled=sampled,
        )
        if figures is not None:
            from discreet.utility.loss import information_loss

            loss = information_loss(original, figures)

    def face(console: Any) -> None:
        show.head(console, original.headline, opened.note)
        scale = _scale(form) if figures is not None else _scale("2015")
        console.print(f"[bold]{result.measure} = {result.value:.4f}[/bold]{scale}")
        console.print(result.sentence, markup=False)
        console.print()
        header = ["", "risk", "zeros", "concentration", "size", "people"]
        show.table(console, header, [result.whole(), *result.rows(top)], bar=1)
        if loss is not None:
            console.print(f"\n{loss.sentence}", markup=False)
            show.table(console, ["information loss", ""], loss.rows())

    show.deliver("risk", result if loss is None else _With(result, "loss", loss), json, output, face)


def _scale(form: str) -> str:
    return " (0 = low, 1 = high)" if form == "2015" else " (form 2014: rises with protection)"


class _With:
    """A result with another one beside it."""

    def __init__(self, first: show.Result, name: str, second: show.Result) -> None:
        self.first, self.name, self.second = first, name, second

    def to_dict(self) -> dict[str, Any]:
        return {**self.first.to_dict(), self.name: self.second.to_dict()}

    def __str__(self) -> str:
        return f"{self.first}\n\n{self.second}"


def _method(text: str, base: int | None, n: int | None) -> Any:
    """Return the method that a text names; a base or a size can be given by an option of its own."""
    from discreet.decide.protections import make_method, parse_method

    name, parameters = parse_method(text)
    given = {"base": base, "n": n}
    return make_method(name, parameters | {key: value for key, value in given.items() if value is not None})


def _over_draws(method: Any, stray: str | None) -> bool:
    """Say whether a method is judged over its draws; refuse what can be judged neither so nor by one release."""
    from discreet.protect.base import RandomMethod, is_random

    if isinstance(method, RandomMethod):
        return True
    if is_random(method):
        raise RequestError(
            f"{method.name} leaves something to chance, but draws one release at a time; protect the table, and "
            "measure what was made (--released)"
        )
    if stray in DRAWING:
        raise RequestError(f"--{stray} is about draws, but {method.name} leaves nothing to chance; leave it out")
    return False


risk.__doc__ = options.explained(risk, EXAMPLES)
