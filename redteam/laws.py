"""The laws of the methods, stated anew: which counts can be behind a figure, and how likely a release is.

Every original is as likely as any other beforehand; what weighs it is how likely its release is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count, pairwise, permutations
from math import comb, factorial, prod
from typing import Any

import numpy as np

from redteam.enumeration import Limit, Weight
from redteam.published import Figure, Published
from redteam.worlds import Cells, Counts

GRID = 2048
"""Into how many pieces the circle of cell keys is cut."""


def rounded(count: int, base: int) -> int:
    """Return the nearest multiple of a base, the upper one of two that are as near."""
    return (count + base // 2) // base * base


def limit_of(figure: Figure, hides_up_to: int | None = None) -> Limit:
    """Return what a figure says of the sum behind it to somebody who knows how it was made.

    Args:
        figure: what is printed.
        hides_up_to: counts from 1 to this are hidden everywhere; a printed figure is none of them.
    """
    y, name, cells = figure.value, figure.name, figure.cells
    hides = int(figure.said("hides", 0)) if hides_up_to is None else hides_up_to
    base, bound = int(figure.said("base", 0)), int(figure.said("bound", 0))
    if name == "suppressed":
        return Limit(cells, max(int(figure.said("least") or 0), 0), figure.said("most"))
    if name in ("simulated", "added") or y is None:
        return Limit(cells)
    if name == "exact":
        return Limit(cells, y, y)
    if name == "interval":
        return Limit(cells, y, figure.upper)
    if name == "conventional":
        least = max(y - base // 2, 0)
        return Limit(cells, least, y + (base - 1) // 2, lambda x: x == 0 or x > hides)
    if name in ("random", "controlled"):
        return Limit(cells, max(y - base + 1, 0), y + base - 1)
    if name == "small":
        return Limit(cells, 0, base - 1) if y == 0 else Limit(cells, 1 if y == base else y, y)
    if name == "perturbed" and figure.said("law"):
        chance = noise(figure)
        return Limit(cells, max(y - bound, 0), y + bound, lambda x: chance(x) > 0)
    if name in ("perturbed", "swapped"):
        least, most = int(figure.said("least") or 0), figure.said("most")
        return Limit(cells, max(y - bound, least), y + bound if most is None else min(y + bound, most))
    if name == "relative":
        share = float(figure.said("fraction"))
        top = int((y + 0.5) / (1 - share)) + 1
        return Limit(cells, 0, top, lambda x: abs(x - y) <= share * x + 0.5 + 1e-9)
    if name == "sample":
        share, people = float(figure.said("fraction", 0)), int(figure.said("size", 0))
        if share == 1:
            return Limit(cells, y, y)
        missed = people - round(share * people) if people else figure.said("missed")
        return Limit(cells, y, None if missed is None else y + int(missed))
    if name == "chain":
        return _chained(figure)
    raise ValueError(f"no law is stated for figures of the kind {name!r}")


def _chained(figure: Figure) -> Limit:
    """Return what steps say one after the other: of the figure the last, of what was before it the one before."""
    least, most = figure.value, figure.value
    for kind in reversed(figure.said("kinds")):
        below, above = (None if end is None else limit_of(Figure(figure.cells, kind, end)) for end in (least, most))
        least = 0 if below is None else next(x for x in count(below.low) if below.holds(x))
        if above is None or above.high is None:
            most = None
        else:
            most = next(x for x in range(above.high, -1, -1) if above.holds(x))
    return Limit(figure.cells, least or 0, most)


def noise(figure: Figure) -> Callable[[int], float]:
    """Return the probability of the figure's noise for each true count."""
    rows = [dict(row) for row in figure.said("law")]
    assert figure.value is not None
    y = figure.value
    return lambda x: rows[min(x, len(rows) - 1)].get(y - x, 0.0)


def chance_of(figure: Figure, hides_up_to: int | None = None) -> Callable[[int], Weight]:
    """Return how likely a method that treats every figure by itself prints this one, for each true count."""
    limit, y, base = limit_of(figure, hides_up_to), figure.value, int(figure.said("base", 0))
    if figure.name == "random":
        assert y is not None
        # 1 − |x − y|/b, times b.
        return lambda x: max(base - abs(x - y), 0)
    if figure.name == "perturbed" and figure.said("law"):
        return noise(figure)
    if figure.name == "sample" and figure.said("fraction", 0) and not figure.said("size", 0):
        share = float(figure.said("fraction"))
        return lambda x: comb(x, y or 0) * share ** (y or 0) * (1 - share) ** (x - (y or 0)) if x >= (y or 0) else 0
    return lambda x: 1 if limit.holds(x) else 0


