"""The protection's own likelihood times an even prior: values that the method often turns into what is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.auditing.laws.base import Judged
from discreet.auditing.laws.tables import judge
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.feasible.bounds import Bounds
from discreet.feasible.reduction import Group, Reduction

WIDEST = 1_000_000


def by_method(found: Bounds, targets: IntArray, *, progress: Progress | None = None, **_: Any) -> Judged:
    """Return the entropy of each value when every table weighs as much as the method is likely to publish this from it.

    p(x | y) ∝ p(y | x)·p(x) with p(x) even over all tables that fit. Random rounding to base 3 that published 3 came
    from 1, 2, 3, 4, 5 with weights 1/3, 2/3, 1, 2/3, 1/3; methods that are not random weigh all alike.
    """
    equations = found.equations

    def weights(reduced: Reduction, group: Group) -> Mapping[int, FloatArray]:
        found_weights: dict[int, FloatArray] = {}
        for k, i in enumerate(group.variables.tolist()):
            kind = equations.kind(i)
            if kind is None or kind.name not in ("random", "sample"):
                continue
            if group.most[k] - group.least[k] > WIDEST:
                raise LimitError(f"{equations.describe(i)} has more than {WIDEST:,} possible values; bound it (most=)")
            values = np.arange(group.least[k], group.most[k] + 1)
            found_weights[k] = kind.likelihood(equations.published_value(i), values)
        return found_weights

    return judge(found, targets, weights, None, progress)
