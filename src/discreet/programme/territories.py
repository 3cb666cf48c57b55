"""Territories that a plan divides in two ways: the map, which readers know, beside the tables.

Where a union of zones of one division lies inside a union of the other, readers know the difference, though no table
shows it. They see it on the map, which says which zones overlap, and in which overlaps nobody lives. These zeros are
put beside the tables as if they were published, so that the check beside the ledger finds every such difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.programme.originals import ClusterCells, RecordsOfPlan
from discreet.programme.plan_model import Programme
from discreet.table.figures import Figures
from discreet.table.release import Release


def maps_of(plan: Programme, cells: Sequence[ClusterCells]) -> dict[str, list[Release]]:
    """Return, for every cluster that shows both divisions of a territory, in which overlaps of zones nobody is."""
    found: dict[str, list[Release]] = {one.cluster.name: [] for one in cells}
    for pair in plan.territories:
        shown = [one.cluster.name for one in cells if {*pair} <= {*one.cluster.dimensions}]
        if shown:
            empty = _empty_overlaps(plan, pair)
            for name in shown:
                found[name].append(empty)
    return found


def remedy(plan: Programme) -> str:
    """Say how zones are merged."""
    asked = " or ".join(f"--by {one},{other} --coarsen {other}" for one, other in plan.territories)
    return f"Readers know the map: find coarser zones (discreet geography RECORDS {asked}), and publish these"


def _empty_overlaps(plan: Programme, pair: tuple[str, str]) -> Release:
    whole = RecordsOfPlan.of(plan).overlaps(pair).with_empty_cells()
    figures = Figures.of_tabulation(whole, name=f"map of {pair[0]} and {pair[1]}")
    nobody = (figures.values == 0) & ~figures.hidden
    for axis in whole.axes:
        leaves = {leaf for tree in axis.hierarchies for leaf in tree.leaves}
        labels, code = figures.labels[axis.name], figures.codes[:, figures.names.index(axis.name)]
        nobody &= np.array([label in leaves for label in labels])[code]
    zeros = replace(
        figures,
        codes=figures.codes[nobody],
        values=figures.values[nobody],
        kind=figures.kind[nobody],
        absent="unpublished",
    )
    return Release(None, "none", {}, (zeros,))
