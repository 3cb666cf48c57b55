"""A first guess for cells that no table shows: as even as the sums that are known allow.

Any values that fit would do to show that a pattern is safe, but cells of the value 0 cannot go down, and a circuit that
has to avoid them is long and dear. Cells with something in them leave room to either side.
"""

from __future__ import annotations

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.table.equations import Equations

SWEEPS = 150
"""How often all sums are gone through; what is off then is put right by whoever fits values to the sums."""
TIE = 1e-6
"""What lies so near to a half is rounded down, so that it is the same number on any machine."""


def spread(equations: Equations) -> IntArray | None:
    """Return a value for every position that is near to what its sums ask for; None where that is of no use.

    Iterative proportional fitting of all sums at once: in each sweep, every open position is multiplied by the
    geometric mean of the factors that its sums ask for. Values that can be negative have no proportions.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    >>> stated = equations_of(Figures.from_array([[None, None, 30], [None, None, 60], [30, 60, 90]], both))
    >>> spread(stated)[stated.hidden].tolist()
    [10, 20, 20, 40]
    """
    known = equations.exact
    if known.all() or (equations.lower < 0).any():
        return None
    heads = equations.starts[:-1]
    below = np.ones(equations.columns.size, bool)
    below[heads] = False
    sums, parts = equations.columns[heads], equations.columns[below]
    row = np.repeat(np.arange(heads.size), np.diff(equations.starts) - 1)
    times = np.bincount(equations.columns, minlength=known.size)
    open_ = ~known & (times > 0)
    x = np.where(open_, np.maximum(equations.lower, 1), equations.lower).astype(np.float64)
    for _ in range(SWEEPS):
        inside: FloatArray = np.bincount(row, x[parts], heads.size).astype(np.float64)
        fixed: FloatArray = np.bincount(row, np.where(open_[parts], 0.0, x[parts]), heads.size).astype(np.float64)
        asked = np.bincount(parts, _log(x[sums] - fixed, inside - fixed)[row], known.size)
        asked += np.bincount(sums, _log(inside, x[sums]), known.size)
        x[open_] *= np.exp(asked[open_] / times[open_])
    found: IntArray = np.floor(x + 0.5 - TIE).astype(np.int64)
    return np.clip(found, equations.lower, equations.upper)


def _log(wanted: FloatArray, given: FloatArray) -> FloatArray:
    """Return the logarithm of the factor that makes one figure of another; nothing becomes next to nothing."""
    ratio = np.maximum(wanted, 0.0) / np.where(given > 0, given, 1.0)
    return np.where(given > 0, np.log(np.maximum(ratio, 1e-9)), 0.0)
