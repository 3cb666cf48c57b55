"""What every law returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray


@dataclass(frozen=True, eq=False)
class Judged:
    """Uncertainty about positions in bits, the error of each where it is an estimate, and how many tables fit.

    ``finished`` is false where time ran out or the tables are too many, and the bits are not known (NaN).
    """

    bits: FloatArray
    error: FloatArray
    tables: int | None = None
    note: str = ""
    finished: npt.NDArray[np.bool_] | None = None

    @property
    def dr(self) -> FloatArray:
        """The disclosure risk 1/H(X | Y = y), domingo2002 (2); infinite where the value is determined.

        >>> Judged(np.array([2.0, 0.0]), np.zeros(2)).dr.tolist()
        [0.5, inf]
        """
        with np.errstate(divide="ignore"):
            return 1.0 / self.bits
