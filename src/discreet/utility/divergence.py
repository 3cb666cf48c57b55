"""f-divergences between two distributions over the same cells; antal2014 (3.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import FloatArray, xlogx


@dataclass(frozen=True)
class Divergence:
    """A convex function f with f(1) = 0, and its slope at infinity, the limit of f(x)/x.

    The slope is the price of a cell that is filled in the original and empty in the release: q·f(p/q) tends to p·slope
    as q tends to 0.
    """

    function: Callable[[FloatArray], FloatArray]
    slope: float | None = None


DIVERGENCES = {
    "kl": Divergence(xlogx, math.inf),
    "hellinger": Divergence(lambda x: 1 - np.sqrt(x), 0.0),
}
"""KL is the relative entropy, f(x) = x log x; Hellinger, f(x) = 1 − √x, gives the square of HD(P, Q)."""


def f_divergence(
    P: npt.ArrayLike, Q: npt.ArrayLike, divergence: str | Divergence | Callable[[FloatArray], FloatArray]
) -> float:
    """Return D_f(P‖Q) = Σ qᵢ f(pᵢ/qᵢ), which is 0 for P = Q and grows as they part; antal2014 (3.3).

    Args:
        P: the original's counts or probabilities; they are scaled to sum to 1.
        Q: those of the release.
        divergence: ``"kl"``, ``"hellinger"``, a convex function f with f(1) = 0, or a :class:`Divergence`.

    >>> round(f_divergence([1, 1], [1, 3], "kl"), 6)
    0.143841
    """
    p, q = np.asarray(P, dtype=np.float64).ravel(), np.asarray(Q, dtype=np.float64).ravel()
    if p.shape != q.shape:
        raise DataError(f"the original has {p.size} cells, the release {q.size}; give the same cells")
    for values, which in ((p, "original"), (q, "release")):
        if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
            raise DataError(f"the {which} has negative, missing or no counts; a distribution needs some people")
    if isinstance(divergence, str):
        if divergence not in DIVERGENCES:
            raise RequestError(f"there is no divergence {divergence!r}; {nearest(divergence, list(DIVERGENCES))}")
        divergence = DIVERGENCES[divergence]
    elif not isinstance(divergence, Divergence):
        divergence = Divergence(divergence)
    p, q = p / p.sum(), q / q.sum()
    shared = q > 0
    lost = float(p[~shared].sum())
    value = float((q[shared] * divergence.function(p[shared] / q[shared])).sum())
    if lost > 0:
        if divergence.slope is None:
            raise RequestError(
                f"cells with {lost:.3g} of the original are empty in the release, and f gives no limit there; "
                "pass Divergence(f, slope=limit of f(x)/x as x grows)"
            )
        value += lost * divergence.slope
    # Rounding may leave a trace below 0, which no f-divergence is.
    return max(value, 0.0)
