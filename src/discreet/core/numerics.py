"""Small numerical helpers that the measures share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
NumberArray = FloatArray | IntArray


def xlogx(x: npt.ArrayLike) -> FloatArray:
    """Return x·log x with 0·log 0 = 0, natural logarithm.

    >>> xlogx([0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    values = np.asarray(x, dtype=np.float64)
    return values * np.log(np.where(values > 0, values, 1.0))


def xlogy(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return x·log y with 0 wherever x is 0, whatever y is.

    >>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    return x * np.log(np.where(x > 0, y, 1.0))
