"""``discreet rules``: which cells of a table are sensitive, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.table.tabulation import Tabulation

EXAMPLES = {
    "discreet rules table.parquet --p-percent 10 --dominance 2,85 --threshold 3": "sensitive by any of three rules",
    "discreet rules table.parquet --pq 10,50 --level holding": "holdings instead of contributors",
    "discreet rules counts.csv --threshold 3 --group-disclosure 0": "a frequency table",
    "discreet rules table.parquet --p-percent 10 --explain region=North,activity=A": "one cell in words",
}
RULES = "Rules"


def rules(
    table: Annotated[Path, typer.Argument(help="A table from discreet tabulate, .tab, or a CSV table of counts.")],
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Fewest contributors of a safe cell.", rich_help_panel=RULES)
    ] = None,
    dominance: Annotated[
        list[str] | None,
        typer.Option("--dominance", help="n,k: the n largest make up at most k%.", rich_help_panel=RULES),
    ] = None,
    p_percent: Annotated[
        float | None, typer.Option("--p-percent", help="p: nobody estimates another within p%.", rich_help_panel=RULES)
    ] = None,
    pq: Annotated[
        str | None, typer.Option("--pq", help="p,q: the same when q% is known before.", rich_help_panel=RULES)
    ] = None,
    zeros: Annotated[
        str, typer.Option("--zeros", help="safe or unsafe: cells that add up to nothing.", rich_help_panel=RULES)
    ] = "safe",
    safety_range: Annotated[
        float, typer.Option("--safety-range", help="Protection after the threshold, in %.", rich_help_panel=RULES)
    ] = 30.0,
    coalition: Annotated[
        int, typer.Option("--coalition", help="How many contributors conspire.", min=1, rich_help_panel=RULES)
    ] = 1,
    level: Annotated[
        str, typer.Option("--level", help="contributor, holding, or both.", rich_help_panel=RULES)
    ] = "contributor",
    weighted: Annotated[
        bool, typer.Option("--weighted", help="A weight w counts as w alike contributors.", rich_help_panel=RULES)
    ] = False,
    combine: Annotated[
        str, typer.Option("--combine", help="any or all rules make a cell sensitive.", rich_help_panel=RULES)
    ] = "any",
    group: Annotated[
        int | None,
        typer.Option(
            "--group-disclosure", help="k: lines with all but k people in one cell.", min=0, rich_help_panel=RULES
        ),
    ] = None,
    value: Annotated[str | None, typer.Option("--value", help="The magnitude to judge; the only one.")] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", help="Explain one cell: dimension=code, with commas.")
    ] = None,
    rda: Annotated[
        Path | None,
        typer.Option("--rda", help="The metadata of a .tab file.", rich_help_panel=options.READING),
    ] = None,
    count: options.Count = "count",
    dimensions: options.Dimensions = None,
    layout: options.Layout = "auto",
    total: options.Total = "Total",
    margins: options.Margins = "check",
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Also write it: .json, .csv, .txt or .tab.", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="How many sensitive cells to show.", min=0)] = 20,
) -> None:
    """Find the cells that the agency's rules call sensitive, with reasons and protection levels.

    Rules look at the original before any protection: a cell is sensitive if it has too few contributors, if few
    dominate it, or if one contributor could estimate another too well.
    """
    from discreet.rules import group_disclosure, sensitivity
    from discreet.rules.explain import explained

    show.check_output(output, table, endings=(*show.ENDINGS, ".tab"))
    chosen = _rules(threshold, dominance, p_percent, pq, zeros, safety_range, coalition, level, weighted)
    if not chosen and group is None:
        raise RequestError("no rule is given; for example --p-percent 10, --dominance 2,85 or --threshold 3")
    reading: dict[str, Any] = {
        "count": count,
        "dimensions": dimensions,
        "layout": layout,
        "total": total,
        "margins": margins,
        "encoding": encoding,
        "delimiter": delimiter,
    }
    cells = _load(table, rda, reading)
    with options.about(table):
        if zeros == "unsafe":
            cells = cells.with_empty_cells()
        found = sensitivity(cells, chosen, response=value, combine=combine) if chosen else None  # type: ignore[arg-type]
        lines = group_disclosure(cells, coalition=group) if group is not None else None
        told = None
        if explain is not None:
            if found is None:
                raise RequestError("--explain says what rules find; give one, for example --p-percent 10")
            told = explained(found, dict(_cell(explain)))
    result = _Result(found, lines, told)

    def face(console: Any) -> None:
        if told is not None:
            console.print(str(told), markup=False)
            return
        if found is not None:
            console.print(f"[bold]{found.sentence}[/bold]")
            counts = [[status, f"{number:,}"] for status, number in found.statuses.items()]
            show.table(console, ["status", "cells"], counts)
            console.print()
            show.table(console, ["rule", "sensitive"], [[t, f"{n:,}"] for t, n in found.by_rule.items()])
            if found.cells.size and top:
                console.print()
                header = [", ".join(cells.names), "value", "protection", "reason"]
                _reasons(console, header, found.rows(top))
                if found.cells.size > top:
                    console.print(f"… and {found.cells.size - top:,} more; --top shows them, --json lists all")
        if lines is not None:
            console.print(f"\n[bold]Group disclosure:[/bold] {lines.sentence}")
            if len(lines):
                show.table(console, ["line", "in the cell", "in the line"], lines.rows(top))

    if output is not None and output.suffix.lower() == ".tab":
        from discreet.tabulation.argus_tab import write_tab

        if found is None:
            raise RequestError("a .tab file holds what rules find; give one, for example --p-percent 10")
        write_tab(cells, output, sensitive=found.sensitive, lower=found.lower, upper=found.upper, response=value)
        output = None
    show.deliver("rules", result, json, output, face)


class _Result:
    """Sensitive cells, disclosing lines and an explanation, whichever were asked for."""

    def __init__(self, found: Any, lines: Any, told: Any) -> None:
        self.found, self.lines, self.told = found, lines, told

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {} if self.found is None else self.found.to_dict()
        if self.lines is not None:
            data.setdefault("cells", len(self.lines.tabulation))
            data.setdefault("sensitive", [])
            data["group_disclosure"] = self.lines.to_dict()
        if self.told is not None:
            data["explain"] = self.told.to_dict()
        return data

    def to_csv(self) -> str:
        import csv
        import io

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        if self.found is not None:
            names = list(self.found.tabulation.names)
            writer.writerow([*names, "value", "lower", "upper", "rules", "reason"])
            for one in self.found.to_dict()["sensitive"]:
                figures = [one["value"], one["lower"], one["upper"]]
                writer.writerow([*one["cell"].values(), *figures, " ".join(one["rules"]), one["reason"]])
        else:
            writer.writerow(["along", "count", "total", "reason"])
            writer.writerows(
                [one["along"], one["count"], one["total"], one["reason"]] for one in self.lines.to_dict()["lines"]
            )
        return stream.getvalue()

    def __str__(self) -> str:
        return "\n\n".join(str(part) for part in (self.found, self.lines, self.told) if part is not None)


def _reasons(console: Any, header: list[str], rows: list[list[str]]) -> None:
    """Print cells with their reasons, which are sentences and stand on the left."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    grid = RichTable(box=None, pad_edge=False, header_style="dim")
    for i, name in enumerate(header):
        grid.add_column(name, justify="right" if i in (1, 2) else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(escape(text) for text in row))
    console.print(grid)


