"""``discreet uniques``: who in a sample is the only one of their kind in the population?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from discreet.cli import options, show
from discreet.cli.compose import composed
from discreet.cli.original_options import OriginalOptions
from discreet.core.errors import RequestError

SAMPLE_EXAMPLES = {
    "discreet uniques sample.csv --population 46228": "a sample table: τ̃ under both priors, log-linear τ₁ and τ₂",
    "discreet uniques people.parquet --by age,sex,area -N 46228": "the records behind it",
    "discreet uniques people.csv --by age,sex -N 46228 --weight w --records risk.csv": "the risk of every record",
    "discreet uniques sample.csv -N 46228 --b 30 --c 1": "missing a unique is thirty times as bad as a false alarm",
}
SIZE_EXAMPLES = {
    "discreet uniques size --population 46228 --cells 1108 --bound 0.05": "the largest sample with Q below 0.05",
    "discreet uniques size -N 46228 --cells 1108 --bound 5 --measure tau --curve": "the same for τ̃, with the curve",
    "discreet uniques size -N 46228 --cells 1108 --bound 0.05 --plot curve.svg": "the curves as a picture",
}


class SampleOrCommand(TyperGroup):
    """Takes anything that is not a command for the sample."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default command before a file."""
        known = {*self.commands, "--help", "-h"}
        given = args or ["--help"]
        return super().parse_args(ctx, given if given[0] in known else ["sample", *given])


uniques = typer.Typer(
    name="uniques",
    cls=SampleOrCommand,
    rich_markup_mode="rich",
    help="Estimate who in a sample is the only one of their kind in the population. "
    "`discreet uniques FILE` is short for `discreet uniques sample FILE`.",
)


