"""What a table of τ-ARGUS holds: its dimensions, its figures, and which of them its statuses hide."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.table.figures import Figures
from discreet.table.inspection import SHOWN, Column, Inspection, figures_dict
from discreet.tabulation.argus_tab import read_tab
from discreet.tabulation.rda import read_rda

HIDDEN = ("U", "M")
"""The statuses of primary and secondary suppressions."""


def inspect_tab(
    path: str | Path, rda: str | Path | None = None, *, cells: bool = False, encoding: str = "utf-8"
) -> Inspection:
    """Say what a ``.tab`` file holds, which figures its statuses leave unpublished, and, if asked, those published."""
    file = Path(path)
    found = read_tab(file, rda, encoding=encoding)
    table = found.tabulation
    hidden = np.array([status.upper() in HIDDEN for status in found.status or ()], bool)
    columns = [Column(axis.name, False, len(axis), tuple(axis.codes[:SHOWN])) for axis in table.axes]
    columns += [Column(response.name, True, len(np.unique(response.sums)), ()) for response in table.responses]
    shown = None
    if cells:
        shown = figures_dict(Figures.of_tabulation(table, hidden=hidden if hidden.any() else None, name=file.name))
    return Inspection(file.name, "release" if hidden.any() else "tabulation", len(table), tuple(columns), cells=shown)


def companions(path: str | Path) -> list[Path]:
    """Return the files that a ``.tab`` file is read with: its metadata and the hierarchies that they name."""
    rda = Path(path).with_suffix(".rda")
    if not rda.is_file():
        return []
    metadata = read_rda(rda)
    named = [metadata.hierarchy_file(variable) for variable in metadata.variables]
    return [rda, *(file for file in named if file is not None and file.is_file())]
