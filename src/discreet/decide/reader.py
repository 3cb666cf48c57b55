"""What a reader who knows the method learns from one figure: the true values behind it, each as likely as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.core.numerics import FloatArray
from discreet.table.kinds import Kind

WORK = 1 << 24
"""How much one figure may take: values that are weighed, times the published count where it was swapped."""
TAIL = 1e-15
"""The share of the likelihood at which a law is cut on either side."""


def bits_of_figure(kind: Kind, published: int, lower: float, upper: float, people: int = 0) -> float:
    """Return the entropy H of the true value behind a published figure y, in bits.

    p(x | y) ∝ p(y | x) for all x of the feasible interval, with p(y | x) of the figure's
    :class:`~discreet.table.kinds.Kind`. An interval says how much is possible, and this how much is likely: a sample of
    95% leaves many counts possible, and hardly any but the published one likely. Infinite where the kind does not weigh
    values, so that the interval alone is judged.

    Where it is not said which share of the ``people`` was swapped, it is taken to be that of ``bound`` pairs: a cell
    that at most B units can enter or leave is one of a table in which B pairs or more change places.

    >>> round(1 / bits_of_figure(Kind("random", base=3), 0, 0, 2), 3)
    0.685
    >>> round(1 / bits_of_figure(Kind("sample", fraction=0.95), 1, 1, np.inf), 2)
    2.0
    """
    if kind.name == "swapped" and not kind.fraction and kind.bound and people:
        kind = replace(kind, fraction=min(2 * kind.bound / people, 1.0))
    if not kind.weighs:
        return np.inf
    least, most = kind.range(np.array([published]))
    low, high = max(int(np.ceil(lower)), int(least[0])), int(min(upper, int(most[0])))
    if low > high:
        return np.inf
    centre = min(max(published, low), high)
    cost = published + 1 if kind.name == "swapped" else 1
    half = max(8, min(64, WORK // (2 * cost)))
    while True:
        start, end = max(centre - half, low), min(centre + half, high)
        weights = kind.likelihood(published, np.arange(start, end + 1))
        bits, cut = _entropy(weights), TAIL * weights.sum()
        whole = (start == low or weights[0] <= cut) and (end == high or weights[-1] <= cut) and bits < np.inf
        # A law too wide to be worked out is cut short: it then seems to leave less open than it does, never more.
        if whole or (start == low and end == high) or 8 * half * cost > WORK:
            return bits
        half *= 4


def _entropy(weights: FloatArray) -> float:
    whole = weights.sum()
    if not whole > 0:
        return np.inf
    p = weights / whole
    p = p[p > 0]
    return max(float(-(p * np.log2(p)).sum()), 0.0)
