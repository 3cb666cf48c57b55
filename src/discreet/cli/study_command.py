"""``discreet study``: the papers, replayed and compared with what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, shell_names, show
from discreet.cli.compose import argument, command, option
from discreet.cli.options import in_output
from discreet.core.errors import RequestError


@command
def study(
    paper: Annotated[
        str, argument("antal2014, antal2015, cohen2009 or domingo2002.", "PAPER", autocompletion=shell_names.papers)
    ],
    table: Annotated[
        Path | None, option("A population table of your own, for the simulation of antal2015, section 6.")
    ] = None,
    example: options.Example = None,
    fraction: Annotated[
        list[float] | None, option("With --table: a sampling fraction; repeat it. 0.1 and 0.05 by default.")
    ] = None,
    samples: Annotated[int | None, option("Samples per column, where the paper draws samples.")] = None,
    draws: Annotated[int | None, option("How many releases, or populations per sample, to draw.")] = None,
    json: options.Json = False,
    seed: Annotated[int, options.in_output("Repeats the same draws.", min=0)] = 1,
    workers: options.Workers = None,
    output: Annotated[
        Path | None, in_output("A folder for report.md, results.csv and results.json; with --table .json or .txt.")
    ] = None,
) -> None:
    """Replay a paper's study and compare every printed number with the computed one.

    Exit code 1 means that a number was neither reproduced nor explained.

    Examples:
        discreet study antal2014  # every printed number beside the computed one
        discreet study antal2015 --samples 50 --draws 50  # a quick run
        discreet study antal2015 --output validation/antal2015  # the full run, with its report
        discreet study antal2015 --table census.csv --fraction 0.02  # its simulation on a table of your own
        discreet study antal2015 --example religion --samples 5 --draws 20  # and on a bundled one
    """
    from discreet import studies

    effort = {"samples": samples, "draws": draws, "seed": seed, "workers": workers}
    if table is not None or example is not None or fraction:
        _simulate(paper, (table, example), fraction, output, json, effort)
        return

    replay = studies.get(paper)
    studies.check_folder(output)
    if samples is not None and paper not in studies.SAMPLED:
        typer.echo(f"discreet: {paper} draws no samples; --samples is not used", err=True)
    with show.ProgressBar() as bar:
        result = replay(**effort, progress=bar)
    if output is not None:
        result.write(output)

    def face(console: show.Console) -> None:
        console.print(result.title, style="bold")
        console.print(f"{result.sentence}\n")
        show.table(console, ["figures", "compared", "reproduced", "explained", "differs"], result.summary())
        if shown := result.differing():
            console.print("\nFigures that do not follow from the paper's formula:")
            rows = [[*row.cells(), "–" if row.variant is None else f"{row.variant:.4f}", row.verdict] for row in shown]
            show.table(console, ["figure", "printed", "computed", "error", "variant", "verdict"], rows)
        if output is not None:
            show.written(console, f"{output}/report.md, results.csv, results.json")

    show.deliver("study", result, json, None, face)
    if not result.reproduced:
        raise typer.Exit(1)


def _simulate(
    paper: str,
    given: tuple[Path | None, str | None],
    fractions: list[float] | None,
    output: Path | None,
    json: bool,
    effort: dict[str, int | None],
) -> None:
    """Run the simulation of section 6 of antal2015 on a table of the user's own."""
    from discreet.reading.original import open_original
    from discreet.reading.reading import Reading
    from discreet.studies.antal2015 import FRACTIONS
    from discreet.studies.comparison import StudyEffort
    from discreet.studies.own_samples import simulate_samples

    path, example = given
    if paper != "antal2015" or (path is None) == (example is None):
        raise RequestError(
            "--table, --example and --fraction are for the simulation of antal2015; name the study and one table"
        )
    show.check_output(output, path, endings=(".json", ".txt"))
    with show.ProgressBar() as bar, options.about(path or example):
        population = open_original(path, Reading(example=example)).table()
        found = simulate_samples(population, StudyEffort(**effort, progress=bar), fractions=fractions or FRACTIONS)

    def face(console: show.Console) -> None:
        show.head(console, population.headline, "")
        console.print(f"{found.sentence}\n")
        header, rows, _, _ = found.face(0)
        show.table(console, header, rows, left=(2,))

    show.deliver("study", found, json, output, face)
