"""``discreet estimate``: the risk of a sample table whose population is unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.compose import composed
from discreet.cli.original_options import OriginalOptions
from discreet.core.errors import RequestError

EXAMPLES = {
    "discreet estimate sample.csv --population 2449": "log-linear model of independence",
    "discreet estimate sample.csv --population 2449 --model polya": "Pólya urn, population zeros estimated",
    "discreet estimate sample.csv -N 90000 --fit area,sex --fit age --seed 1": "a model that fits two margins",
}


@composed
def estimate(
    *,
    sample: Annotated[Path, typer.Argument(help="The sample table: CSV or Parquet, long or wide.")],
    population: Annotated[int, typer.Option("--population", "-N", help="N, the number of people in the population.")],
    model: Annotated[str, typer.Option("--model", help="loglinear or polya.")] = "loglinear",
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit", help="A margin that the log-linear model fits, also for the urn's zeros; may be repeated."
        ),
    ] = None,
    zeros: Annotated[
        int | None,
        typer.Option("--population-zeros", help="Empty population cells, where known, for the Pólya urn."),
    ] = None,
    theta: Annotated[
        float | None, typer.Option("--theta", help="Black balls of the Pólya urn, in place of solving for them.")
    ] = None,
    draws: Annotated[int, typer.Option("--draws", help="How many population tables to draw.")] = 1000,
    weights: options.Weights = "0.1,0.8,0.1",
    form: Annotated[str, typer.Option("--form", help="Form of R2: 2015, or 2014 to replay that paper.")] = "2015",
    slices: options.Slices = None,
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    workers: options.Workers = None,
    output: options.Output = None,
    top: options.Top = 10,
) -> None:
    """Estimate the risk R2 of a sample table over population tables that a model draws.

    The population's size must be known; its counts need not be.
    """
    show.check_output(output, sample, read.impossible)
    opened = read.opened(sample, released=True)
    table = opened.table()
    from discreet.measures.estimate import estimate as run

    with show.Bar() as bar, options.about(sample):
        result = run(
            table,
            population,
            model=_model(model, fit, zeros, theta),
            draws=draws,
            weights=options.weights(weights),
            form=form,  # type: ignore[arg-type]
            slices=options.names(slices),
            seed=seed,
            workers=workers,
            progress=bar,
        )

    def face(console: Any) -> None:
        show.head(console, table.headline, opened.note)
        console.print(f"[bold]R2 = {result.mean:.4f}[/bold] estimated (0 = low, 1 = high)")
        console.print(result.sentence, markup=False)
        console.print()
        show.table(console, ["", "risk", "deviation", "MC error"], result.rows()[: top + 1], bar=1)

    show.deliver("estimate", result, json, output, face)


def _model(name: str, fit: list[str] | None, zeros: int | None, theta: float | None) -> Any:
    from discreet.models import MODELS, LogLinear, PolyaUrn

    log_linear = LogLinear(None if not fit else tuple(tuple(options.names(margin) or ()) for margin in fit))
    if name == LogLinear.name:
        if zeros is not None or theta is not None:
            raise RequestError(
                "--population-zeros and --theta belong to --model polya; the log-linear model has no use for it"
            )
        return log_linear
    if name == PolyaUrn.name:
        if fit and (zeros is not None or theta is not None):
            raise RequestError(
                "--fit estimates how many cells are empty in the population; leave it out, or --population-zeros and "
                "--theta, which say it"
            )
        return PolyaUrn(population_zeros=zeros, theta=theta, zeros_from=log_linear if fit else None)
    made = MODELS[name]
    if fit or zeros is not None or theta is not None:
        raise RequestError(f"--fit, --population-zeros and --theta are not of --model {name}; leave them out")
    return made()


estimate.__doc__ = options.explained(estimate, EXAMPLES)