def by_figure(known: Published, hides_up_to: int | None = None) -> Callable[[Cells], Callable[[Counts], Weight]]:
    """Return the weight of counts where every figure is made by itself: the product over all figures."""

    def of_part(part: Cells) -> Callable[[Counts], Weight]:
        at = {cell: i for i, cell in enumerate(part)}
        mine = [
            (chance_of(figure, hides_up_to), [at[cell] for cell in figure.cells])
            for figure in known.figures
            if set(figure.cells) <= set(part) and figure.name not in ("exact", "suppressed", "simulated", "added")
        ]
        return lambda counts: prod(chance(sum(counts[i] for i in places)) for chance, places in mine)

    return of_part


def hypergeometric(known: Published) -> Callable[[Counts], Weight]:
    """Return how likely a simple random sample shows these counts: Π C(x, y)/C(N, n)."""
    shown = {figure.cells[0]: figure.value or 0 for figure in known.figures if len(figure.cells) == 1}
    n = sum(shown.values())

    def weight(counts: Counts) -> Weight:
        ways = prod(comb(x, shown.get(cell, 0)) for cell, x in enumerate(counts))
        return ways / comb(sum(counts), n)

    return weight


# --- semi-controlled rounding --------------------------------------------------------------------------------


def semi_controlled(known: Published, base: int, levels: Sequence[Sequence[Cells]]) -> Callable[[Counts], Weight]:
    """Return how likely semi-controlled rounding prints what it did.

    Args:
        known: what is printed.
        base: the base.
        levels: the sums that add up, from the total down to the cells; each is a part of one in the level before.
    """
    shown = {figure.cells: figure.value or 0 for figure in known.figures}
    nested = {cells for level in levels for cells in level}
    alone = [cells for cells in shown if cells not in nested or cells in levels[0]]

    def weight(counts: Counts) -> Weight:
        chance = 1.0
        for cells in alone:
            x = sum(counts[c] for c in cells)
            chance *= max(base - abs(x - shown[cells]), 0) / base
            if not chance:
                return 0.0
        for above, level in pairwise(levels):
            for whole in above:
                parts = [cells for cells in level if set(cells) <= set(whole)]
                if parts == [whole]:
                    continue
                true = tuple(sum(counts[c] for c in cells) for cells in parts)
                chance *= selected(true, tuple(shown[cells] for cells in parts), shown[whole], base)
                if not chance:
                    return 0.0
        return chance

    return weight


