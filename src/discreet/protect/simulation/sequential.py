"""Exact draws from the hypergeometric law given decomposable margins, margin after margin.

Given all margins, a table n has the probability ∝ 1/∏ n!. If the margins have an order in which each meets what is
already joined in one set S of dimensions (running intersection), then, within each category of S, the joined table and
the next margin are the rows and columns of two-way tables, and these have the hypergeometric law
∏ rows!·∏ columns! / (N!·∏ cells!). The product of these laws over all steps is ∝ 1/∏ n!, because the rows of a step are
the cells of the one before: so every draw is exact and independent of all others. A two-way table is the case of one
step with an empty S.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.simulation.margin_model import Model, margin_sums

TABULATED = 1 << 14
"""Logarithms of factorials are looked up to here, and taken from Stirling's series beyond."""


@compiled
def _log_factorial(k: int, table: FloatArray) -> float:
    if k < table.size:
        return float(table[k])
    # The next term of Stirling's series is below 1e-24 here.
    x = float(k)
    return (x + 0.5) * math.log(x) - x + 0.9189385332046727 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)


@compiled
def _hypergeometric(good: int, bad: int, sample: int, u: float, logs: FloatArray) -> int:
    """Return how many of a sample are good, by inversion from the mode outwards."""
    low, high = max(0, sample - bad), min(good, sample)
    if low == high:
        return low
    total = good + bad
    mode = ((good + 1) * (sample + 1)) // (total + 2)
    mode = min(max(mode, low), high)
    p = math.exp(
        _log_factorial(good, logs)
        - _log_factorial(mode, logs)
        - _log_factorial(good - mode, logs)
        + _log_factorial(bad, logs)
        - _log_factorial(sample - mode, logs)
        - _log_factorial(bad - sample + mode, logs)
        + _log_factorial(sample, logs)
        + _log_factorial(total - sample, logs)
        - _log_factorial(total, logs)
    )
    u -= p
    up, down, p_up, p_down = mode, mode, p, p
    while u > 0.0:
        moved = False
        if up < high:
            p_up *= float(good - up) * float(sample - up) / (float(up + 1) * float(bad - sample + up + 1))
            up += 1
            u -= p_up
            moved = True
            if u <= 0.0:
                return up
        if down > low:
            p_down *= float(down) * float(bad - sample + down) / (float(good - down + 1) * float(sample - down + 1))
            down -= 1
            u -= p_down
            moved = True
            if u <= 0.0:
                return down
        # What rounding leaves over at the end belongs to no value; the mode gets it.
        if not moved or (p_up < 1e-300 and p_down < 1e-300):
            return mode
    return mode


@compiled
def _join(rows: IntArray, columns: IntArray, out: IntArray, logs: FloatArray, rng: np.random.Generator) -> None:
    """Fill out[draw, s, a, b] with two-way tables of the given row sums [draw, s, a] and column sums [draw, s, b]."""
    size, groups, across = out.shape[0], out.shape[1], out.shape[3]
    left = np.zeros(across, np.int64)
    for draw in range(size):
        table, sums = draw % rows.shape[0], draw % columns.shape[0]
        for s in range(groups):
            rest = 0
            for b in range(across):
                left[b] = columns[sums, s, b]
                rest += left[b]
            for a in range(rows.shape[2]):
                need, others = rows[table, s, a], rest
                if need == 0:
                    continue
                for b in range(across):
                    others -= left[b]
                    taken = _hypergeometric(left[b], others, need, rng.random(), logs) if others else need
                    out[draw, s, a, b] = taken
                    left[b] -= taken
                    need -= taken
                    rest -= taken
                    if need == 0:
                        break


def draw_sequential(F: IntArray, shape: tuple[int, ...], model: Model, rng: np.random.Generator, size: int) -> IntArray:
    """Return independent tables with the margins of F, dense and flat, one per row, from the hypergeometric law."""
    order = model.sequence()
    assert order is not None
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, min(int(F.sum()), TABULATED) + 2)))])
    joined = order[0]
    current = margin_sums(F[None], shape, joined)
    for margin in order[1:]:
        shared = [i for i in joined if i in margin]
        old, new = [i for i in joined if i not in shared], [i for i in margin if i not in shared]
        if not new:
            continue
        rows = _arranged(current, shape, list(joined), [shared, old])
        columns = _arranged(margin_sums(F[None], shape, margin), shape, list(margin), [shared, new])
        out = np.zeros((size, *rows.shape[1:], columns.shape[2]), np.int64)
        _join(rows, columns, out, logs, rng)
        order_now = [*shared, *old, *new]
        joined = tuple(sorted(order_now))
        dense = out.reshape(size, *(shape[i] for i in order_now))
        current = dense.transpose(0, *(1 + order_now.index(i) for i in joined)).reshape(size, -1)
    return np.ascontiguousarray(np.broadcast_to(current, (size, current.shape[1])))


def _arranged(tables: IntArray, shape: tuple[int, ...], axes: list[int], groups: list[list[int]]) -> IntArray:
    """Return tables over some axes with these gathered into groups, a dimension for each."""
    dense = tables.reshape(-1, *(shape[i] for i in axes))
    wanted = [axes.index(i) + 1 for group in groups for i in group]
    lengths = [math.prod(shape[i] for i in group) for group in groups]
    return np.ascontiguousarray(dense.transpose(0, *wanted).reshape(-1, *lengths))
