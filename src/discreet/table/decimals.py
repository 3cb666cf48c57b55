"""Whole numbers of the last decimal published, as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import IntArray


def decimal_texts(values: IntArray, decimals: int) -> npt.NDArray[Any]:
    """Return whole numbers of last decimals as people write them.

    >>> decimal_texts(np.array([-5, 1250]), 2).tolist()
    ['-0.05', '12.50']
    """
    if not decimals:
        return values.astype("U20")
    whole, part = np.divmod(np.abs(values), 10**decimals)
    sign = np.where(values < 0, "-", "")
    points = np.char.add(np.char.add(sign, whole.astype("U20")), ".")
    return np.char.add(points, np.char.zfill(part.astype("U20"), decimals))


def decimal_text(value: int, decimals: int) -> str:
    """Return one whole number of last decimals as people write it.

    >>> decimal_text(-1250, 2), decimal_text(7, 0)
    ('-12.50', '7')
    """
    if not decimals:
        return str(value)
    sign, digits = "-" if value < 0 else "", str(abs(value)).rjust(decimals + 1, "0")
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"
