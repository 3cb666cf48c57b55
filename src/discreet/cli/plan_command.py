"""``discreet plan``: many tables by one command."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command, group, option
from discreet.cli.deadline import ending_within, in_time, left_of
from discreet.cli.options import in_output
from discreet.core.errors import RequestError

plan = group(
    "plan",
    "Publish many tables by one command: draft a plan, see which tables are one problem, run it.\n\n"
    "A run writes every table to a file of its own name. The exit code is 0 if all of them are written, 1 if some must "
    "not be released, and 2 if plan or records are refused.",
)

File = Annotated[Path | None, argument("The plan: a .toml file, or a folder of finished tables.", "PLAN")]


@command
def new(
    source: Annotated[
        Path | None,
        argument("Records, a list of tables, requested cells, or finished tables: a file or a folder.", "SOURCE"),
    ] = None,
    example: options.ExampleRecords = None,
    total: Annotated[list[str] | None, option("COLUMN=CODE: the total of a column of requested cells.")] = None,
    json: options.Json = False,
    output: Annotated[Path | None, option("Where to write the plan; by default it is printed.")] = None,
) -> None:
    """Draft a plan from records, a list of tables, the cells that a template asks for, or finished tables.

    The draft says in comments what could not be known. Read and correct it, then run discreet plan check.

    Examples:
        discreet plan new firms.csv -o plan.toml  # every pair of dimensions of some records
        discreet plan new tables.csv -o plan.toml  # a list: table_name, indicator, spanning_1, hrc_spanning_1, …
        discreet plan new --example religion  # the plan of a bundled table
        discreet plan new template.csv --total ACTIVITY=BTSXO_S94 -o plan.toml  # the cells that somebody asks for
    """
    from discreet.core.files import write_text
    from discreet.programme.drafting import draft

    bundled.one_of(source, example, "records, a list of tables, requested cells or a folder")
    said = options.pairs(total, "--total", "give it as ACTIVITY=BTSXO_S94")
    show.check_output(output, source, endings=(".toml",))
    place = Path() if output is None else output.parent
    totals = {name: codes[-1] for name, codes in said.items()}
    if example is not None:
        with bundled.people_file(example) as records:
            text = draft(records, totals=totals)
    else:
        assert source is not None
        text = draft(source, totals=totals, folder=place)
    if output is not None and output.exists():
        raise RequestError(f"{output} exists already, and may have been edited since; name another file")
    if output is not None:
        write_text(output, text)
    if json:
        print(show.as_json("plan", {"plan": text, "file": None if output is None else str(output)}))
    else:
        typer.echo(text.rstrip("\n") if output is None else f"Written: {output}")


@command
def check(
    file: File = None,
    example: options.ExampleRecords = None,
    json: options.Json = False,
    output: Annotated[Path | None, in_output("Also write the result: .json or .txt.")] = None,
) -> None:
    """Say what a plan amounts to: which tables are one problem, which cells they share, what others contain.

    A plan with a fault is refused with line, key and remedy (exit code 2).

    Examples:
        discreet plan check plan.toml  # clusters, shared cells, tables that need no protection of their own
        discreet plan check tables  # a folder of finished tables
        discreet plan check --example religion  # the plan that is drafted from a bundled table
    """
    from discreet.programme.plans import explain_plan

    bundled.one_of(file, example, "a plan")
    show.check_output(output, file, endings=(".json", ".txt"))
    with bundled.plan_file(example) if example else nullcontext(file) as named:
        assert named is not None
        found = explain_plan(named)

    def face(console: show.Console) -> None:
        header, rows, sentence, left = found.face(0)
        console.print(sentence, style="bold")
        show.table(console, list(header), [list(row) for row in rows], left=tuple(range(left)))
        for told in (*found.tied(), *found.contained(), *found.shared(), *found.notes):
            console.print(f" · {told}")

    show.deliver("plan", found, json, output, face)


@command
def run(
    *,
    file: File = None,
    example: options.ExampleRecords = None,
    previous: Annotated[
        Path | None, option("The last run; its pattern is kept where that is safe.", metavar="FOLDER")
    ] = None,
    publish: Annotated[bool, option("Enter what is published into the ledger that the plan names.")] = False,
    key: Annotated[
        Path | None,
        option(
            "The file of the office's key, by which entries of the ledger are signed.",
            "--office-key",
            envvar="DISCREET_LEDGER_KEY",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        option(
            "Seconds for the whole run; what is unfinished by then is withheld. The plan's own by default.", min=0.0
        ),
    ] = None,
    draw: options.Draw,
    workers: options.Workers = None,
    json: options.Json = False,
    output: Annotated[
        Path | None, option("Where to write; by default the plan's own folder.", metavar="FOLDER")
    ] = None,
) -> None:
    """Run a plan: tabulate once, protect each cluster in one problem, audit, and write tables, record and report.

    Finished work is kept: a run that was stopped resumes, and a later run redoes only what changed. Every table becomes
    a file of its own name, as T1.csv, beside record.json and report.html.

    The exit code is 0 if all tables are written, 1 if some must not be released, which are then not written, and 2 if
    plan or records are refused, when no table is written.

    Examples:
        discreet plan run plan.toml  # every table, record.json and report.html in the plan's folder
        discreet plan run tables -o out  # a folder of finished tables
        discreet plan run q2.toml --previous published/q1  # keep the pattern of the last quarter where that is safe
        discreet plan run plan.toml --publish  # and enter the releases into the ledger
        discreet plan run --example religion -o out  # the plan that is drafted from a bundled table
    """
    from discreet.programme.plans import read_plan
    from discreet.programme.running import RunOptions, publish_outcome, refuse_without_ledger, run_plan

    bundled.one_of(file, example, "a plan")
    if example is not None and output is None:
        raise RequestError("a bundled table has no folder of its own; name one (--output)")
    with bundled.plan_file(example) if example else nullcontext(file) as named, show.ProgressBar() as bar:
        assert named is not None
        read = read_plan(named, previous)
        if publish:
            refuse_without_ledger(read)
        limit = read.time_limit if time_limit is None else time_limit
        with ending_within(limit if time_limit is None else None):
            how = RunOptions(output, draw.seed, draw.trial, workers, bar, left_of(limit), in_time)
            found = run_plan(read, how)
        entered = publish_outcome(found, key) if publish and found.verdict != "withhold" else []

    def face(console: show.Console) -> None:
        header, rows, sentence, left = found.face(0)
        show.verdict(console, found.verdict, found.verdict.upper(), f"  {sentence}")
        show.table(console, list(header), [list(row) for row in rows], left=tuple(range(left)))
        for one in found.clusters:
            for passed, told in one.checks:
                if not passed:
                    show.marked(console, " ✗ ", "red", f"{one.name}: {told}")
            for note in one.notes:
                console.print(f" · {one.name}: {note}")
        if not found.fresh:
            console.print("No cluster changed since the last run.", style="dim")
        if entered:
            console.print(f"Entered into the ledger: {', '.join(entered)}", style="dim")
        if publish and found.verdict == "withhold":
            console.print("Nothing was entered into the ledger, as some tables must not be released.", style="dim")
        show.written(console, found.folder)

    show.deliver("plan", found, json, None, face)
    if found.verdict == "withhold":
        raise typer.Exit(1)


plan.command("new")(new)
plan.command("check")(check)
plan.command("run")(run)
