"""What an audit asks about: figures that are not published exactly, crossings that no table shows, and named sums.

And what each published table leaves open on its own: the difference is what linking gives away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.auditing.limits import Reach
from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.feasible.bounds import Bounds
from discreet.rules.sensitivity import Sensitivity
from discreet.table.blocks import Asked
from discreet.table.equations import Equations, Layout, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.space import WHOLE

MOST = 300_000
"""The most positions of a crossing that is bounded once for every table on its own: a round choice that keeps this
short compared with the audit itself."""


def unpublished(about: Sequence[str] | Mapping[str, Sequence[object]], parts: Iterable[Figures]) -> list[Figures]:
    """Return dimensions about which nothing is published, as tables without figures."""
    wanted = about if isinstance(about, Mapping) else dict.fromkeys(about, ())
    shown = _labels(parts)
    for name, labels in wanted.items():
        if name not in shown and not labels:
            raise RequestError(
                f"what is published has no dimension {name!r}; {nearest(name, list(shown))}; to ask about one that no "
                f"table shows, list its categories (about={{...}}, --about {name}=a+b)"
            )
        strange = next((str(one) for one in labels if name in shown and str(one) not in shown[name]), None)
        if strange is not None:
            raise RequestError(
                f"dimension {name!r} has no category {strange!r}; {nearest(strange, sorted(shown[name]))}"
            )
    none = np.zeros(0, np.int64)
    return [
        Figures({name: tuple(map(str, labels))}, none.reshape(0, 1), none, none, name=name, absent="unpublished")
        for name, labels in wanted.items()
        if name not in shown
    ]


def _labels(parts: Iterable[Figures]) -> dict[str, set[str]]:
    """Return the labels that tables or their hierarchies have, by dimension."""
    found: dict[str, set[str]] = {}
    for part in parts:
        for name, labels in part.labels.items():
            found.setdefault(name, set()).update(labels, *(tree.codes for tree in part.hierarchies.get(name, ())))
    return found


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
    """State the equations; return them, the crossing in question, and the positions of its cells and of the sums.

    Where no table hides anything, the crossing of linked tables is asked about if ``between`` is true.
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
    """Return the labels of the cells in question, shown by a table or not, by the dimensions that they cross."""
    known = _labels(parts)
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
    """Return the positions to judge: hidden or inexact ones, those asked about, and sensitive ones."""
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


def alone(
    parts: tuple[Figures, ...],
    equations: Equations,
    crossing: list[str],
    asked: IntArray,
    bound: Callable[[Equations, IntArray], Bounds],
    least: float,
    most: float | None,
) -> FloatArray:
    """Return the narrowest interval that a single table leaves for every position, in units, or else NaN.

    A figure that a table hides or blurs is bounded in that table; a crossing in question, in every table with the
    figures of all others removed.
    """
    ends = np.full((2, equations.lower.size), np.nan)

    def note(at: IntArray, found: Bounds, where: IntArray, scale: int) -> None:
        low, high = found.lower[where].astype(np.float64), found.upper[where].astype(np.float64)
        low = np.where(low <= -UNBOUNDED, -np.inf, low * scale)
        high = np.where(high >= UNBOUNDED, np.inf, high * scale)
        before = ends[1, at] - ends[0, at]
        new = np.isnan(before) | (high - low < before)
        ends[:, at[new]] = low[new], high[new]

    for part in parts:
        if not len(part):
            continue
        single = equations_of(part, least=least, most=most, asked={})
        low, high = part.ranges()
        rows = np.flatnonzero(low != high)
        where = single.rows_of(part)[rows]
        note(equations.rows_of(part)[rows], bound(single, where), where, 10 ** (equations.decimals - part.decimals))
    crossed, none = asked[asked < equations.positions.size], np.zeros(0, np.int64)
    if crossing and crossed.size and equations.positions.size <= MOST:
        for part in parts:
            if len(part):
                # The others keep their dimensions, and have no figures.
                bare = [
                    replace(other, codes=other.codes[:0], values=none, kind=none, upper=None, absent="unpublished")
                    for other in parts
                    if other is not part
                ]
                single = equations_of([part, *bare], about=crossing, least=least, most=most, asked={})
                where = single.locate(equations.space.translate(equations.positions[crossed], single.space))
                note(crossed[where >= 0], bound(single, where[where >= 0]), where[where >= 0],
                     10 ** (equations.decimals - single.decimals))  # fmt: skip
    return ends
