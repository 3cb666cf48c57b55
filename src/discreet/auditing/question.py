"""What an audit asks about: figures that are not published exactly, crossings that no table shows, and named sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet.auditing.limits import Reach
from discreet.core.numerics import IntArray
from discreet.rules.sensitivity import Sensitivity
from discreet.table.blocks import Asked
from discreet.table.equations import Equations, Layout, equations_of
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
    in_question: Asked,
    between: bool = True,
    layout: Layout | None = None,
) -> tuple[Equations, list[str], IntArray]:
    """State the equations; return them, the crossing that is asked about, and the positions of it and of the sums.

    Where nothing is hidden in any table, what lies between linked tables is asked about if ``between`` says so.
    """
    crossing = list(about)
    if between and not crossing and not sums and len(parts) > 1 and not any(_open(part) for part in parts):
        crossing = list(dict.fromkeys(name for part in parts for name in part.names))
    equations = equations_of(parts, about=crossing, least=least, most=most, asked=in_question, layout=layout)
    asked = np.zeros(0, np.int64)
    if crossing:
        inside = np.ones(equations.positions.size, bool)
        codes = equations.space.grid.decode(equations.positions)
        for axis, code in zip(equations.space.axes, codes, strict=True):
            inside &= np.isin(code, axis.leaves) if axis.name in crossing else code == 0
        asked = np.flatnonzero(inside)
    for name, cells in sums.items():
        equations = equations.with_sums([([equations.find(cell) for cell in cells], name)])
        asked = np.append(asked, equations.lower.size - 1)
    return equations, crossing, asked


def sums_of(
    parts: Iterable[Figures],
    cells: Iterable[Mapping[str, object]],
    sensitivity: Sensitivity | None,
) -> Asked:
    """Return the labels of cells in question, though no table may show them, by the dimensions that they cross."""
    tables = list(parts)
    known: dict[str, set[str]] = {}
    for part in tables:
        for name, shown in part.labels.items():
            known.setdefault(name, set()).update(shown)
            known[name].update(code for tree in part.hierarchies.get(name, ()) for code in tree.codes)
    found: dict[frozenset[str], dict[str, set[str]]] = {}
    for cell in cells:
        crossed = {name: str(label) for name, label in cell.items() if name in known and str(label) != WHOLE}
        labels = found.setdefault(frozenset(crossed), {})
        for name, label in crossed.items():
            labels.setdefault(name, set()).add(label)
    if sensitivity is not None and sensitivity.cells.size:
        tabulation = sensitivity.tabulation
        codes = {name: tabulation.codes(name)[sensitivity.cells] for name in tabulation.names if name in known}
        above = np.stack([code > 0 for code in codes.values()] or [np.zeros(sensitivity.cells.size, bool)])
        for pattern in np.unique(above, axis=1).T:
            rows = (above == pattern[:, None]).all(axis=0)
            crossing = [name for name, inside in zip(codes, pattern, strict=False) if inside]
            labels = found.setdefault(frozenset(crossing), {})
            for name in crossing:
                used = {tabulation.axis(name).codes[code] for code in np.unique(codes[name][rows]).tolist()}
                labels.setdefault(name, set()).update(used & known[name])
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
