"""``discreet assess``: from a table to a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.core.errors import RequestError, nearest

EXAMPLES = {
    "discreet assess table.csv": "may this table be published, and how?",
    "discreet assess table.csv -o release.csv --report report.html": "with the protected table and a report",
    "discreet assess firms.csv --by region,activity --value turnover --policy business": "from records of firms",
    "discreet assess table.csv --release published.csv": "a release that somebody else made",
    "discreet assess sample.csv --population 2449": "a sample table",
}
RECORDS, DECIDE = "From records", "What is asked"
COLOURS = {"release": "green", "protect": "yellow", "withhold": "red"}


def assess(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A table, records, or the file of discreet tabulate.")
    ] = None,
    example: options.Example = None,
    policy: Annotated[
        str, typer.Option("--policy", help="A profile or a .toml file.", rich_help_panel=DECIDE)
    ] = "default",
    protect: Annotated[
        str | None,
        typer.Option("--protect", help="NAME:KEY=VALUE,… applied and judged.", rich_help_panel=DECIDE),
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Judge the table as it is; propose nothing.", rich_help_panel=DECIDE)
    ] = False,
    release: Annotated[
        Path | None, typer.Option("--release", help="Judge this release of the table.", rich_help_panel=DECIDE)
    ] = None,
    rounded: Annotated[
        str | None,
        typer.Option(
            "--rounded", help="How --release was rounded: conventional, random, controlled.", rich_help_panel=DECIDE
        ),
    ] = None,
    base: Annotated[int, typer.Option("--base", help="The base of that rounding.", rich_help_panel=DECIDE)] = 0,
    population: Annotated[
        int | None,
        typer.Option("--population", help="The table is a sample from so many people.", min=1, rich_help_panel=DECIDE),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", help="Populations drawn for a sample.", min=2, rich_help_panel=DECIDE)
    ] = 1000,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            help="Seconds for each search and each audit; what is not finished is never safe.",
            min=0.0,
            rich_help_panel=DECIDE,
        ),
    ] = 60.0,
    by: Annotated[
        str | None,
        typer.Option("--by", help="FILE holds records: the columns that classify.", rich_help_panel=RECORDS),
    ] = None,
    value: Annotated[
        str | None, typer.Option("--value", help="The magnitude that is added up.", rich_help_panel=RECORDS)
    ] = None,
    contributor: Annotated[
        str | None, typer.Option("--contributor", help="The column of whose record it is.", rich_help_panel=RECORDS)
    ] = None,
    holding: Annotated[
        str | None, typer.Option("--holding", help="The column of holdings.", rich_help_panel=RECORDS)
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", help="Sampling weights; weighted sums are published.", rich_help_panel=RECORDS),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", help="DIMENSION=FILE; its groups are published too.", rich_help_panel=RECORDS),
    ] = None,
    dimensions: options.Dimensions = None,
    count: options.Count = "count",
    layout: options.Layout = "auto",
    total: options.Total = "Total",
    margins: options.Margins = "check",
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    impossible: options.Impossible = None,
    json: options.Json = False,
    seed: options.Seed = None,
    trial: options.Trial = False,
    workers: options.Workers = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write what may be published: .csv or .parquet.", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a report: .html, .md, .json or .pdf.", rich_help_panel=options.OUTPUT),
    ] = None,
    edition: Annotated[
        str,
        typer.Option(
            "--edition",
            help="Of --report and --json: internal, or public: nothing unpublished.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = "internal",
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", help="Where the record goes; NAME.record.json by default.", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", help="How many cells to show.", min=0, rich_help_panel=options.OUTPUT)
    ] = 10,
) -> None:
    """Say whether a table may be released: as it is, after protection, or not at all, and why.

    Rules, risk, protection, audit, risk after, utility: the whole path under one policy. Without further options the
    cheapest protection that the policy allows and that meets it is proposed. Every assessment writes a record, from
    which discreet replay makes it again. Exit code 1 if the table must not be released.
    """
    from discreet.decide.assess import assess as work
    from discreet.decide.sources import open_source
    from discreet.report.edition import EDITIONS

    if edition not in EDITIONS:
        raise RequestError(f"there is no edition {edition!r}; {nearest(edition, EDITIONS)}")
    if edition == "public" and report is None and not json:
        raise RequestError("--edition public is that of a report or of --json; name a report (--report), or add --json")
    show.check_output(output, file, release, impossible, endings=(".csv", ".parquet"))
    show.check_output(report, file, release, impossible, output, endings=(".html", ".md", ".json", ".pdf"))
    name = file.stem if file is not None else example or "table"
    kept = record or Path(f"{name}.record.json")
    show.check_output(kept, file, release, impossible, output, report, endings=(".json",))
    reading = options.told(
        {"count": count, "layout": layout, "total": total, "margins": margins, "encoding": encoding},
        dimensions=options.names(dimensions),
        delimiter=delimiter,
        impossible=None if impossible is None else str(impossible),
        by=options.names(by),
        value=value,
        contributor=contributor,
        holding=holding,
        weight=weight,
        hierarchies=_trees(hierarchy),
        example=example,
    )
    from discreet.decide.policy import Policy

    asked = Policy.load(policy)
    with show.Bar() as bar, options.about(file or example):
        source = open_source(file, name=name, **{"top": asked.top, **reading})
        same = {"dimensions": options.names(dimensions), "encoding": encoding, "delimiter": delimiter}
        protection, others = _protection(protect, as_is, release, rounded, base, total, same)
        found = work(
            source.with_files(others),
            asked,
            protection=protection,
            population=population,
            seed=seed,
            trial=trial,
            draws=draws,
            time_limit=time_limit,
            workers=workers,
            progress=bar,
        )
    public = None
    if json and edition == "public":
        from discreet.report.writing import report_text

        # Made before anything is written: there may be nothing that can be told in public.
        public = report_text(found.to_dict(), ".json", "public")
    found.write_record(kept)
    if output is not None and found.release is not None:
        found.release.write(output, value="value" if found.subject.magnitudes else "count", trial=trial)
    if report is not None:
        found.report(report, edition=edition)

    def face(console: Any) -> None:
        colour = COLOURS[found.verdict]
        console.print(f"[bold {colour}]{found.verdict.upper()}[/bold {colour}]", end="  ")
        console.print(found.sentence, markup=False)
        if source.note:
            console.print(source.note, style="dim", markup=False)
        console.print()
        for one in found.checks:
            mark = "[green]✓[/green]" if one.passed else "[red]✗[/red]"
            console.print(f" {mark} ", end="")
            console.print(one.text, markup=False)
        console.print()
        show.table(console, ["", ""], found.figures())
        if found.sample is not None:
            console.print()
            header, rows = found.sample.side_by_side()
            show.table(console, header, rows, left=(0, 3))
        if found.rows_sentence:
            console.print(found.rows_sentence, markup=False)
        cells = found.cells(top)
        if cells:
            console.print()
            rows = [[c["name"], str(c["original"]), c["published"], c["known"], c["reason"]] for c in cells]
            header = ["sensitive cell", "true", "published", "a reader knows", "why"]
            show.table(console, header, rows, left=(0, 3, 4))
            console.print()
            for cell in cells[: 3 if found.verdict == "withhold" else 1]:
                if cell["proof"]:
                    console.print(f"  {cell['name']}: {cell['proof']}", style="dim", markup=False)
        if len(found.candidates) > 1:
            console.print()
            tried = [[c.title, "–" if c.utility is None else f"{c.utility:.4f}", c.text] for c in found.candidates]
            show.table(console, ["tried", "utility", ""], tried, left=(0, 2))
        if seed is None:
            drawn = found.record["request"]["seed"]
            told = (
                f"\nSeed {drawn}, drawn for this assessment; --seed {drawn} repeats it. Keep it as secret as the table."
            )
            console.print(told, style="dim")
        written = [kept, *([output] if output and found.release else []), *([report] if report else [])]
        console.print(f"\nWritten: {', '.join(map(str, written))}", style="dim", markup=False)
        if output is not None and found.release is None:
            console.print(f"{output} was not written, as nothing may be released.", style="red", markup=False)

    if public is not None:
        print(public, end="")
    else:
        show.deliver("assess", found, json, None, face)
    if found.verdict == "withhold":
        raise typer.Exit(1)


def _trees(texts: list[str] | None) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, where = text.partition("=")
        if not equals or not name or not where:
            raise RequestError(f"--hierarchy is {text!r}; give it as region=nuts.hrc")
        found.setdefault(name, []).append(where)
    return found or None


def _protection(
    protect: str | None,
    as_is: bool,
    release: Path | None,
    rounded: str | None,
    base: int,
    total: str,
    reading: dict[str, Any],
) -> tuple[Any, dict[str, Path]]:
    """Return what is judged: a proposal, the table as it is, a method, or a release from a file."""
    if sum([protect is not None, as_is, release is not None]) > 1:
        raise RequestError("give one of --protect, --as-is and --release")
    if release is None:
        if rounded is not None or base:
            raise RequestError("--rounded and --base say how --release was made; name it")
        return ("none" if as_is else protect or "propose"), {}
    from discreet.cli.audit_texts import kind_of
    from discreet.table.release_reader import read_release

    kind = kind_of(rounded, base, None)
    return read_release(release, kind=kind, total=total or "Total", **reading), {"release": release}


assess.__doc__ = options.explained(assess, EXAMPLES)
