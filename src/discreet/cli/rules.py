"""``discreet rules``: which cells of a table are sensitive, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.compose import composed
from discreet.cli.original_options import OriginalOptions
from discreet.cli.rule_texts import PANEL, Rules, rules_and_group
from discreet.core.errors import RequestError

EXAMPLES = {
    "discreet rules table.parquet --rule p=10 --rule dominance=2,85 --rule threshold=3": "sensitive by any of three",
    "discreet rules table.parquet --rule pq=10,50@holding": "holdings instead of contributors",
    "discreet rules table.parquet --rule p=10,coalition=2,weighted=yes@both": "two conspire; weights; both levels",
    "discreet rules counts.csv --rule threshold=3,zeros=unsafe --rule group=0": "a frequency table, with empty cells",
    "discreet rules table.parquet --rule p=10 --explain region=North,activity=A": "one cell in words",
}
in_short, in_rules = options.panel("Short for --rule"), options.panel(PANEL)
GIVE = "give one, for example --rule p=10, --rule dominance=2,85 or --rule threshold=3"


@composed
def rules(
    *,
    table: Annotated[Path, typer.Argument(help="A table from discreet tabulate, .tab, or a CSV table of counts.")],
    rule: Rules = None,
    combine: Annotated[str, in_rules("--combine", help="any or all rules make a cell sensitive.")] = "any",
    p_percent: Annotated[str | None, in_short("--p-percent", metavar="P", help="--rule p=P")] = None,
    dominance: Annotated[list[str] | None, in_short("--dominance", metavar="N,K", help="--rule dominance=N,K")] = None,
    threshold: Annotated[str | None, in_short("--threshold", metavar="M", help="--rule threshold=M")] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", help="Explain one cell: dimension=code, with commas.")
    ] = None,
    read: OriginalOptions,
    json: options.Json = False,
    output: Annotated[
        Path | None, options.in_output("--output", "-o", help="Also write it: .json, .csv, .txt or .tab.")
    ] = None,
    top: Annotated[int, typer.Option("--top", help="How many sensitive cells to show.", min=0)] = 20,
) -> None:
    """Find the cells that the agency's rules call sensitive, with reasons and protection levels.

    Rules look at the original before any protection: a cell is sensitive if it has too few contributors, if few
    dominate it, or if one contributor could estimate another too well.

    threshold=3: fewer than 3 contributors. dominance=2,85: the 2 largest make up more than 85%. p=10: somebody
    estimates another within 10%. pq=10,50: the same when everybody knows the others within 50% before. group=0: lines
    with all but 0 people in one cell. After the numbers may stand coalition=2 (p, pq), zeros=unsafe and safety_range=30
    (threshold), weighted=yes, and at the end @contributor, @holding or @both.
    """
    from discreet.rules import group_disclosure, sensitivity
    from discreet.rules.explain import explained
    from discreet.rules.sensitivity import judged_cells

    show.check_output(output, table, endings=(*show.ENDINGS, ".tab"))
    short = [("threshold", threshold), *(("dominance", text) for text in dominance or ()), ("p", p_percent)]
    texts = [f"{name}={text}" for name, text in short if text is not None]
    chosen, group = rules_and_group([*(rule or ()), *texts])
    if not chosen and group is None:
        raise RequestError(f"no rule is given; {GIVE}")
    opened = read.opened(table)
    cells, value = opened.tabulation(), opened.response
    with options.about(table):
        cells = judged_cells(cells, chosen)
        found = sensitivity(cells, chosen, response=value, combine=combine) if chosen else None  # type: ignore[arg-type]
        lines = group_disclosure(cells, coalition=group) if group is not None else None
        told = None
        if explain is not None:
            if found is None:
                raise RequestError(f"--explain says what rules find; {GIVE}")
            told = explained(found, dict(_cell(explain)))
    result = _Result(found, lines, told)

    def face(console: Any) -> None:
        show.head(console, "", opened.note)
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
            raise RequestError(f"a .tab file holds what rules find; {GIVE}")
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


def _cell(text: str) -> list[tuple[str, str]]:
    pairs = []
    for part in text.split(","):
        name, sign, code = part.partition("=")
        if not sign:
            raise RequestError(f"--explain is {text!r}; give the cell as region=North,activity=A")
        pairs.append((name.strip(), code))
    return pairs


rules.__doc__ = options.explained(rules, EXAMPLES)