def _load(table: Path, rda: Path | None, reading: dict[str, Any]) -> Tabulation:
    """Read a tabulation, a tabular file of τ-ARGUS, or a frequency table."""
    from discreet.table.tabulation import Tabulation

    suffix = table.suffix.lower()
    if suffix == ".tab" or rda is not None:
        from discreet.tabulation.argus_tab import read_tab

        return read_tab(table, rda, encoding=reading["encoding"], check=reading["margins"] == "check").tabulation
    if suffix == ".parquet":
        from discreet.table.tabulation_file import is_tabulation, read_tabulation

        if is_tabulation(table):
            return read_tabulation(table)
    return Tabulation.from_table(options.load(table, **reading), total=reading["total"] or "Total")


def _numbers(text: str, option: str, example: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 2:
        raise RequestError(f"{option} is {text!r}; give two numbers with a comma, as {example}")
    return values


def _rules(
    threshold: float | None,
    dominance: list[str] | None,
    p_percent: float | None,
    pq: str | None,
    zeros: str,
    safety_range: float,
    coalition: int,
    level: str,
    weighted: bool,
) -> list[Any]:
    from discreet.rules import PQ, Dominance, PPercent, Threshold

    levels = ["contributor", "holding"] if level == "both" else [level]
    found: list[Any] = []
    for one in levels:
        where: dict[str, Any] = {"level": one, "weighted": weighted}
        if threshold is not None:
            found.append(Threshold(threshold, zeros, safety_range, **where))  # type: ignore[arg-type]
        for text in dominance or []:
            n, k = _numbers(text, "--dominance", "2,85")
            if n != int(n):
                raise RequestError(f"--dominance is {text!r}; its first number is whole, as 2,85")
            found.append(Dominance(int(n), k, **where))
        if p_percent is not None:
            found.append(PPercent(p_percent, coalition, **where))
        if pq is not None:
            p, q = _numbers(pq, "--pq", "10,50")
            found.append(PQ(p, q, coalition, **where))
    return found


def _cell(text: str) -> list[tuple[str, str]]:
    pairs = []
    for part in text.split(","):
        name, sign, code = part.partition("=")
        if not sign:
            raise RequestError(f"--explain is {text!r}; give the cell as region=North,activity=A")
        pairs.append((name.strip(), code))
    return pairs


rules.__doc__ = options.explained(rules, EXAMPLES)
