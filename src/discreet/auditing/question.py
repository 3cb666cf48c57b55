"""What an audit asks about: figures that are not published exactly, crossings that no table shows, and named sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet.auditing.limits import Reach
from discreet.core.numerics import IntArray
from discreet.rules.sensitivity import Sensitivity
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.space import WHOLE


def unpublished(about: Sequence[str] | Mapping[str, Sequence[object]], parts: Iterable[Figures]) -> list[Figures]:
    """Return dimensions that nothing is published about as tables without a figure."""
    if not isinstance(about, Mapping):
        return []
    shown = {name for part in parts for name in part.names}
    none = np.zeros(0, np.int64)
    return [
        Figures({name: tuple(map(str, labels))}, none.reshape(0, 1), none, none, name=name, absent="unpublished")
        for name, labels in about.items()
        if name not in shown
    ]


def ask(
    parts: tuple[Figures, ...],
    about: Iterable[str],
    sums: Mapping[str, Sequence[Mapping[str, object]]],
    least: float,
    most: float | None,
    nodes: Mapping[str, Iterable[str]],
) -> tuple[Equations, list[str], IntArray]:
    """State the equations; return them, the crossing that is asked about, and the positions of it and of the sums."""
    crossing = list(about)
    if not crossing and not sums and len(parts) > 1 and not any(_open(part) for part in parts):
        # Nothing is hidden in any table: what can be asked is what lies between them.
        crossing = list(dict.fromkeys(name for part in parts for name in part.names))
    equations = equations_of(parts, about=crossing, least=least, most=most, nodes=nodes)
    asked = np.zeros(0, np.int64)
    if crossing:
        inside = np.ones(equations.positions.size, bool)
        for axis, stride in zip(equations.space.axes, equations.space.strides, strict=True):
            code = equations.positions // stride % len(axis.nodes)
            inside &= np.isin(code, axis.leaves) if axis.name in crossing else code == 0
        asked = np.flatnonzero(inside)
    for name, cells in sums.items():
        equations = equations.with_sum([equations.find(cell) for cell in cells], name)
        asked = np.append(asked, equations.lower.size - 1)
    return equations, crossing, asked


def nodes_of(
    parts: Iterable[Figures],
    cells: Iterable[Mapping[str, object]],
    sensitivity: Sensitivity | None,
) -> dict[str, set[str]]:
    """Return the labels along every dimension that cells in question have, though no table may show them."""
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    found: dict[str, set[str]] = {name: set() for name in names}
    for cell in cells:
        for name in names:
            found[name].add(str(cell.get(name, WHOLE)))
    if sensitivity is not None and sensitivity.cells.size:
        tabulation = sensitivity.tabulation
        for name in names:
            if name not in tabulation.names:
                found[name].add(WHOLE)
                continue
            known = {label for part in parts for label in part.labels.get(name, ())}
            known |= {code for part in parts for tree in part.hierarchies.get(name, ()) for code in tree.codes}
            used = np.unique(tabulation.codes(name)[sensitivity.cells]).tolist()
            labels = (WHOLE if code == 0 else tabulation.axis(name).codes[code] for code in used)
            found[name] |= {label for label in labels if label == WHOLE or label in known}
    return found


def _open(part: Figures) -> bool:
    lower, upper = part.ranges()
    return bool((lower != upper).any())


def targets_of(equations: Equations, asked: IntArray, reach: Reach) -> IntArray:
    """Return the positions to judge: hidden or not exact ones, those asked about, and sensitive ones."""
    shown = equations.source >= 0
    chosen = equations.hidden | (shown & ~equations.exact)
    if asked.size:
        wanted = np.zeros(equations.lower.size, bool)
        wanted[asked] = True
        chosen = chosen | (wanted & ~(shown & equations.exact))
        chosen &= ~(wanted & (equations.lower == 0) & (equations.upper == 0) & ~equations.hidden)
    if reach.sensitive is not None:
        chosen = chosen | reach.sensitive
    return np.flatnonzero(chosen)
