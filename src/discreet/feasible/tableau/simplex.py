"""The equations of a group solved for as many unknowns as they determine, and the primal simplex method on that.

What the equations leave open is often a fifth of the unknowns, so the tableau holds only those columns. It is worked
out in whole numbers first; afterwards floating-point numbers steer the search and nothing else. Unknowns that are not
solved for may lie anywhere in their ranges, so that any table that fits can be the start of the next search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray

TINY, CLOSE, SMALL = 1e-9, 1e-6, 1e-7
FREE = 2.0**59
"""Values beyond this have no bound."""
PARTS = 60.0
"""Entries are nearly always multiples of a sixtieth; taking them so keeps errors from growing."""
HUGE = 2**40
OPTIMAL, UNBOUNDED, STUCK = 0, 1, 2
FITS, NOTHING_FITS, FAILED = 0, 1, 2
LATE = 3
"""Time ran out."""


class Tableau(NamedTuple):
    """Each basic unknown as a start less the others: x[basis[i]] = start[i] - Σ columns[c, i]·x[beside[c]].

    ``place`` is the row of a basic unknown, and -1 - c of one that stands in column c. The first solution is kept in
    whole numbers: ``solved[c, i] / scale[i]``, with the constants ``start[i] / scale[i]``. ``log`` remembers exchanges,
    ``logged[0]`` of them, so that they can be taken back. Work ends when ``stop[0]`` is set
    (:class:`~discreet.core.clock.Clock`).
    """

    columns: FloatArray
    basis: IntArray
    beside: IntArray
    place: IntArray
    x: FloatArray
    low: FloatArray
    up: FloatArray
    solved: IntArray
    scale: IntArray
    start: IntArray
    first_basis: IntArray
    first_beside: IntArray
    spot: IntArray
    log: IntArray
    logged: IntArray
    stop: IntArray


@compiled
def gcd(a: int, b: int) -> int:
    """Return the greatest common divisor."""
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@compiled
def solve(M: IntArray, width: IntArray, pivots: IntArray, stop: IntArray) -> int:
    """Solve equations (the last column holds their right-hand sides) in whole numbers, in place.

    Each row is solved for one unknown, `pivots` says which, -1 for equations that follow from others. Short rows and
    unknowns that stand in few equations come first, so that rows stay short. Returns a state of fit, FAILED where
    numbers grow too large, LATE when it is told to stop.
    """
    m, n = M.shape[0], M.shape[1] - 1
    length, used = np.zeros(m, np.int64), np.zeros(n, np.int64)
    for i in range(m):
        for j in range(n):
            if M[i, j] != 0:
                length[i] += 1
                used[j] += 1
    pivots[:] = -1
    done = np.zeros(m, np.bool_)
    spot = np.zeros(n + 1, np.int64)
    for _ in range(m):
        if stop[0] != 0:
            return LATE
        p, shortest = -1, n + 2
        for i in range(m):
            if not done[i] and length[i] < shortest:
                p, shortest = i, length[i]
        done[p] = True
        q, best, count = -1, np.inf, 0
        for j in range(n):
            if M[p, j] != 0:
                spot[count] = j
                count += 1
                cost = 1e9 * abs(M[p, j]) + used[j] - 1e-3 * min(width[j], 100)
                if cost < best:
                    q, best = j, cost
        if q < 0:
            if M[p, n] != 0:
                return NOTHING_FITS
            continue
        pivots[p] = q
        if M[p, n] != 0:
            spot[count] = n
            count += 1
        if M[p, q] < 0:
            for c in range(count):
                M[p, spot[c]] = -M[p, spot[c]]
        pivot = M[p, q]
        for i in range(m):
            factor = M[i, q]
            if i == p or factor == 0:
                continue
            if pivot == 1:
                for c in range(count):
                    M[i, spot[c]] -= factor * M[p, spot[c]]
            else:
                common = gcd(pivot, factor)
                by, take = pivot // common, factor // common
                for j in range(n + 1):
                    M[i, j] *= by
                for c in range(count):
                    M[i, spot[c]] -= take * M[p, spot[c]]
                common = 0
                for j in range(n + 1):
                    if M[i, j] != 0:
                        common = gcd(common, int(M[i, j]))
                        if common == 1:
                            break
                if common > 1:
                    for j in range(n + 1):
                        M[i, j] //= common
            length[i] = 0
            for j in range(n):
                if M[i, j] != 0:
                    length[i] += 1
                    if abs(M[i, j]) > HUGE:
                        return FAILED
    return FITS


@compiled
def _snap(value: float) -> float:
    near = np.rint(value)
    if value == near:
        return value
    if abs(value - near) < TINY:
        return float(near)
    part = np.rint(value * PARTS)
    return float(part / PARTS) if abs(value * PARTS - part) < 1e-7 else value


@compiled
def pivot(t: Tableau, p: int, q: int) -> None:
    """Exchange the unknown of row p with that of column q."""
    C, spot = t.columns, t.spot
    d, r = C.shape
    scale = C[q, p]
    count = 0
    for i in range(r):
        if C[q, i] != 0.0 and i != p:
            spot[count] = i
            count += 1
    for c in range(d):
        if c == q or C[c, p] == 0.0:
            continue
        factor = _snap(C[c, p] / scale)
        C[c, p] = factor
        for s in range(count):
            i = spot[s]
            C[c, i] = _snap(C[c, i] - factor * C[q, i])
    for s in range(count):
        i = spot[s]
        C[q, i] = _snap(-C[q, i] / scale)
    C[q, p] = _snap(1.0 / scale)
    leaving, entering = t.basis[p], t.beside[q]
    t.basis[p], t.beside[q] = entering, leaving
    t.place[entering], t.place[leaving] = p, -1 - q
    if t.logged[0] < t.log.shape[1]:
        t.log[0, t.logged[0]], t.log[1, t.logged[0]] = p, q
    t.logged[0] += 1


@compiled
def take_back(t: Tableau, mark: int) -> bool:
    """Take back all exchanges since a mark; the values stay. False where too many were made to remember, or if late."""
    if t.logged[0] > t.log.shape[1]:
        return False
    while t.logged[0] > mark:
        if t.stop[0] != 0:
            return False
        last = t.logged[0] - 1
        pivot(t, t.log[0, last], t.log[1, last])
        t.logged[0] = last
    return True


@compiled
def reset(t: Tableau) -> None:
    """Go back to the first solution, and leave all errors behind; the values stay."""
    for i in range(t.basis.size):
        t.basis[i] = t.first_basis[i]
        t.place[t.basis[i]] = i
    for c in range(t.beside.size):
        t.beside[c] = t.first_beside[c]
        t.place[t.beside[c]] = -1 - c
        for i in range(t.basis.size):
            t.columns[c, i] = t.solved[c, i] / t.scale[i]
    t.logged[0] = 0


@compiled
def shift(t: Tableau, q: int, by: float) -> None:
    """Move the unknown of a column, and with it the basic ones."""
    t.x[t.beside[q]] += by
    for i in range(t.basis.size):
        if t.columns[q, i] != 0.0:
            k = t.basis[i]
            t.x[k] = _snap(t.x[k] - by * t.columns[q, i])


@compiled
def move(t: Tableau, q: int, direction: float, phase_one: bool) -> float:
    """Move the unknown of a column as far as the others allow; return the step, or -1 where nothing stops it."""
    x, low, up = t.x, t.low, t.up
    entering = t.beside[q]
    step = up[entering] - x[entering] if direction > 0 else x[entering] - low[entering]
    leaving, to_upper, size = -1, False, 0.0
    for i in range(t.basis.size):
        rate = -direction * t.columns[q, i]
        if rate == 0.0 or abs(rate) < SMALL:
            continue
        k = t.basis[i]
        if rate > 0:
            # A value below its range may rise into it; once there, its upper end stops it.
            if phase_one and x[k] < low[k] - TINY:
                room, upper_end = low[k] - x[k], False
            elif phase_one and x[k] > up[k] + TINY:
                continue
            else:
                room, upper_end = up[k] - x[k], True
        else:
            if phase_one and x[k] > up[k] + TINY:
                room, upper_end = x[k] - up[k], True
            elif phase_one and x[k] < low[k] - TINY:
                continue
            else:
                room, upper_end = x[k] - low[k], False
        limit = max(room, 0.0) / abs(rate)
        # Of those that stop it at once, one that keeps the tableau whole is best.
        grade = 1e9 if abs(rate) == 1.0 else abs(rate)
        if limit < step - TINY or (limit < step + TINY and grade > size and leaving >= 0):
            step, leaving, to_upper, size = min(limit, step), i, upper_end, grade
    if step >= FREE:
        return -1.0
    if step > 0.0:
        shift(t, q, direction * step)
    if leaving >= 0:
        k = t.basis[leaving]
        x[k] = up[k] if to_upper else low[k]
        pivot(t, leaving, q)
    else:
        x[entering] = up[entering] if direction > 0 else low[entering]
    return float(step)


@compiled
def feasible(t: Tableau, turns: int) -> int:
    """Find a first table by shrinking the sum of all violations."""
    C, x, low, up = t.columns, t.x, t.low, t.up
    d, r = C.shape
    short = np.zeros(r)
    for turn in range(turns):
        if t.stop[0] != 0:
            return LATE
        violated = 0
        for i in range(r):
            k = t.basis[i]
            short[i] = 0.0
            if x[k] < low[k] - CLOSE:
                short[i] = 1.0
                violated += 1
            elif x[k] > up[k] + CLOSE:
                short[i] = -1.0
                violated += 1
        if violated == 0:
            return FITS
        # Where steps stand still, starting the look at another place each time keeps it from going in circles.
        careful = turn > 20 + r // 2
        begin = (turn * 7919) % d if careful else 0
        best, entering, direction = CLOSE, -1, 1.0
        for step in range(d):
            c = (begin + step) % d
            k = t.beside[c]
            gradient = 0.0
            for i in range(r):
                gradient -= short[i] * C[c, i]
            if gradient > best and x[k] < up[k] - TINY:
                best, entering, direction = gradient, c, 1.0
            elif -gradient > best and x[k] > low[k] + TINY:
                best, entering, direction = -gradient, c, -1.0
            if careful and entering >= 0:
                break
        if entering < 0:
            # Floating-point numbers prove nothing here: another solver has to tell.
            return FAILED
        if move(t, entering, direction, True) < 0:
            return FAILED
    return FAILED


@compiled
def climb(t: Tableau, k: int, sign: float, enough: float, turns: int) -> int:
    """Make sign·x[k] as large as possible, or as large as is enough, in so many turns."""
    x, low, up = t.x, t.low, t.up
    d = t.columns.shape[0]
    idle = 0
    for turn in range(turns):
        if t.stop[0] != 0:
            return LATE
        if sign * x[k] >= enough - CLOSE:
            return OPTIMAL
        row = t.place[k]
        if row < 0:
            if (sign > 0 and x[k] >= up[k] - TINY) or (sign < 0 and x[k] <= low[k] + TINY):
                return OPTIMAL
            if move(t, -1 - row, sign, False) < 0:
                return UNBOUNDED
            continue
        best, entering, direction = CLOSE, -1, 1.0
        begin = (turn * 7919) % d if idle > 10 else 0
        for step in range(d):
            c = (begin + step) % d
            j = t.beside[c]
            # x[k] falls by this much for every unit of x[j].
            gain = -sign * t.columns[c, row]
            if gain > best and x[j] < up[j] - TINY:
                best, entering, direction = gain, c, 1.0
            elif -gain > best and x[j] > low[j] + TINY:
                best, entering, direction = -gain, c, -1.0
            if idle > 10 and entering >= 0:
                break
        if entering < 0:
            return OPTIMAL
        moved = move(t, entering, direction, False)
        if moved < 0:
            return UNBOUNDED
        idle = idle + 1 if moved < TINY else 0
    return STUCK
