"""Every whole value in the feasible interval alike: the law of domingo2002 (3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.auditing.laws.base import Judged
from discreet.core.numerics import IntArray
from discreet.feasible.bounds import Bounds


def by_interval(found: Bounds, targets: IntArray, **_: Any) -> Judged:
    """Return log2 m(S), the bits of a value that is one of m alike; DR = 1/log2 m(S), domingo2002 (3)."""
    return Judged(np.log2(np.maximum(found.values[targets], 1.0)), np.zeros(targets.size))
