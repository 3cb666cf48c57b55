"""``discreet rules``: which cells of a table are sensitive, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from discreet.cli import options, show
from discreet.cli.audit_texts import cell_of
from discreet.cli.compose import argument, command, option, panel
from discreet.cli.options import in_output
from discreet.cli.reading_options import OriginalOptions
from discreet.cli.rule_option import PANEL, Rules
from discreet.core.errors import RequestError
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json

if TYPE_CHECKING:
    from discreet.rules.explain import Explanation
    from discreet.rules.group_disclosure import GroupDisclosure
    from discreet.rules.sensitivity import Sensitivity

in_short, in_rules = panel("Short for --rule"), panel(PANEL)
GIVE = "give one, for example --rule p=10, --rule dominance=2,85 or --rule threshold=3"


@command
def rules(
    table: Annotated[
        Path | None, argument("A table from discreet tabulate, .tab, or a CSV table of counts.", "FILE")
    ] = None,
    rule: Rules = None,
    combine: Annotated[str, in_rules("any or all rules make a cell sensitive.")] = "any",
    p_percent: Annotated[str | None, in_short("--rule p=P", metavar="P")] = None,
    dominance: Annotated[list[str] | None, in_short("--rule dominance=N,K", metavar="N,K")] = None,
    threshold: Annotated[str | None, in_short("--rule threshold=M", metavar="M")] = None,
    example: options.Example = None,
    explain: Annotated[str | None, option("Explain one cell: dimension=code, comma-separated.")] = None,
    *,
    read: OriginalOptions,
    json: options.Json = False,
    output: Annotated[Path | None, in_output("Also write the result: .json, .csv, .txt or .tab.")] = None,
    top: Annotated[int, option("How many sensitive cells to show.", min=0)] = 20,
) -> None:
    """Find the cells that the agency's rules call sensitive, with reasons and protection levels.

    Rules look at the original before any protection: a cell is sensitive if it has too few contributors, if few
    dominate it, or if one contributor could estimate another too well.

    threshold=3: fewer than 3 contributors. dominance=2,85: the 2 largest make up more than 85%. p=10: somebody can
    estimate another within 10%. pq=10,50: the same if everybody already knows the others within 50%. group=0: lines
    with everybody in one cell (group=1: all but one person). After the numbers may follow coalition=2 (p, pq),
    zeros=unsafe and safety_range=30 (threshold), weighted=yes, and at the end @contributor, @holding or @both.

    Examples:
        discreet rules table.parquet --rule p=10 --rule dominance=2,85 --rule threshold=3  # any of three rules
        discreet rules table.parquet --rule pq=10,50@holding  # holdings instead of contributors
        discreet rules table.parquet --rule p=10,coalition=2,weighted=yes@both  # two conspire; weights; both levels
        discreet rules counts.csv --rule threshold=3,zeros=unsafe --rule group=0  # counts, with empty cells
        discreet rules --example religion --rule threshold=3  # a bundled table
        discreet rules table.parquet --rule p=10 --explain region=North,activity=A  # one cell in words
    """
    from discreet.rules import group_disclosure, sensitivity
    from discreet.rules.explain import explained
    from discreet.rules.rule_texts import rules_and_group
    from discreet.rules.sensitivity import judged_cells

    show.check_output(output, table, endings=(*show.ENDINGS, ".tab"))
    short = [("threshold", threshold), *(("dominance", text) for text in dominance or ()), ("p", p_percent)]
    texts = [f"{name}={text}" for name, text in short if text is not None]
    chosen, group = rules_and_group([*(rule or ()), *texts])
    if not chosen and group is None:
        raise RequestError(f"no rule is given; {GIVE}")
    if not chosen and explain is not None:
        raise RequestError(f"--explain says what rules find; {GIVE}")
    opened = read.opened(table, example=example)
    value = opened.response
    with options.about(table or example):
        cells = judged_cells(opened.tabulation(), chosen)
        found = sensitivity(cells, chosen, response=value, combine=combine) if chosen else None  # type: ignore[arg-type]
        lines = group_disclosure(cells, coalition=group) if group is not None else None
        told = explained(found, cell_of(explain)) if found is not None and explain is not None else None
    result = _RulesResult(found, lines, told)
    if output is not None and output.suffix.lower() == ".tab":
        from discreet.tabulation.argus_tab import write_tab

        if found is None:
            raise RequestError(f"a .tab file holds what rules find; {GIVE}")
        write_tab(cells, output, sensitive=found.sensitive, lower=found.lower, upper=found.upper, response=value)
        output = None
    show.deliver("rules", result, json, output, lambda console: result.face(console, opened.note, top))


@dataclass(frozen=True)
class _RulesResult:
    """Sensitive cells, disclosing lines and an explanation, whichever were asked for."""

    found: Sensitivity | None
    lines: GroupDisclosure | None
    told: Explanation | None

    def face(self, console: show.Console, note: str, top: int) -> None:
        show.head(console, "", note)
        if self.told is not None:
            console.print(str(self.told))
            return
        if self.found is not None:
            self._show_cells(console, self.found, top)
        if self.lines is not None:
            console.print()
            show.marked(console, "Group disclosure:", "bold", f" {self.lines.sentence}")
            if len(self.lines):
                show.table(console, ["line", "in the cell", "in the line"], self.lines.rows(top))

    def _show_cells(self, console: show.Console, found: Sensitivity, top: int) -> None:
        console.print(found.sentence, style="bold")
        for header, counts in (("status", found.statuses), ("rule", found.by_rule)):
            words = "cells" if header == "status" else "sensitive"
            # Tables leave empty cells out unless they say otherwise: none listed does not mean that there is none.
            rows = [[text, f"{number:,}"] for text, number in counts.items() if number or text != "empty"]
            show.table(console, [header, words], rows)
            console.print()
        if found.cells.size and top:
            columns = [", ".join(found.tabulation.names), "value", "protection", "reason"]
            show.table(console, columns, found.rows(top), left=(0, 3))
            if found.cells.size > top:
                console.print(f"… and {found.cells.size - top:,} more; --top shows them, --json lists all")

    def to_dict(self) -> dict[str, Json]:
        data: dict[str, Json] = {} if self.found is None else self.found.to_dict()
        if self.lines is not None:
            data.setdefault("cells", self.lines.tabulation.whole)
            data.setdefault("sensitive", [])
            data["group_disclosure"] = self.lines.to_dict()
        if self.told is not None:
            data["explain"] = self.told.to_dict()
        return data

    def to_csv(self) -> str:
        found, lines = self.found, self.lines
        if found is None:
            header = ["along", "count", "total", "reason"]
            every = [] if lines is None else [lines.line(i) for i in range(len(lines))]
            return csv_text(header, ([one[name] for name in header] for one in every))
        return csv_text([*found.tabulation.names, *found.COLUMNS], map(found.listed, found.cells.tolist()))

    def __str__(self) -> str:
        return "\n\n".join(str(part) for part in (self.found, self.lines, self.told) if part is not None)