@composed
def sample(
    *,
    path: Annotated[Path, typer.Argument(metavar="SAMPLE", help="A sample table, or records with --by.")],
    population: Annotated[int, typer.Option("--population", "-N", help="N, the number of people in the population.")],
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", help="uniform, multinomial or dirichlet:A; may be repeated. Both first ones."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Log-linear model: select (forward), main, two-way or none.")
    ] = "select",
    fit: Annotated[
        list[str] | None,
        typer.Option("--fit", help="A margin that the log-linear model fits, with commas; may be repeated."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Probability of the credible intervals.")] = 0.9,
    b: Annotated[float, typer.Option("--b", help="Loss when a population unique is taken for safe.")] = 1.0,
    c: Annotated[float, typer.Option("--c", help="Loss when somebody is protected for nothing.")] = 1.0,
    records: Annotated[
        Path | None, options.in_output("--records", help="Write the risk of every record to this .csv.")
    ] = None,
    slices: Annotated[
        str | None, typer.Option("--slices", help="Dimensions for which τ̃ is given by category; all by default.")
    ] = None,
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    workers: options.Workers = None,
    output: Annotated[
        Path | None, options.in_output("--output", "-o", help="Also write the result: .json, .csv (cells) or .txt.")
    ] = None,
    top: Annotated[
        int, options.in_output("--top", help="How many of the riskiest sample uniques to show.", min=0)
    ] = 10,
) -> None:
    """Estimate how many sample uniques are alone in the population, and which ones.

    Under the uniform and the multinomial prior: Q, τ̃ with its credible interval and the Bayes test. Under a log-linear
    model: τ₁, τ₂ and the riskiest cells.
    """
    from discreet.reading.sample import open_sample

    show.check_output(output, path)
    if records is not None and (records.suffix.lower() != ".csv" or read.by is None):
        raise RequestError(f"{records}: the risk of records goes to a .csv file, and needs --by to tell records apart")
    if records is not None:
        show.check_output(records, path)
    data = open_sample(path, read.reading())
    from discreet.uniques.population_uniques import population_uniques

    with show.Bar() as bar, options.about(path):
        result = population_uniques(
            data,
            population,
            priors=prior or ("uniform", "multinomial"),
            model=_model(model, fit),
            level=level,
            b=b,
            c=c,
            slices=options.names(slices),
            seed=seed,
            workers=workers,
            progress=bar,
        )
    if records is not None:
        show.write_columns(records, result.record_columns, result.record_risk())

    def face(console: Any) -> None:
        console.print(f"[bold]{result.sample_uniques:,} sample uniques[/bold] in {result.table.possible:,} cells")
        console.print(result.sentence, markup=False)
        console.print()
        show.table(console, *result.rows())
        if result.loglinear is not None and len(result.loglinear.path) > 1:
            console.print("\nModels tried, until B/√v shows no underfitting:")
            show.table(console, *result.loglinear.rows())
        if result.sample_uniques and top:
            console.print("\nRiskiest sample uniques:")
            show.table(console, *result.cell_rows(top))
            if result.priors:
                console.print(f"\nThe test on the first: {result.riskiest(1)[0].decision}.", markup=False)
        if result.note:
            console.print(f"\nNote: {result.note}.", markup=False)

    show.deliver("uniques", Top(result, top), json, output, face)


class Top:
    """A result whose plain data hold so many of the riskiest cells."""

    def __init__(self, result: Any, top: int) -> None:
        """Keep both."""
        self.result, self.top = result, top

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        data: dict[str, Any] = self.result.to_dict(self.top)
        return data

    def to_csv(self) -> str:
        """Return every cell."""
        text: str = self.result.to_csv()
        return text

    def __str__(self) -> str:
        """Return the result's own face."""
        return str(self.result)


def _model(name: str, fit: list[str] | None) -> Any:
    if fit:
        if name != "select":
            raise RequestError("give either --model or --fit, one of the two")
        return [tuple(options.names(margin) or ()) for margin in fit]
    if name == "none":
        return None
    if name not in ("select", "main", "two-way"):
        raise RequestError(f"the model is {name!r}; it is select, main, two-way or none")
    return name


@composed
def size(
    *,
    population: Annotated[int, typer.Option("--population", "-N", help="N, the number of people in the population.")],
    bound: Annotated[float, typer.Option("--bound", help="The bound of Q, or of τ̃.")],
    cells: Annotated[int | None, typer.Option("--cells", "-K", help="K, the number of cells that can occur.")] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="A sample at hand; it gives K, and sample uniques are expected from it."),
    ] = None,
    measure: Annotated[str, typer.Option("--measure", help="q or tau.")] = "q",
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", help="uniform, multinomial or dirichlet:A; may be repeated. Both first ones."),
    ] = None,
    curve: Annotated[bool, typer.Option("--curve", help="Show Q and τ̃ over the sample size.")] = False,
    plot: Annotated[Path | None, options.in_output("--plot", help="Draw the curves to a .svg or .png.")] = None,
    points: Annotated[int, typer.Option("--points", help="How many sizes the curve has.", min=2)] = 12,
    read: OriginalOptions,
    json: options.Json = False,
    seed: options.Seed = None,
    output: options.Output = None,
) -> None:
    """Find the largest sample that keeps Q or τ̃ below a bound, and the smallest that reaches it."""
    from discreet.uniques.sample_size import plan_size

    show.check_output(output, table)
    if (cells is None) == (table is None):
        raise RequestError("give the number of cells with --cells, or a sample table with --table, one of the two")
    if table is None and read.impossible is not None:
        raise RequestError("--impossible is about a sample table; with --cells give the number without impossible ones")
    data = None
    if table is not None:
        data = read.opened(table, released=True).table()
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

    def face(console: Any) -> None:
        console.print(result.sentence, markup=False)
        console.print()
        show.table(console, *result.rows())
        if curve:
            for part in result.curves:
                console.print(f"\n{part.prior} prior, sample uniques expected by {part.basis}", markup=False)
                show.table(console, *result.curve_rows(part, points), bar=1)
        if plot is not None:
            console.print(f"\nDrawn: {plot}", style="dim", markup=False)

    show.deliver("uniques size", result, json, output, face)


uniques.command(help=options.explained(sample, SAMPLE_EXAMPLES))(sample)
uniques.command(help=options.explained(size, SIZE_EXAMPLES))(size)
