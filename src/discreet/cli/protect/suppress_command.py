"""``discreet protect suppress``: the cells wished for, linked tables, the audit, and files for the agency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np

from discreet.cli import show
from discreet.cli.compose import panel
from discreet.cli.deadline import in_time
from discreet.cli.protect.method_fields import command_of
from discreet.cli.reading_options import Part, check_parts, opened, parts
from discreet.core.files import write_text
from discreet.core.formula_texts import csv_text
from discreet.protect.suppression import Suppression, Wish
from discreet.protect.suppression.pattern import STATUSES
from discreet.protect.suppression.suppression import SENSITIVE
from discreet.protect.suppression.wish_files import read_wishes, wishes_of
from discreet.reading.original import open_linked
from discreet.tabulation.argus_tab import read_tab, write_tab

if TYPE_CHECKING:
    from discreet.core.progress import Progress
    from discreet.evaluate.audited_suppression import Suppressed
    from discreet.evaluate.forms import Form
    from discreet.protect.base import Original, Protected
    from discreet.reading.opened import Opened
    from discreet.reading.reading import Reading

in_sensitive, in_files = panel(SENSITIVE), panel("More files")


@dataclass(frozen=True)
class _Audited:
    """The method with its audit, and the agency's files beside the release."""

    method: Suppression
    others: list[Original]
    form: Form
    status: Path | None
    tab: Path | None

    def apply(self, original: Original, seed: object = None, *, progress: Progress | None = None) -> Protected:
        from discreet.evaluate.audited_suppression import certify, safe_against

        found = certify(self.method, [original, *self.others], form=self.form, progress=progress)
        in_time()
        files: list[Path] = []
        if self.status is not None:
            write_text(self.status, _status(found), private=True)
            files.append(self.status)
        if self.tab is not None:
            files += _write_tab(found, self.tab)
        told = {**found.protected.details, "safe_against": safe_against(found.pattern)}
        told |= {"agency_files": list(map(str, files))} if files else {}
        return replace(found.protected, details=told)


def _audited(
    made: Callable[..., Suppression],
    original: object,
    apriori: Annotated[
        Path | None,
        in_sensitive(
            "Cells: CSV (dimensions, then status publish or suppress, cost, lower, upper, sliding), or .hst of τ-ARGUS."
        ),
    ] = None,
    form: Annotated[
        str, in_files("marks, intervals or synthetic: how suppressed cells are published.", "--as")
    ] = "marks",
    linked: Annotated[
        list[Path] | None, in_files("A further table of the same layout; the two are protected together.")
    ] = None,
    part: Part = None,
    status: Annotated[Path | None, in_files("CSV of every cell's status and reason, for the agency only.")] = None,
    tab: Annotated[Path | None, in_files("The table with statuses for τ-ARGUS (.tab), for the agency only.")] = None,
) -> _Audited:
    show.check_output(status, endings=(".csv",))
    show.check_output(tab, endings=(".tab",))
    # The files of wishes and the linked tables were read by then.
    method = made(wishes=cast("tuple[Wish, ...]", apriori or ()))
    return _Audited(method, cast("list[Original]", linked or []), cast("Form", form), status, tab)


def _read(file: Path | None, reading: Reading, given: dict[str, Any]) -> Callable[[], Opened]:
    """Read FILE and, in the same way, the tables that are linked with it."""
    stated = parts(given.pop("part"))
    paths, how = given["linked"] or [], replace(reading, parts=stated or None)

    def read() -> Opened:
        found = opened(file, how)
        given["linked"] = [open_linked(path, how) for path in paths]
        totals: list[tuple[str, str, bool]] = []
        for one in (found.original, *given["linked"]):
            # A table of counts has no margins any more; --total says what they were called.
            totals += [(axis.name, axis.total, axis.part) for axis in getattr(one, "axes", ())]
            totals += [(axis.name, how.total or "", False) for axis in getattr(one, "dimensions", ())]
        check_parts(stated, totals)
        apriori, axes = given["apriori"], found.tabulation().axes
        given["apriori"] = () if apriori is None else read_wishes(apriori, axes, encoding=how.encoding)
        if file is not None and file.suffix.lower() == ".tab" and not given["rule"] and given["max_dr"] is None:
            # Without rules, the statuses of a table of τ-ARGUS say what is sensitive.
            tab = read_tab(file, how.rda, encoding=how.encoding, check=False)
            given["apriori"] = (*wishes_of(tab), *given["apriori"])
        return found

    return read


def _status(found: Suppressed) -> str:
    """Return every cell with its value, status and reason: confidential."""
    pattern = found.pattern
    cells, demands = pattern.problem.cells, pattern.problem.demands
    equations = cells.equations
    rows = []
    for i in cells.listed.nonzero()[0].tolist():
        level = [
            equations.plain(int(column[i])) if demands.sensitive[i] else ""
            for column in (demands.lower, demands.upper, demands.sliding)
        ]
        value = equations.plain(int(cells.values[i]))
        label = equations.cell(i).values()
        rows.append([*label, value, STATUSES[int(pattern.status[i])], *level, pattern.reason(i)])
    header = [*equations.space.names, "value", "status", "lower", "upper", "sliding", "reason"]
    return csv_text(header, rows)


def _write_tab(found: Suppressed, path: Path) -> list[Path]:
    """Write each table with statuses U and M, and return the files; of several tables, each gets a number."""
    written: list[Path] = []
    pattern = found.pattern
    cells, demands = pattern.problem.cells, pattern.problem.demands
    scale = 10**cells.equations.decimals
    for number, (table, place) in enumerate(zip(cells.tables, cells.places, strict=True), start=1):
        target = path if len(cells.tables) == 1 else path.with_stem(f"{path.stem}-{number}")
        letters = np.array(["S", "U", "M"])[pattern.status[place]]
        letters = np.where((table.records == 0) & (letters == "S"), "E", letters)
        levels = {"lower": demands.lower[place] / scale, "upper": demands.upper[place] / scale}
        written += write_tab(table, target, status=letters, **levels)
    return written


def _finish(done: Protected, console: show.Console) -> None:
    hidden = done.details["suppressed"]
    rows = [["primary", f"{hidden['primary']:,}"], ["secondary", f"{hidden['secondary']:,}"]]
    show.table(console, ["status", "cells"], [*rows, ["published", f"{done.details['published']:,}"]])
    console.print(done.details["safe_against"], style="green")


COMMANDS = {"suppress": command_of(Suppression, _audited, finish=_finish, read=_read)}
