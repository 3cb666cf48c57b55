"""``discreet uniques``: who in a sample is the only one of their kind in the population?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from discreet.cli import options, shell_names, show
from discreet.cli.compose import argument, command, option
from discreet.cli.options import in_output
from discreet.cli.reading_options import OriginalOptions
from discreet.cli.typer_types import Context
from discreet.core.errors import RequestError
from discreet.core.files import write_text
from discreet.core.formula_texts import csv_text
from discreet.core.text import many

if TYPE_CHECKING:
    from discreet.uniques.population_uniques import PopulationUniques

Priors = Annotated[
    list[str] | None,
    option(
        "uniform, multinomial, dirichlet:A or zeros:G (weight G on some empty population cell: zeros:0.9:uniform); "
        "repeat it. The first two by default."
    ),
]
Credible = Annotated[float, option("Probability of the credible intervals.", "--credible")]
Missed = Annotated[float, option("Loss if a population unique is taken for safe.")]
FalseAlarm = Annotated[float, option("Loss if somebody is protected for nothing.")]


class SampleOrCommand(TyperGroup):
    """A group that takes anything but a command for the sample."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Put the name of the default command before a file."""
        known = {*self.commands, "--help", "-h"}
        given = args or ["--help"]
        return super().parse_args(ctx, given if given[0] in known else ["sample", *given])


uniques = typer.Typer(
    name="uniques",
    cls=SampleOrCommand,
    rich_markup_mode="rich",
    help="Estimate who in a sample is the only one of their kind in the population. "
    "discreet uniques FILE is short for discreet uniques sample FILE.",
)


@dataclass(frozen=True)
class Estimated:
    """What is estimated, under which priors and models."""

    prior: Priors = None
    model: Annotated[str, option("Log-linear model: select (forward), main, two-way or none.", "--loglinear")] = (
        "select"
    )
    fit: Annotated[
        list[str] | None, option("A margin that the log-linear model fits, such as area,sex; repeat it.")
    ] = None
    level: Credible = 0.9
    b: Missed = 1.0
    c: FalseAlarm = 1.0
    slices: Annotated[str | None, option("Dimensions for which τ̃ is given by category; all by default.")] = None

    def said(self) -> dict[str, Any]:
        """Return it as the function takes it."""
        plain = {name: getattr(self, name) for name in ("level", "b", "c")}
        priors = self.prior or ("uniform", "multinomial")
        return {**plain, "priors": priors, "model": self._model(), "slices": options.names(self.slices)}

    def _model(self) -> str | tuple[tuple[str, ...], ...] | None:
        if self.fit:
            if self.model != "select":
                raise RequestError("give either --loglinear or --fit, not both")
            return options.margins(self.fit)
        if self.model not in ("select", "main", "two-way", "none"):
            raise RequestError(f"--loglinear is {self.model!r}; give select, main, two-way or none")
        return None if self.model == "none" else self.model


@uniques.command()
@command
def sample(
    population: options.Population,
    path: Annotated[Path | None, argument("A sample table, or records with --by.", "FILE")] = None,
    example: options.Example = None,
    records: Annotated[Path | None, in_output("Write the risk of every record to this .csv.", "--record-risks")] = None,
    *,
    estimated: Estimated,
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    workers: options.Workers = None,
    output: Annotated[Path | None, in_output("Also write the result: .json, .csv (cells) or .txt.")] = None,
    top: Annotated[int, in_output("How many of the riskiest sample uniques to show.", min=0)] = 10,
) -> None:
    """Estimate how many sample uniques are alone in the population, and which ones.

    Under the uniform and the multinomial prior: Q, τ̃ with its credible interval and the Bayes test. Under a log-linear
    model: τ₁, τ₂ and the riskiest cells.

    Examples:
        discreet uniques sample.csv --population-size 46228  # a sample table: τ̃ under both priors, log-linear τ₁ and τ₂
        discreet uniques --example cholesterol --population-size 400  # a bundled sample
        discreet uniques people.parquet --by age,sex,area -N 46228  # the records behind it
        discreet uniques people.csv --by age,sex -N 46228 --weight w --record-risks risk.csv  # the risk of every record
        discreet uniques sample.csv -N 46228 --b 30 --c 1  # missing a unique is thirty times as bad as a false alarm
    """
    from discreet.reading.sample_pair import open_sample

    show.check_output(output, path)
    if records is not None:
        if records.suffix.lower() != ".csv" or read.by is None:
            raise RequestError(
                f"{records}: the risk of records goes to a .csv file, and needs --by to tell records apart"
            )
        show.check_output(records, path)
    data = open_sample(path, read.reading(example=example))
    from discreet.uniques.population_uniques import population_uniques

    with show.ProgressBar() as bar, options.about(path or example):
        result = population_uniques(data, population, seed=seed, workers=workers, progress=bar, **estimated.said())
    if records is not None:
        risks = ([f"{value:.10g}" for value in row] for row in result.record_risk().tolist())
        write_text(records, csv_text(result.record_columns, risks), private=True)
    told = show.Assembled(result.to_dict(top), str(result), result.to_csv)
    show.deliver("uniques", told, json, output, lambda console: _face(console, result, top))


