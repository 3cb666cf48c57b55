"""Turnover tables of the field, linked to each other and protected as one problem.

    python benchmarks/turnover.py FOLDER

The folder holds the data sets turnover_act_size, turnover_act_cj, turnover_nuts_size, turnover_nuts_cj and
turnover_act_nuts_size of the R package rtauargus, and its tables activity_corr_table and nuts23_fr_corr_table, each
exported as CSV; they are not part of this project.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from _tools import machine, table
from discreet.core.errors import DiscreetError
from discreet.protect import Suppression
from discreet.rules import Dominance, Threshold
from discreet.table.tabulation import Tabulation
from discreet.tabulation.argus_tab import read_tab
from suppression import _row

CIRCLE: dict[str, tuple[str, ...]] = {
    "act_size": ("ACTIVITY", "SIZE"),
    "act_cj": ("ACTIVITY", "CJ"),
    "nuts_size": ("NUTS", "SIZE"),
    "nuts_cj": ("NUTS", "CJ"),
}
EAST: dict[str, tuple[str, ...]] = {"act_nuts_size": ("ACTIVITY", "NUTS", "SIZE")}
TREES = {"ACTIVITY": "activity_corr_table", "NUTS": "nuts23_fr_corr_table"}
RULES = (Dominance(1, 85), Threshold(3, safety_range=10))


def read(folder: Path, name: str) -> list[dict[str, str]]:
    (path,) = folder.glob(f"*{name}.csv")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def convert(folder: Path, name: str, by: tuple[str, ...], made: Path, *, counts: bool) -> Tabulation:
    """Write a table as .tab with its .rda and .hrc, and read that; counts take the place of turnover if asked for."""
    rows = read(folder, f"turnover_{name}")
    about = ['   <SEPARATOR> ";"']
    for dimension in by:
        whole = "Total_EAST" if (name in EAST and dimension == "NUTS") else "Total"
        about += [f"{dimension} 12", " <RECODEABLE>", f' <TOTCODE> "{whole}"']
        if dimension in TREES:
            used = {row[dimension] for row in rows}
            codes = {code: depth for line in read(folder, TREES[dimension]) for depth, code in enumerate(line.values())}
            tree = [f"{'@' * depth}{code}" for code, depth in codes.items() if code in used]
            (made / f"{name}_{dimension}.hrc").write_text("\n".join(tree) + "\n")
            about += [" <HIERARCHICAL>", f' <HIERCODELIST> "{name}_{dimension}.hrc"', ' <HIERLEADSTRING> "@"']
    about += ["N_OBS", " <FREQUENCY>"]
    if not counts:
        about += ["TOT 20", " <NUMERIC>", " <DECIMALS> 4", "MAX", " <MAXSCORE>"]
    (made / f"{name}.rda").write_text("\n".join(about) + "\n")
    columns = [*by, "N_OBS", *(() if counts else ("TOT", "MAX"))]
    lines = [";".join(row[column] for column in columns) for row in rows]
    (made / f"{name}.tab").write_text("\n".join(lines) + "\n")
    return read_tab(made / f"{name}.tab").tabulation


def main(folder: Path) -> str:
    def tables(names: dict[str, tuple[str, ...]], *, counts: bool) -> list[Tabulation]:
        with TemporaryDirectory() as made:
            found = [convert(folder, name, by, Path(made), counts=counts) for name, by in names.items()]
        return [one.as_part(NUTS="Total_EAST") if len(one.names) == 3 else one for one in found]

    rows = []
    for insiders in ("none", "respondents"):
        method = Suppression(RULES, insiders=insiders)
        rows.append(_row("four tables, turnover", insiders, tables(CIRCLE, counts=False), method))
    small = Suppression(Threshold(4), levels=(1, 1))
    rows.append(_row("five tables, numbers of firms", "none", tables(CIRCLE | EAST, counts=True), small))
    try:
        Suppression(RULES).pattern(tables(CIRCLE | EAST, counts=False))
        said = "accepted"
    except DiscreetError as error:
        said = str(error)
    return "\n\n".join(
        [
            "## Turnover tables of rtauargus",
            machine("numpy", "numba", "highspy"),
            "Turnover is sensitive if the largest contributor has more than 85%, or if there are fewer than three. "
            "Numbers of firms from 1 to 3 are sensitive, and each keeps at least ±1.",
            table(["tables", "insiders", "cells", "primary", "secondary", "gap", "seconds", "audit", "GiB"], rows),
            f"All five by turnover: {said}",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1])) + "\n")
