"""What every law returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray


@dataclass(frozen=True, eq=False)
class Judged:
    """Uncertainty about positions in bits, the error of each where it is an estimate, and how many tables fit.

    ``finished`` is false where time ran out or the tables are too many, and the bits are not known (NaN). ``bound`` is
    true where at least so many bits are left, and perhaps more.
    """

    bits: FloatArray
    error: FloatArray
    tables: int | None = None
    note: str = ""
    finished: npt.NDArray[np.bool_] | None = None
    bound: npt.NDArray[np.bool_] | None = None


def entropy(weights: FloatArray) -> float:
    """Return the entropy in bits of values with these weights, which need not sum to 1.

    >>> entropy(np.array([2.0, 2.0]))
    1.0
    """
    p = weights[weights > 0] / weights.sum()
    return float(max(-(p * np.log2(p)).sum(), 0.0))
