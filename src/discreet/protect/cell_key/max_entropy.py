"""The law of noise that assumes least beyond what is required: maximum entropy under moments and shape.

Σ p log p is convex and every constraint is linear, so the optimum has the form p(v) ∝ exp(λ₁v + λ₂v² − Σ μ·g(v))
with a multiplier μ ≥ 0 for each inequality. The dual in λ and μ has as many unknowns as constraints; Newton steps solve
it to rounding, and an active set finds the inequalities that bind.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows

EXACT = 1e-13
"""How far moments may be off, relative to the scale of the noise."""
NOTHING = 1e-15
"""A smaller probability is 0 up to rounding."""
ROUNDS = 200
"""The most Newton steps, and changes of the active set: a round number; designs settle within a few dozen."""


def max_entropy(v: IntArray, variance: float, *, stay: float = 0.0, monotone: bool = False) -> FloatArray:
    """Return the probabilities of the noises v with mean 0, the variance and the largest entropy.

    Args:
        v: the noises that are possible, rising.
        variance: Σ p·v².
        stay: the least probability of the noise 0.
        monotone: a larger noise on the same side of 0 is never more likely.

    Raises:
        InfeasibleError: when no law has these moments; the message gives the variances that one has.

    >>> max_entropy(np.array([-1, 0, 1]), 0.5).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    shape = _shape(v, stay, monotone)
    try:
        return _active_set(v, variance, shape)
    except _NoOptimum:
        least, most = variance_range(v, stay=stay, monotone=monotone)
    near = 1e-9 * max(most, 1.0)
    if not least - near <= variance <= most + near:
        raise InfeasibleError(f"the variance is {variance:g}, but with these noises it is {span(least, most)}")
    # At an end of the range some noises cannot occur; over the others the optimum exists.
    kept = _support(v, min(max(variance, least), most), shape)
    p = np.zeros(v.size)
    p[kept] = _active_set(v[kept], variance, [row[kept] for row in shape])
    return p


def variance_range(v: IntArray, *, stay: float = 0.0, monotone: bool = False) -> tuple[float, float]:
    """Return the least and the largest variance that a law over these noises with mean 0 can have.

    >>> [round(end, 9) for end in variance_range(np.array([-1, 2, 3]))]
    [2.0, 3.0]
    """
    shape = _shape(v, stay, monotone)
    ends = [_linear(sign * v.astype(float) ** 2, v, shape, None) for sign in (1, -1)]
    if ends[0] is None or ends[1] is None:
        raise InfeasibleError(f"no law over the noises {v.tolist()} has the mean 0 and the shape that is asked for")
    return ends[0], -ends[1]


def span(least: float, most: float) -> str:
    """Return a range as a phrase.

    >>> span(2.0, 5.0)
    'from 2 to 5'
    """
    return f"{least:.6g}" if most - least < 1e-9 else f"from {least:.6g} to {most:.6g}"


class _NoOptimum(Exception):
    """The dual has no finite optimum: nothing, or not every noise, is possible."""


def _shape(v: IntArray, stay: float, monotone: bool) -> list[FloatArray]:
    """Return rows g with g·p ≤ 0: the probability of staying, and the order of probabilities on either side of 0."""
    rows: list[FloatArray] = []
    if stay > 0 and (v == 0).any():
        rows.append(stay - (v == 0))
    if monotone:
        for i in range(v.size - 1):
            if v[i + 1] <= 0 or v[i] >= 0:
                row = np.zeros(v.size)
                row[i], row[i + 1] = (1.0, -1.0) if v[i + 1] <= 0 else (-1.0, 1.0)
                rows.append(row)
    return rows


def _active_set(v: IntArray, variance: float, shape: list[FloatArray]) -> FloatArray:
    """Solve with the inequalities that bind as equations, until no multiplier is negative and none is broken."""
    scale = float(max(np.abs(v).max(), 1))
    moments = np.stack([v / scale, (v / scale) ** 2 - variance / scale**2])
    active: list[int] = []
    for _ in range(ROUNDS):
        rows = np.concatenate([moments, *(-shape[i][None] for i in active)]) if active else moments
        p, multipliers = _newton(rows)
        signs = multipliers[2:]
        if signs.size and signs.min() < -1e-10:
            active.pop(int(np.argmin(signs)))
            continue
        broken = np.array([float(row @ p) for row in shape])
        broken[active] = 0.0
        if not broken.size or broken.max() <= EXACT:
            return np.where(p < NOTHING, 0.0, p)
        active.append(int(np.argmax(broken)))
    raise LimitError(f"the noise did not settle in {ROUNDS} rounds; ask for another variance, or no order")


def _newton(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise log Σ exp(x·rows), whose gradient is the expectation of the rows, by damped Newton steps."""
    x = np.zeros(rows.shape[0])
    value, p = _partition(rows, x)
    off = float(np.abs(rows @ p).max())
    for _ in range(ROUNDS):
        gradient = rows @ p
        hessian = (rows * p) @ rows.T - np.outer(gradient, gradient)
        step = -np.linalg.lstsq(hessian, gradient, rcond=1e-15)[0]
        slope = float(gradient @ step)
        size = 1.0
        while size > 1e-10:
            trial, q = _partition(rows, x + size * step)
            further = float(np.abs(rows @ q).max())
            # Near the optimum the value is flat to rounding, and only the gradient tells.
            if trial <= value + 0.25 * size * slope or further < off <= 1e-6:
                break
            size /= 2
        else:
            break
        if off <= EXACT and further >= off:
            break
        x, value, p, off = x + size * step, trial, q, further
        if np.abs(x).max() > 1e6:
            break
    if off <= EXACT:
        return p, x
    raise _NoOptimum


def _partition(rows: FloatArray, x: FloatArray) -> tuple[float, FloatArray]:
    exponent = x @ rows
    top = float(exponent.max())
    weights = np.exp(exponent - top)
    total = float(weights.sum())
    return top + float(np.log(total)), weights / total


def _support(v: IntArray, variance: float, shape: list[FloatArray]) -> npt.NDArray[np.bool_]:
    """Return the noises that are possible under some law with these moments and this shape."""
    largest = [_linear(-np.eye(v.size)[i], v, shape, variance) for i in range(v.size)]
    return np.array([value is not None and -value > 1e-9 for value in largest])


def _linear(cost: FloatArray, v: IntArray, shape: list[FloatArray], variance: float | None) -> float | None:
    """Return the least cost of a law with mean 0, and the variance where it is given; None where there is none."""
    equal = [np.ones(v.size), v.astype(float)] + ([v.astype(float) ** 2] if variance is not None else [])
    right = [1.0, 0.0] + ([variance] if variance is not None else [])
    rows = np.array([*equal, *shape])
    row, column = np.nonzero(rows)
    program = Program(
        Rows.gathered(row, column, rows[row, column], (len(rows), v.size)),
        costs=cost,
        lower=np.zeros(v.size),
        upper=np.ones(v.size),
        sums=(np.append(right, np.full(len(shape), -np.inf)), np.append(right, np.zeros(len(shape)))),
    )
    return program.objective if program.run() == "optimal" else None
