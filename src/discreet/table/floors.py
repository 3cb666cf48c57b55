"""What somebody knows a figure to be at least, before anything is published about it."""

from __future__ import annotations

import numpy as np

from discreet.core.numerics import BoolArray, IntArray
from discreet.core.sparse import Rows, row_of
from discreet.table.equations import Equations
from discreet.table.grid import locate


def at_least(
    equations: Equations,
    floor: IntArray,
    who: IntArray,
    at: IntArray,
    low: IntArray,
    zero: BoolArray | None = None,
    among: BoolArray | None = None,
) -> IntArray:
    """Return attackers' lower bounds on positions, from what each knows on their own and everybody's ``floor``.

    A sum holds what they know of its parts, and what everybody knows of its other parts: a contributor of 90 to a row
    of ten cells knows that the row is at least 99 where no hidden cell is 0. A part is as large as the sum if all
    others are ``zero``. Sums that are not ``among`` the positions of interest are published, and nobody knows more of
    them.
    """
    if not at.size or equations.starts.size < 2 or floor.max() <= 0 or floor.min() < 0:
        return low
    first, size = equations.starts[:-1], floor.size
    equation = row_of(equations.starts)
    whole, part = equations.columns[first], np.ones(equations.columns.size, bool)
    part[first] = False
    common = np.add.reduceat(np.where(part, floor[equations.columns], 0), first) - floor[whole]
    above, inside = equation[part], equations.columns[part]
    if zero is not None:
        counts = part & ~zero[equations.columns]
        only = np.flatnonzero(counts & (np.add.reduceat(counts.astype(np.int64), first)[equation] == 1))
        same = equations.columns[only]
        above, inside = np.r_[above, first.size + np.arange(only.size)], np.r_[inside, whole[equation[only]]]
        common = np.r_[common, floor[whole[equation[only]]] - floor[same]]
        whole = np.r_[whole, same]
    if among is not None:
        kept = among[whole]
        inside, above = inside[kept[above]], (np.cumsum(kept) - 1)[above[kept[above]]]
        whole, common = whole[kept], common[kept]
    parts = Rows.gathered(inside, above, np.ones(above.size, np.int64), (size, whole.size))
    # How much more than everybody each attacker knows, by attacker and cell.
    asked, many = who * size + at, int(who.max()) + 1
    key, more = _largest(asked, low - floor[at])
    done = [(key[:0], more[:0])]
    while key.size:
        table = Rows.gathered(key // size, key % size, more, (many, size))
        sums = table.times(parts, whole.size)
        found = np.concatenate([key, sums.of * size + whole[sums.columns]])
        before = key, more
        key, more = _largest(found, np.concatenate([more, sums.values + common[sums.columns]]))
        # What one attacker knows does not depend on others: those who have learnt nothing new are done.
        place, learning = locate(before[0], key), np.zeros(many, bool)
        learning[key[(place < 0) | (before[1][place] != more)] // size] = True
        still = learning[key // size]
        done.append((key[~still], more[~still]))
        key, more = key[still], more[still]
    key, more = (np.concatenate(column) for column in zip(*done, strict=True))
    if not key.size:
        return np.maximum(low, floor[at])
    order = np.argsort(key)
    place = locate(key[order], asked)
    return np.where(place >= 0, floor[at] + more[order][place], np.maximum(low, floor[at]))


def _largest(key: IntArray, amount: IntArray) -> tuple[IntArray, IntArray]:
    """Return each key once, in order, with the largest amount of it; those of 0 or less are left out."""
    key, amount = key[amount > 0], amount[amount > 0]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return key[first], np.maximum.reduceat(amount[order], first) if first.size else amount
