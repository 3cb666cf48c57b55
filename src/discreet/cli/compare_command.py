"""``discreet compare``: many protections on one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, shell_names, show
from discreet.cli.compose import command, option
from discreet.cli.deadline import in_time
from discreet.cli.options import in_output
from discreet.cli.reading_options import Beside, NamedOriginal
from discreet.core.effort import EACH
from discreet.core.text import at_most


@dataclass(frozen=True)
class Tried:
    """How methods are tried."""

    draws: Annotated[int, option("How many releases of each random method to draw.", min=2, max=10**7)] = 1000
    audits: Annotated[int, option("How many of these draws are audited.", min=1)] = 10
    resume: Annotated[Path | None, option("Keep finished points here; run again to resume.", metavar="FOLDER")] = None
    time_limit: Annotated[
        float | None, option("Seconds for the whole command; by default 60 per search and audit.", min=0.0)
    ] = None
    seed: options.Seed = None
    workers: options.Workers = None


@command
def compare(
    *,
    read: NamedOriginal,
    method: Annotated[
        list[str] | None, option("NAME:KEY=VALUE,…; repeat it for several.", autocompletion=shell_names.methods)
    ] = None,
    grid: Annotated[Path | None, option(r"A TOML file with \[\[methods]].")] = None,
    policy: options.Policy = "default",
    tried: Tried,
    beside: Beside,
    json: options.Json = False,
    output: Annotated[Path | None, options.in_output("Also write the result: .json, .csv (methods) or .txt.")] = None,
    report: options.Report = None,
    record: Annotated[
        Path | None, in_output("Keep a record for discreet replay, as secret as the table: .json.")
    ] = None,
) -> None:
    """Compare protections on one table: risk, what can be worked out, utility, errors, and which one to take.

    Every figure of a random method is a mean over its draws, with its Monte Carlo error. A method is efficient if no
    other has both less risk and more utility. The one to take is the one that discreet assess proposes. From a record
    (--record), discreet replay makes the comparison again.

    Examples:
        discreet compare table.csv  # the usual protections, and which to take
        discreet compare table.csv --method random-rounding:base=3 --method random-rounding:base=5  # two of them
        discreet compare table.csv --statistic 'pct=percentage, over=sex'  # what each keeps of percentages
        discreet compare table.csv --grid grid.toml --resume results/ --report map.html  # a grid, kept as it goes
    """
    from discreet.core.errors import RequestError
    from discreet.decide.compare import compare as work
    from discreet.decide.policy import Policy

    inputs = (read.file, grid, read.impossible)
    show.check_output(output, *inputs)
    show.check_output(report, *inputs, output, endings=options.REPORTS)
    show.check_output(record, *inputs, output, report, endings=(".json",))
    if method and grid is not None:
        raise RequestError("give either --method or --grid, not both")
    asked = Policy.load(policy)
    source = read.judged(asked.top)
    with show.ProgressBar() as bar, options.about(read.source):
        limit = EACH if tried.time_limit is None else tried.time_limit
        told = {"statistics": beside.defined(), **vars(tried), "time_limit": limit}
        found = work(source, method or grid, policy=asked, progress=bar, **told)
    in_time()
    if record is not None:
        found.write_record(record)
    if report is not None:
        found.report(report)

    def face(console: show.Console) -> None:
        show.head(console, found.subject.headline, source.note)
        console.print(found.sentence, style="bold")
        console.print()
        # The widest columns that a terminal can do without are in --json and in the file.
        narrow = [0, 1, 3, 5, 8, *range(9, len(found.header()))]
        rows, notes = show.noted([[row[i] for i in narrow] for row in found.rows()], 4, "meets")
        show.table(console, [found.header()[i] for i in narrow], rows, left=(0, 4, 5))
        for mark, text in notes.items():
            show.marked(console, f"{mark}  ", "", text)
        worst = max((error.mc_error for p in found.points if (error := p.figures.get("r2")) is not None), default=0.0)
        told = f"\nMonte Carlo error of R2: {at_most(worst, 5)} at most, over {tried.draws:,} draws; seed {found.seed}"
        console.print(told, style="dim")
        if report is not None or record is not None:
            show.written(console, *(path for path in (report, record) if path is not None))

    show.deliver("compare", found, json, output, face)
    if found.recommended is None:
        raise typer.Exit(1)
