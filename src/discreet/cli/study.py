"""``discreet study``: the papers, replayed and compared with what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, show
from discreet.cli.compose import argument, command, option
from discreet.cli.options import in_output


@command
def study(
    paper: Annotated[str, argument("antal2014, antal2015, cohen2009 or domingo2002.")],
    samples: Annotated[int | None, option("Samples per column, where the paper draws samples.")] = None,
    draws: Annotated[int | None, option("How many releases, or populations per sample, to draw.")] = None,
    json: options.Json = False,
    seed: options.Seed = 1,
    workers: options.Workers = None,
    output: Annotated[Path | None, in_output("A folder for report.md, results.csv and results.json.")] = None,
) -> None:
    """Replay a paper's study and compare every printed number with the computed one.

    Exit code 1 means that a number was neither reproduced nor explained.

    Examples:
        discreet study antal2014  # every printed number beside the computed one
        discreet study antal2015 --samples 50 --draws 50  # a quick run
        discreet study antal2015 --output validation/antal2015  # the full run, with its report
    """
    from discreet import studies

    replay = studies.get(paper)
    studies.check_folder(output)
    if samples is not None and paper not in studies.SAMPLED:
        typer.echo(f"discreet: {paper} draws no samples; --samples is not used", err=True)
    with show.ProgressBar() as bar:
        result = replay(samples=samples, draws=draws, seed=seed, workers=workers, progress=bar)
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