def _face(console: show.Console, result: PopulationUniques, top: int) -> None:
    show.measured(console, many(result.sample_uniques, "sample unique"), f"in {result.table.possible:,} cells")
    console.print(f"{result.sentence}\n")
    show.table(console, *result.rows())
    if result.loglinear is not None and len(result.loglinear.path) > 1:
        console.print("\nModels tried, until B/√v shows no underfitting:")
        show.table(console, *result.loglinear.rows())
    if result.sample_uniques and top:
        console.print("\nRiskiest sample uniques:")
        show.table(console, *result.cell_rows(top))
        if result.priors:
            console.print(f"\nThe test on the first: {result.riskiest(1)[0].decision}.")
    if result.note:
        console.print(f"\nNote: {result.note}.")


@uniques.command()
@command
def size(
    population: options.Population,
    bound: Annotated[float, option("What Q, or τ̃, may be at most.", "--at-most")],
    cells: Annotated[int | None, option("K, the number of cells that can occur.", "--cells", "-K")] = None,
    table: Annotated[Path | None, option("A sample at hand: gives K and the sample uniques to expect.")] = None,
    example: options.Example = None,
    measure: Annotated[str, option("What is bounded: q or tau.", "--criterion")] = "q",
    prior: Priors = None,
    curve: Annotated[bool, option("Show Q and τ̃ over the sample size.")] = False,
    plot: Annotated[Path | None, in_output("Draw the curves to a .svg or .png.")] = None,
    points: Annotated[int, option("How many sizes the curve has.", min=2)] = 12,
    *,
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    output: Annotated[Path | None, in_output("Also write the result: .json, .csv (sizes) or .txt.")] = None,
) -> None:
    """Find the largest sample that keeps Q or τ̃ below a bound, and the smallest that reaches it.

    Examples:
        discreet uniques size -N 46228 --cells 1108 --at-most 0.05  # the largest sample with Q below 0.05
        discreet uniques size -N 46228 --cells 1108 --at-most 5 --criterion tau --curve  # the same for τ̃, with a curve
        discreet uniques size -N 46228 --cells 1108 --at-most 0.05 --plot curve.svg  # the curves as a picture
        discreet uniques size --example cholesterol -N 400 --at-most 0.05  # a bundled sample
    """
    from discreet.uniques.sample_size import plan_size

    show.check_output(output, table)
    if sum(one is not None for one in (cells, table, example)) != 1:
        raise RequestError("give the number of cells (--cells), a sample table (--table) or a bundled one (--example)")
    if cells is not None and read.impossible is not None:
        raise RequestError("--impossible is about a sample table; with --cells give the number without impossible ones")
    data = None if cells is not None else read.opened(table, released=True, example=example).table()
    result = plan_size(
        prior or ("uniform", "multinomial"),
        bound,
        population=population,
        cells=cells,
        table=data,
        measure=measure,  # type: ignore[arg-type]
        points=200 if plot is not None else points,
    )
    if plot is not None:
        from discreet.plots import plot_size_curve
        from discreet.plots.figure import save

        save(plot_size_curve(result), plot)

    def face(console: show.Console) -> None:
        console.print(f"{result.sentence}\n")
        show.table(console, *result.rows())
        if curve:
            for part in result.curves:
                console.print(f"\n{part.prior} prior, sample uniques expected by {part.basis}")
                show.table(console, *result.curve_rows(part, points), bar=1)
        if plot is not None:
            console.print(f"\nDrawn: {plot}", style="dim")

    show.deliver("uniques size", result, json, output, face)


