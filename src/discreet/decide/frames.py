"""Releases as frames, for notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.table.arrow_files import frame_from_arrow
from discreet.table.figures import Figures
from discreet.table.release import Release

BACKENDS = ("pandas", "polars", "pyarrow")


def frame_of_release(release: Release, backend: str) -> Any:
    """Return what is published, a row per figure; hidden figures are missing values.

    Several linked tables become one frame, in which a dimension that a table does not have stands at its total.

    >>> from discreet.table import Table
    >>> frame_of_release(Release(Table.from_array([3, 0], ["month"])), "pandas")["count"].tolist()
    [3, 0]
    """
    if backend not in BACKENDS:
        raise RequestError(f"there are no frames of {backend!r}; name one of {', '.join(BACKENDS)}")
    parts = release.parts()
    if not release.figures and release.inner is not None:
        parts = (Figures.of_table(release.inner, release.kind, zeros=True),)
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    decimals = max(part.decimals for part in parts)
    columns: dict[str, Any] = {name: [] for name in names}
    figures, hidden = [], []
    for part in parts:
        for name in names:
            if name in part.names:
                labels = np.array(part.labels[name], dtype=object)
                columns[name].append(labels[part.codes[:, part.names.index(name)]])
            else:
                columns[name].append(np.full(len(part), part.total, dtype=object))
        figures.append(part.values / 10**part.decimals if decimals else part.values)
        hidden.append(part.hidden)
    data = {name: pa.array(np.concatenate(found).tolist(), pa.string()) for name, found in columns.items()}
    data["count" if not decimals else "value"] = pa.array(np.concatenate(figures), mask=np.concatenate(hidden))
    return frame_from_arrow(pa.table(data), backend)  # type: ignore[arg-type]