@lru_cache(maxsize=200_000)
def selected(true: Counts, shown: Counts, whole: int, base: int) -> float:
    """Return how likely systematic selection in random order rounds parts to what is shown, given their total."""
    if any(abs(x - y) >= base for x, y in zip(true, shown, strict=True)) or sum(shown) != whole:
        return 0.0
    total = sum(true)
    places = [u for u in range(base) if base * ((total + u) // base) == whole]
    if not places:
        return 0.0
    moving = [(x % base, y - x + x % base) for x, y in zip(true, shown, strict=True) if x % base]
    if any(x % base == 0 and y != x for x, y in zip(true, shown, strict=True)):
        return 0.0
    hits = 0
    for order in permutations(moving):
        for start in places:
            running, fits = start, True
            for residual, up in order:
                fits &= base * ((running + residual) // base - running // base) == up
                running += residual
            hits += fits
    return hits / (factorial(len(moving)) * len(places))


# --- unbiased controlled rounding of one dimension -----------------------------------------------------------


def lottery(known: Published, base: int, size: int) -> Callable[[Counts], Weight]:
    """Return how likely unbiased controlled rounding prints the cells of one dimension with their total.

    In random order, the first two figures that are not multiples of the base move until one of them is: two cells
    against each other, a cell and the total together, either way as often as leaves both without bias.
    """
    figures = {figure.cells: figure.value or 0 for figure in known.figures}

    def weight(counts: Counts) -> Weight:
        moving = []
        for cells, y in figures.items():
            x = sum(counts[c] for c in cells)
            rest = x % base
            if y not in ((x - rest, x - rest + base) if rest else (x,)):
                return 0.0
            if rest:
                moving.append((rest, y > x, 1 if len(cells) < size else -1))
        return _lot(tuple(sorted(moving)), base)

    return weight


@lru_cache(maxsize=200_000)
def _lot(moving: tuple[tuple[int, bool, int], ...], base: int) -> float:
    """Return how likely figures go up or down as they did, over all orders; each has its rest, way and side."""
    orders = list(permutations(moving))
    return sum(_settled(order, base) for order in orders) / len(orders)


@lru_cache(maxsize=200_000)
def _settled(order: tuple[tuple[int, bool, int], ...], base: int) -> float:
    """Return how likely figures go their ways, the first two moving until one is settled."""
    if any(rest == (0 if up else base) for rest, up, _ in order):
        return 0.0
    left = tuple(one for one in order if 0 < one[0] < base)
    if len(left) < 2:
        return 1.0
    (a, up_a, side_a), (b, up_b, side_b) = left[:2]
    same = side_a != side_b
    more = min(base - a, base - b if same else b)
    less = min(a, b if same else base - b)
    found = 0.0
    for by, chance in ((more, less / (more + less)), (-less, more / (more + less))):
        moved = ((a + by, up_a, side_a), (b + (by if same else -by), up_b, side_b))
        found += chance * _settled((*moved, *left[2:]), base)
    return found


# --- cell keys with their sum --------------------------------------------------------------------------------


def keyed_total(known: Published, size: int) -> Callable[[Counts], Weight]:
    """Return how likely cell keys print the cells of one dimension with their total, whose key is the sum of theirs."""
    single = {figure.cells[0]: figure for figure in known.figures if len(figure.cells) == 1 and size > 1}
    total = next(figure for figure in known.figures if len(figure.cells) == size)

    def weight(counts: Counts) -> Weight:
        filled = [cell for cell in range(size) if counts[cell]]
        for cell in range(size):
            if not counts[cell] and cell in single and single[cell].value:
                return 0.0
        arcs = [_arc(single[cell].said("law"), counts[cell], _value(single[cell])) for cell in filled]
        last = _arc(total.said("law"), sum(counts), _value(total))
        if last is None or any(arc is None for arc in arcs):
            return 0.0
        return _sum_falls(tuple(sorted(arc for arc in arcs if arc is not None)), last)

    return weight


def _value(figure: Figure) -> int:
    assert figure.value is not None
    return figure.value


@lru_cache(maxsize=200_000)
def _arc(law: Any, count: int, value: int) -> tuple[float, float] | None:
    """Return the keys, from 0 to 1, that take a count to a value."""
    below = 0.0
    for moved, chance in law[min(count, len(law) - 1)]:
        if count + moved == value:
            return below, below + chance
        below += chance
    return None


@lru_cache(maxsize=200_000)
def _sum_falls(arcs: tuple[tuple[float, float], ...], last: tuple[float, float]) -> float:
    """Return how likely even random keys fall into their arcs, and their sum round the circle into another."""
    if len(arcs) == 1:
        # One cell alone has the key of its total.
        (a, b), (c, d) = arcs[0], last
        return max(min(b, d) - max(a, c), 0.0)
    spectrum = np.ones(GRID // 2 + 1, complex)
    for arc in arcs:
        spectrum = spectrum * np.fft.rfft(_covered(arc))
    density = np.fft.irfft(spectrum, GRID)
    # Every key stands half a piece above the start of its piece.
    shift = (len(arcs) - 1) / 2
    at = _covered(((last[0] - shift / GRID) % 1.0, (last[0] - shift / GRID) % 1.0 + last[1] - last[0])) * GRID
    return float(max((density * at).sum(), 0.0))


def _covered(arc: tuple[float, float]) -> Any:
    """Return how much of each piece of the circle an arc covers."""
    ends = np.arange(GRID + 1) / GRID
    found = np.zeros(GRID)
    for turn in (0.0, 1.0):
        low, high = np.maximum(ends[:-1], arc[0] - turn), np.minimum(ends[1:], arc[1] - turn)
        found += np.maximum(high - low, 0.0)
    return found