@uniques.command()
@command
def sizes(
    population: options.Population,
    people: Annotated[
        int | None, option("n, the number of people in the sample.", "--sample-size", "-n", min=0)
    ] = None,
    cells: Annotated[int | None, option("K, the number of cells that can occur.", "--cells", "-K", min=1)] = None,
    alone: Annotated[int | None, option("s, the number of sample uniques.", "--uniques", "-s", min=0)] = None,
    example: Annotated[
        str | None,
        option("A bundled sample, whose sizes are taken: cholesterol, sex, …", autocompletion=shell_names.examples),
    ] = None,
    filled: Annotated[
        int | None, option("Cells with somebody of the sample in them, which mixtures (zeros:G) need.", min=0)
    ] = None,
    prior: Priors = None,
    level: Credible = 0.9,
    b: Missed = 1.0,
    c: FalseAlarm = 1.0,
    *,
    json: options.Json = False,
    seed: options.Seed = None,
    output: Annotated[Path | None, in_output("Also write the result: .json or .txt.")] = None,
) -> None:
    """Estimate population uniques from four sizes alone: population, sample, cells and sample uniques.

    Under symmetric priors nothing else of the table matters.

    Examples:
        discreet uniques sizes -N 46228 -n 8399 -K 1108 -s 108  # the Dutch municipality of Cohen and Sackrowitz
        discreet uniques sizes -N 46228 -n 8399 -K 1108 -s 108 --prior dirichlet:0.5  # another prior
        discreet uniques sizes -N 400 -n 78 -K 20 -s 1 --filled 10 --prior zeros:0.9  # a mixture
        discreet uniques sizes -N 400 --example cholesterol  # the sizes of a bundled sample
    """
    from discreet.core.text import brief, columns
    from discreet.uniques import Mixture, Sample, bayes_test, posterior, tau
    from discreet.uniques.priors import prior_of

    show.check_output(output, endings=(".json", ".txt"))
    if example is not None:
        if any(one is not None for one in (people, cells, alone, filled)):
            raise RequestError(
                "a bundled sample has sizes of its own; leave out --sample-size, --cells, --uniques, --filled"
            )
        from discreet import datasets

        table = datasets.load(example)
        people, cells, alone = table.total, table.possible, int((table.counts == 1).sum())
        filled = int(table.counts.size)
    if people is None or cells is None or alone is None:
        raise RequestError("give three sizes (--sample-size, --cells, --uniques), or a bundled sample (--example)")
    priors = [prior_of(name) for name in prior or ("uniform", "multinomial")]
    if filled is None and any(isinstance(one, Mixture) for one in priors):
        raise RequestError("mixtures depend on how many cells of the sample are empty; give --filled too")
    sample = Sample.from_sizes(population, people, cells, alone, filled)
    found = [
        (tau(sample, one, level=level, seed=seed), bayes_test(posterior(sample, one, seed=seed), b=b, c=c))
        for one in priors
    ]
    header = ["prior", "Q", "population uniques", f"{level * 100:.4g}% interval", "taken for uniques"]
    rows = [
        [one.prior, brief(one.q[0]) if one.q.size else "–", brief(one.mean), f"{one.low:,} to {one.high:,}",
         f"{test.accepted:,} of {alone:,}"]
        for one, test in found
    ]  # fmt: skip
    sizes = {"population": population, "sample": people, "cells": cells, "sample_uniques": alone}
    data = {**sizes, "priors": {one.prior: {**one.to_dict(), "taken": test.accepted} for one, test in found}}
    told = show.Assembled(data, columns(header, rows))
    show.deliver("uniques sizes", told, json, output, lambda console: show.table(console, header, rows))
