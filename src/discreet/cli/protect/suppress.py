"""``discreet protect suppress``."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import options, show
from discreet.cli.protect.common import opened, protects
from discreet.cli.rule_texts import Rules, rules_of
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.core.progress import Progress
    from discreet.evaluate.audited_suppression import Suppressed
    from discreet.protect.base import Protected
    from discreet.reading.reading import Reading

EXAMPLES = {
    "discreet protect suppress table.csv --rule threshold=3 -o release.csv": "counts below 3, and what protects them",
    "discreet protect suppress firms.parquet --rule p=10 --method optimal -o release.csv --status why.csv": (
        "p% rule, at the least cost, with the reason of every suppression"
    ),
    "discreet protect suppress as.parquet --linked ar.parquet --rule p=10@holding -o release.csv": (
        "two linked tables in one problem, at the level of holdings"
    ),
    "discreet protect suppress country.tab --linked east.tab --part region=East --rule p=10 -o release.csv": (
        "a table of some regions only, with a total of its own, beside one of all"
    ),
    "discreet protect suppress table.csv --rule threshold=3 --as intervals -o release.csv": "intervals, not marks",
}
in_sensitive, in_search = options.panel("Which cells are sensitive"), options.panel("What is suppressed with them")
in_known, in_files = options.panel("Who looks"), options.panel("More files")


def suppress(
    original: Any,
    rule: Rules = None,
    apriori: Annotated[
        Path | None,
        in_sensitive(
            "--apriori", help="CSV of cells (dimensions, then status publish or suppress, cost, lower, upper, sliding)."
        ),
    ] = None,
    risk: Annotated[
        float | None, in_sensitive("--risk", help="Cells of a disclosure risk 1/H above this are sensitive.")
    ] = None,
    levels: Annotated[
        str | None, in_sensitive("--levels", help="LOWER,UPPER: levels of all sensitive cells, not the rules' own.")
    ] = None,
    method: Annotated[str, in_search("--method", help="fast or optimal.")] = "fast",
    cost: Annotated[
        str, in_search("--cost", help="value, cells, log, contributors, records, or another magnitude.")
    ] = "value",
    zeros: Annotated[str, in_search("--zeros", help="published or suppressible.")] = "published",
    time_limit: Annotated[
        float | None, in_search("--time-limit", help="Seconds for optimal; the best safe pattern then.")
    ] = None,
    insiders: Annotated[
        str,
        in_known(
            "--insiders",
            help="Respondents, each with all that they contributed: auto (all who are known), respondents, singletons "
            "or none.",
        ),
    ] = "auto",
    least: Annotated[float, in_known("--least", help="What readers know values to be at least.")] = 0.0,
    form: Annotated[str, in_files("--as", help="marks, intervals or synthetic.")] = "marks",
    linked: Annotated[
        list[Path] | None, in_files("--linked", help="A further table, read as FILE is and protected together with it.")
    ] = None,
    part: options.Part = None,
    status: Annotated[
        Path | None, in_files("--status", help="CSV of every cell's status and reason, for the agency only.")
    ] = None,
    tab: Annotated[
        Path | None, in_files("--tab", help="The table with statuses for τ-ARGUS (.tab), for the agency only.")
    ] = None,
) -> Any:
    """Suppress sensitive cells, and as many others as it takes that nobody can work them out.

    The result is audited before anything is written: a pattern that fails is never released. Where cells cannot be
    protected as asked, those in conflict are named.
    """
    from discreet.protect.suppression import Suppression

    show.check_output(status, endings=(".csv",))
    show.check_output(tab, endings=(".tab",))
    made = Suppression(
        tuple(rules_of(rule)),
        tuple(_wishes(apriori)) if apriori is not None else (),
        risk=risk,
        levels=_levels(levels),
        method=method,  # type: ignore[arg-type]
        cost=cost,
        zeros=zeros,  # type: ignore[arg-type]
        insiders=insiders,  # type: ignore[arg-type]
        least=least,
        time_limit=time_limit,
    )
    return _Audited(made, list(linked or ()), form, status, tab)


def _read(file: Path | None, reading: Reading, given: dict[str, Any]) -> Any:
    """Read FILE and, in the same way, the tables that are linked with it."""
    stated = options.parts(given.pop("part"))
    paths, how = given["linked"] or [], replace(reading, parts=stated or None)

    def read() -> Any:
        from discreet.reading.original import open_linked

        found = opened(file, how)
        given["linked"] = [open_linked(path, how) for path in paths]
        totals: list[tuple[str, str, bool]] = []
        for one in (found.original, *given["linked"]):
            # A table of counts has no margins any more; what they were called is said by --total.
            totals += [(axis.name, axis.total, axis.part) for axis in getattr(one, "axes", ())]
            totals += [(axis.name, how.total or "", False) for axis in getattr(one, "dimensions", ())]
        options.check_parts(stated, totals)
        return found

    return read


class _Audited:
    """The method with its audit, and the agency's files beside the release."""

    def __init__(self, method: Any, others: list[Any], form: Any, status: Path | None, tab: Path | None) -> None:
        self.method, self.others, self.form, self.status, self.tab = method, others, form, status, tab

    def apply(self, original: Any, seed: Any = None, *, progress: Progress | None = None) -> Protected:
        from discreet.core.files import write_text
        from discreet.evaluate.audited_suppression import certify, safe_against

        found = certify(self.method, [original, *self.others], form=self.form, progress=progress)
        if self.status is not None:
            write_text(self.status, _status(found))
        if self.tab is not None:
            _write_tab(found, self.tab)
        return replace(
            found.protected, details={**found.protected.details, "safe_against": safe_against(found.pattern)}
        )


