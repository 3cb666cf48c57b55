"""``discreet estimate``: the risk of a sample table whose population is unknown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from discreet.cli import options, show
from discreet.cli.compose import argument, command, option
from discreet.cli.reading_options import OriginalOptions
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.models import PopulationModel


@command
def estimate(
    population: options.Population,
    sample: Annotated[Path | None, argument("The sample table: CSV, Parquet or Excel, long or wide.", "FILE")] = None,
    example: options.Example = None,
    model: Annotated[str, option("loglinear or polya.")] = "loglinear",
    fit: Annotated[
        list[str] | None, option("A margin to fit: log-linear model, or the urn's zeros; repeat it.")
    ] = None,
    zeros: Annotated[
        int | None, option("Empty population cells, if known, for the Pólya urn.", "--population-zeros")
    ] = None,
    theta: Annotated[float | None, option("Black balls of the Pólya urn, instead of solving for them.")] = None,
    draws: Annotated[int, option("How many population tables to draw.")] = 1000,
    *,
    read: OriginalOptions,
    measuring: options.Measuring,
) -> None:
    """Estimate the risk R2 of a sample table over population tables that a model draws.

    The population's size must be known; its counts need not be.

    Examples:
        discreet estimate sample.csv --population-size 2449  # log-linear model of independence
        discreet estimate sample.csv --population-size 2449 --model polya  # Pólya urn, population zeros estimated
        discreet estimate --example cholesterol --population-size 400  # a bundled sample
        discreet estimate sample.csv -N 90000 --fit area,sex --fit age --seed 1  # a model that fits two margins
    """
    show.check_output(measuring.output, sample, read.impossible)
    opened = read.opened(sample, example=example, released=True)
    table = opened.table()
    from discreet.measures.estimate import estimate as run

    with show.ProgressBar() as bar, options.about(sample or example):
        chosen = _model(model, fit, zeros, theta)
        result = run(
            table, population, model=chosen, draws=draws, progress=bar, **measuring.measure(), **measuring.draw()
        )

    def face(console: show.Console) -> None:
        show.head(console, table.headline, opened.note)
        show.measured(console, f"R2 = {result.mean:.4f}", "estimated (0 = low, 1 = high)")
        console.print(f"{result.sentence}\n")
        show.table(console, ["", "risk", "deviation", "MC error"], result.rows()[: measuring.top + 1], bar=1)

    show.deliver("estimate", result, measuring.json, measuring.output, face)


def _model(name: str, fit: list[str] | None, zeros: int | None, theta: float | None) -> PopulationModel:
    from discreet.models import MODELS, LogLinear, PolyaUrn

    log_linear = LogLinear(options.margins(fit) if fit else None)
    known = zeros is not None or theta is not None
    if name == LogLinear.name:
        if known:
            raise RequestError("--population-zeros and --theta belong to --model polya; leave them out, or name it")
        return log_linear
    if name == PolyaUrn.name:
        if fit and known:
            raise RequestError(
                "--fit estimates how many cells are empty in the population, and --population-zeros and --theta state "
                "it; leave one of them out"
            )
        return PolyaUrn(population_zeros=zeros, theta=theta, zeros_from=log_linear if fit else None)
    made = MODELS[name]
    if fit or known:
        raise RequestError(f"--fit, --population-zeros and --theta do not belong to --model {name}; leave them out")
    return made()
