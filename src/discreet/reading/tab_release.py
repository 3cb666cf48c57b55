"""Protected tables of τ-ARGUS to releases: what its statuses hide is hidden, and does not enter the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError
from discreet.table.figures import Figures, units_of
from discreet.table.kinds import Marked
from discreet.table.release import Release
from discreet.tabulation.argus_tab import HIDDEN, read_tab


def read_tab_release(
    path: str | Path,
    rda: str | Path | None = None,
    *,
    value: str | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "utf-8",
) -> Release:
    """Read what a ``.tab`` file publishes: its figures without those whose status is U or M.

    Args:
        path: the ``.tab`` file, which holds the suppressed values too; none of them is kept.
        rda: its metadata; by default the ``.rda`` file of the same name.
        value: the response that is published; by default the first, or the frequencies where there is none.
        parts: for a dimension, totals that are of some categories only, where the table has one of them.
        encoding: the encoding of both files.
    """
    found = read_tab(path, rda, encoding=encoding)
    if found.status is None:
        raise DataError(f"{path} has no column of statuses, so that nothing says what is hidden; mark it <STATUS>")
    hidden = np.array([status.upper() in HIDDEN for status in found.status], bool)
    table = found.tabulation.as_part(found.tabulation.totals_among(parts or {}))
    units = units_of(table, value)[0]
    # Readers know that what is hidden is above 0, unless zeros are hidden as well.
    mark = Marked(least=int((units[hidden] > 0).all()))
    return Release.of(Figures.of_tabulation(table, response=value, hidden=hidden, mark=mark, name=Path(path).name))
