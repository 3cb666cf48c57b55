"""Protected tables of τ-ARGUS to releases: what its statuses hide is hidden, and does not enter the release."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import FloatArray
from discreet.table.figures import Figures
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation
from discreet.tabulation.argus_tab import read_tab

HIDDEN = ("U", "M")
"""The statuses of primary and secondary suppressions."""


def read_tab_release(
    path: str | Path, rda: str | Path | None = None, *, value: str | None = None, encoding: str = "utf-8"
) -> Release:
    """Read what a ``.tab`` file publishes: its figures without those whose status is U or M.

    Args:
        path: the ``.tab`` file, which holds the suppressed values too; none of them is kept.
        rda: its metadata; by default the ``.rda`` file of the same name.
        value: the response that is published; by default the first, or the frequencies where there is none.
        encoding: the encoding of both files.
    """
    found = read_tab(path, rda, encoding=encoding)
    if found.status is None:
        raise DataError(f"{path} has no column of statuses, so that nothing says what is hidden; mark it <STATUS>")
    hidden = np.array([status.upper() in HIDDEN for status in found.status], bool)
    return Release.of(published_part(found.tabulation, hidden, value=value, name=Path(path).name))


def published_part(tabulation: Tabulation, hidden: np.ndarray, *, value: str | None = None, name: str) -> Figures:
    """Return the figures of a tabulation that are not hidden, with its hierarchies."""
    sums: FloatArray = (
        tabulation.responses[tabulation.response(value)].sums
        if tabulation.responses
        else tabulation.records.astype(np.float64)
    )
    decimals = next((d for d in range(7) if np.allclose(sums, np.round(sums, d), rtol=0, atol=1e-9)), 6)
    units = np.rint(sums * 10**decimals).astype(np.int64)
    return Figures(
        {axis.name: axis.codes for axis in tabulation.axes},
        np.stack([tabulation.codes(axis.name) for axis in tabulation.axes], axis=1),
        np.where(hidden, 0, units),
        hidden.astype(np.int64),
        name=name,
        decimals=decimals,
        total=tabulation.axes[0].codes[0],
        hierarchies={axis.name: axis.hierarchies for axis in tabulation.axes},
    )
