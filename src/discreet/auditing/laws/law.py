"""The interface of laws, what they return, and the simplest one: all values of an interval equally likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.feasible.bounds import Bounds


@dataclass(frozen=True, eq=False)
class Judged:
    """Uncertainty about positions in bits, the error of each where it is an estimate, and how many tables fit.

    ``finished`` is false where time ran out or there are too many tables; the bits are then NaN. ``bound`` is true
    where the bits are a lower bound.
    """

    bits: FloatArray
    error: FloatArray
    tables: int | None = None
    note: str = ""
    finished: BoolArray | None = None
    bound: BoolArray | None = None


@dataclass(frozen=True)
class ReaderLaw:
    """The probability that a reader gives to each value of a hidden figure.

    Attributes:
        name: the law's name.
        text: what its figures mean, in a sentence.
        weigh: given bounds and the positions asked about, and by name the precision, seed, workers, progress and
            deadline of the work, returns the uncertainty about each position.
        even: whether all values of an interval are equally likely, whatever else is published.
    """

    name: str
    text: str
    weigh: Callable[..., Judged]
    even: bool = False


def by_interval(found: Bounds, targets: IntArray, **_: object) -> Judged:
    """Return log2 m(S), the bits of a value that is one of m equally likely; DR = 1/log2 m(S), domingo2002 (3)."""
    return Judged(np.log2(np.maximum(found.values[targets], 1.0)), np.zeros(targets.size))


def entropy(weights: FloatArray) -> float:
    """Return the entropy in bits of values with these weights, which need not sum to 1.

    >>> entropy(np.array([2.0, 2.0]))
    1.0
    """
    p = weights[weights > 0] / weights.sum()
    return float(max(-(p * np.log2(p)).sum(), 0.0))