def _levels(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise RequestError(f"--levels is {text!r}; give LOWER,UPPER, as 1,1")
    return (numbers[0], numbers[-1])


def _wishes(path: Path) -> list[Any]:
    from discreet.protect.suppression import Wish
    from discreet.table.arrow_files import read_arrow

    known = ("status", "cost", "lower", "upper", "sliding")
    found = []
    for number, row in enumerate(read_arrow(path, encoding="utf-8", delimiter=None).to_pylist(), start=1):
        given = {name: row.pop(name, None) for name in known}
        try:
            numbers = {name: float(given[name]) for name in known[1:] if given[name] not in (None, "")}
        except (TypeError, ValueError):
            raise RequestError(f"{path}: row {number} has a cost or level that is not a number; correct it") from None
        cell = {name: str(label) for name, label in row.items() if label not in (None, "")}
        found.append(Wish(cell, given["status"] or None, **numbers))
    return found


def _status(found: Suppressed) -> str:
    """Return every cell with its value, status and reason: confidential."""
    from discreet.protect.suppression.pattern import STATUSES

    pattern = found.pattern
    cells = pattern.problem.cells
    equations, demands = cells.equations, pattern.problem.demands
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*equations.space.names, "value", "status", "lower", "upper", "sliding", "reason"])
    for i in cells.listed.nonzero()[0].tolist():
        level = [
            equations.text(int(column[i])) if demands.sensitive[i] else ""
            for column in (demands.lower, demands.upper, demands.sliding)
        ]
        value = equations.text(int(cells.values[i]))
        label = list(equations.cell(i).values())
        writer.writerow([*label, value, STATUSES[int(pattern.status[i])], *level, pattern.reason(i)])
    return stream.getvalue()


def _write_tab(found: Suppressed, path: Path) -> None:
    """Write each table with statuses U and M; of several tables, each gets a number."""
    import numpy as np

    from discreet.tabulation.argus_tab import write_tab

    pattern = found.pattern
    cells, demands = pattern.problem.cells, pattern.problem.demands
    scale = 10**cells.equations.decimals
    for number, (table, place) in enumerate(zip(cells.tables, cells.places, strict=True), start=1):
        target = path if len(cells.tables) == 1 else path.with_stem(f"{path.stem}-{number}")
        letters = np.array(["S", "U", "M"])[pattern.status[place]]
        letters = np.where((table.records == 0) & (letters == "S"), "E", letters)
        write_tab(table, target, status=letters, lower=demands.lower[place] / scale, upper=demands.upper[place] / scale)


def _finish(done: Protected, console: Any) -> None:
    hidden = done.details["suppressed"]
    rows = [["primary", f"{hidden['primary']:,}"], ["secondary", f"{hidden['secondary']:,}"]]
    show.table(console, ["status", "cells"], [*rows, ["published", f"{done.details['published']:,}"]])
    console.print(done.details["safe_against"], style="green", markup=False)


COMMANDS = {"suppress": protects(suppress, EXAMPLES, random=False, finish=_finish, read=_read)}
