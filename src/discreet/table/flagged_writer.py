"""Releases as CSV with a flag column, and as SDMX-CSV with ``OBS_STATUS`` and ``CONF_STATUS``.

Statistics and measures beside the figures are further measures, in columns behind ``OBS_VALUE``; in a file with flags
each such measure has flags of its own.

Both are the columns of a release in CSV (:mod:`discreet.table.release_writer`) in another form: figures that are not
shown are left empty, and a code beside them says why. SDMX-CSV 2.0 begins with ``STRUCTURE``; dimensions come before
``OBS_VALUE``, attributes after it. The codes are those of the cross-domain lists: ``OBS_STATUS`` is A (normal) or Q
(missing value, suppressed), ``CONF_STATUS`` F (free) or C (confidential). Primary suppressions are not marked as such:
that would tell readers more than the figures do.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.table.figures import Figures
from discreet.table.flagged_reader import ALL, BEGINS, BOUNDS, CONFIDENTIAL, FLAG, PERIOD, STATUS, VALUE
from discreet.table.hierarchy import TOTAL
from discreet.table.presentation import Presentation
from discreet.table.roles import ENDS, PUBLISHED_AS

NAMES = {
    VALUE: "Observation value",
    PERIOD: "Time period",
    STATUS: "Observation status",
    CONFIDENTIAL: "Confidentiality status",
}
WORDS = {"A": "Normal value", "Q": "Missing value; suppressed", "F": "Free", "C": "Confidential"}


def flagged(
    part: Figures, others: Sequence[Figures], data: dict[str, pa.Array], value: str, style: Presentation
) -> dict[str, pa.Array]:
    """Return the columns of a release in CSV with a flag beside every figure."""
    told = data.pop(PUBLISHED_AS)
    for name, one in [*((f"{one.measure}_{FLAG}", one) for one in others), (FLAG, part)]:
        if name in data:
            raise RequestError(f"a column is called {name!r} like the flags; rename it")
        symbols = np.array([style.symbol(kind) for kind in one.kinds], object)[one.kind]
        data[name] = pa.array(symbols.tolist(), pa.string())
    return {**data, PUBLISHED_AS: told}


def sdmx(
    part: Figures, others: Sequence[Figures], data: dict[str, pa.Array], value: str, style: Presentation
) -> dict[str, pa.Array]:
    """Return the columns of a release in CSV as those of SDMX-CSV.

    Labels that are not identifiers of SDMX are shown beside identifiers made from them, as ``A_B: a b``.
    """
    taken = {VALUE, PERIOD, STATUS, CONFIDENTIAL, *BOUNDS.values(), *BEGINS[0], *BEGINS[1]}
    hidden = part.where(lambda kind: kind.hidden or kind.spans)
    codes = {
        name: _identifiers([ALL if label == part.total else label for label in labels], r"[^A-Za-z0-9_@$-]")
        for name, labels in part.labels.items()
    }
    heads = _identifiers(part.names, r"[^A-Za-z0-9_]", first="[A-Za-z]", taken=taken)
    beside = [*(one.measure for one in others), *(column.name for column in part.statistics)]
    measures = _identifiers(beside, r"[^A-Za-z0-9_]", first="[A-Za-z]", taken=taken | set(heads))
    # Where identifiers alone do not say what the labels are, both are shown.
    read = {name: tuple(TOTAL if code == ALL else code for code in found) for name, found in codes.items()}
    both = (*heads, *measures, read) != (*part.names, *beside, dict(part.labels)) or part.total != TOTAL

    def shown(column: str, code: str) -> str:
        return f"{code}: {WORDS[code] if column in NAMES else code}" if both else code

    def head(column: str) -> str:
        return f"{column}: {NAMES.get(column, column)}" if both else column

    rows = len(part)
    fixed = dict(zip(BEGINS[0], ("dataflow", style.dataflow, "I"), strict=True))
    found = {name: pa.array([text] * rows, pa.string()) for name, text in fixed.items()}
    for name, identifier, column in zip(part.names, heads, part.codes.T, strict=True):
        labels = part.labels[name]
        texts = [f"{code}: {label}" if both else code for code, label in zip(codes[name], labels, strict=True)]
        found[f"{identifier}: {name}" if both else identifier] = pa.array(np.array(texts, object)[column], pa.string())
    found[head(VALUE)] = data[value]
    for name, identifier in zip(beside, measures, strict=True):
        found[f"{identifier}: {name}" if both else identifier] = data[name]
    if style.period:
        found[head(PERIOD)] = pa.array([style.period] * rows, pa.string())
    for column, yes, no in ((STATUS, "Q", "A"), (CONFIDENTIAL, "C", "F")):
        texts = [shown(column, yes if one else no) for one in hidden.tolist()]
        found[head(column)] = pa.array(texts, pa.string())
    return found | {head(BOUNDS[name]): data[name] for name in (*ENDS, PUBLISHED_AS) if name in data}


def _identifiers(texts: Sequence[str], strange: str, first: str = "", taken: Container[str] = ()) -> list[str]:
    """Return different identifiers made from texts."""
    found: list[str] = []
    for text in texts:
        begin = re.sub(strange, "_", text) or "_"
        begin = begin if not first or re.match(first, begin) else f"D{begin}"
        code, number = begin, 1
        while code in found or code in taken:
            number += 1
            code = f"{begin}_{number}"
        found.append(code)
    return found
