"""Bounds of unknown values in small groups of any shape: the primal simplex method on a dense tableau.

One tableau serves all unknowns of a group: only the objective changes, so each search starts from the last corner.
Floating-point numbers steer the search and nothing else: every bound is recomputed in whole numbers from the
multipliers of the equations that it found, and holds whatever they are (weak duality).
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray, IntArray

TINY, CLOSE = 1e-9, 1e-6
FREE = 2.0**59
"""Values beyond this have no bound."""
DENOMINATORS = 60
LEVELS, NODES, STEPS, HOPELESS = 60, 40, 8, 60
"""How deep, how long and over how many values a table of whole numbers is looked for before giving up."""
OPTIMAL, UNBOUNDED, STUCK = 0, 1, 2
UNSURE = -1
"""Marks a bound that the search did not settle."""
BAD = np.iinfo(np.int64).max


@compiled
def _pivot(T: FloatArray, row: int, column: int, nonzero: IntArray) -> None:
    """Bring a column into the basis."""
    m, width = T.shape
    scale = 1.0 / T[row, column]
    count = 0
    for j in range(width):
        if T[row, j] != 0.0:
            T[row, j] *= scale
            nonzero[count] = j
            count += 1
    T[row, column] = 1.0
    for i in range(m):
        factor = T[i, column]
        if i == row or factor == 0.0:
            continue
        for c in range(count):
            j = nonzero[c]
            value = 2.0 * (T[i, j] - factor * T[row, j])
            near = np.rint(value)
            # Nearly all entries are halves; taking them so keeps errors from growing.
            T[i, j] = 0.5 * (near if abs(value - near) < TINY else value)
        T[i, column] = 0.0


@compiled
def _move(
    T: FloatArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
    entering: int,
    direction: float,
    phase_one: bool,
    nonzero: IntArray,
) -> float:
    """Move a nonbasic value as far as the others allow; return the step, or -1 where nothing stops it."""
    m = T.shape[0]
    step = up[entering] - low[entering]
    leaving, to_upper, size = -1, False, 0.0
    for i in range(m):
        rate = -direction * T[i, entering]
        if abs(rate) < TINY:
            continue
        k = basis[i]
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
        if limit < step - TINY or (limit < step + TINY and abs(rate) > size and leaving >= 0):
            step, leaving, to_upper, size = min(limit, step), i, upper_end, abs(rate)
    if step >= FREE:
        return -1.0
    for i in range(m):
        if T[i, entering] != 0.0:
            x[basis[i]] -= direction * step * T[i, entering]
    x[entering] += direction * step
    if leaving >= 0:
        k = basis[leaving]
        x[k] = up[k] if to_upper else low[k]
        _pivot(T, leaving, entering, nonzero)
        place[k] = -1
        place[entering] = leaving
        basis[leaving] = entering
    else:
        x[entering] = up[entering] if direction > 0 else low[entering]
    return float(step)


@compiled
def _settle(
    T: FloatArray,
    b: IntArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
) -> None:
    """Put nonbasic values on their nearer ends and work the basic ones out afresh, so that no error grows."""
    m, width = T.shape
    n = width - m
    for j in range(n):
        if place[j] < 0:
            x[j] = up[j] if up[j] < FREE and abs(x[j] - up[j]) < abs(x[j] - low[j]) else low[j]
    for i in range(m):
        value = 0.0
        for r in range(m):
            if T[i, n + r] != 0.0:
                value += T[i, n + r] * b[r]
        for j in range(n):
            if T[i, j] != 0.0 and place[j] < 0:
                value -= T[i, j] * x[j]
        x[basis[i]] = value


@compiled
def _rebuild(
    T: FloatArray,
    A: IntArray,
    b: IntArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
    nonzero: IntArray,
) -> bool:
    """Work the tableau of the current corner out afresh from the equations, once errors have grown."""
    m, n = A.shape
    T[:, :n] = A
    T[:, n:] = 0.0
    for i in range(m):
        T[i, n + i] = 1.0
    chosen = np.sort(basis)[::-1]
    taken = np.zeros(m, np.bool_)
    for c in range(m):
        j = chosen[c]
        row, size = -1, 1e-7
        for i in range(m):
            if not taken[i] and abs(T[i, j]) > size:
                row, size = i, abs(T[i, j])
        if row < 0:
            return False
        _pivot(T, row, j, nonzero)
        taken[row] = True
        basis[row] = j
        place[j] = row
    _settle(T, b, low, up, x, basis, place)
    return True


@compiled
def _feasible(
    T: FloatArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
    nonzero: IntArray,
    turns: int,
) -> int:
    """Find a first corner by shrinking the sum of all violations; 0 found, 1 there is none, 2 stuck."""
    m, width = T.shape
    gradient = np.zeros(width)
    for turn in range(turns):
        violated = 0.0
        gradient[:] = 0.0
        for i in range(m):
            k = basis[i]
            if x[k] < low[k] - CLOSE:
                violated += low[k] - x[k]
                for j in range(width):
                    gradient[j] += T[i, j]
            elif x[k] > up[k] + CLOSE:
                violated += x[k] - up[k]
                for j in range(width):
                    gradient[j] -= T[i, j]
        if violated <= CLOSE:
            return 0
        # Where steps stand still, starting the look at another place each time keeps it from going in circles.
        careful = turn > 20 + m // 2
        begin = (turn * 7919) % width if careful else 0
        best, entering, direction = -CLOSE, -1, 1.0
        for step in range(width):
            j = (begin + step) % width
            if place[j] >= 0 or up[j] - low[j] < TINY:
                continue
            if x[j] <= low[j] + TINY and gradient[j] < best:
                best, entering, direction = gradient[j], j, 1.0
            elif x[j] >= up[j] - TINY and -gradient[j] < best:
                best, entering, direction = -gradient[j], j, -1.0
            if careful and entering >= 0:
                break
        if entering < 0:
            return 1
        if _move(T, low, up, x, basis, place, entering, direction, True, nonzero) < 0:
            return 2
    return 2


@compiled
def _climb(
    T: FloatArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
    k: int,
    sign: float,
    enough: float,
    nonzero: IntArray,
) -> int:
    """Make sign·x[k] as large as possible, or as large as is enough."""
    width = T.shape[1]
    idle = 0
    for turn in range(100 + 5 * (T.shape[0] + width)):
        if sign * x[k] >= enough - CLOSE:
            return OPTIMAL
        if place[k] < 0:
            if (sign > 0 and x[k] >= up[k] - TINY) or (sign < 0 and x[k] <= low[k] + TINY):
                return OPTIMAL
            if _move(T, low, up, x, basis, place, k, sign, False, nonzero) < 0:
                return UNBOUNDED
            continue
        row = place[k]
        best, entering, direction = CLOSE, -1, 1.0
        begin = (turn * 7919) % width if idle > 10 else 0
        for step in range(width):
            j = (begin + step) % width
            if place[j] >= 0 or up[j] - low[j] < TINY:
                continue
            # x[k] falls by T[row, j] for every unit of x[j].
            gain = -sign * T[row, j]
            if gain > best and x[j] < up[j] - TINY:
                best, entering, direction = gain, j, 1.0
            elif -gain > best and x[j] > low[j] + TINY:
                best, entering, direction = -gain, j, -1.0
            if idle > 10 and entering >= 0:
                break
        if entering < 0:
            return OPTIMAL
        moved = _move(T, low, up, x, basis, place, entering, direction, False, nonzero)
        if moved < 0:
            return UNBOUNDED
        idle = idle + 1 if moved < TINY else 0
    return STUCK


@compiled
def _proved(
    y: FloatArray,
    k: int,
    sign: int,
    A: IntArray,
    b: IntArray,
    lower: IntArray,
    upper: IntArray,
) -> int:
    """Return the whole-number bound on x[k] that multipliers of the equations prove; BAD where they prove none."""
    m, n = A.shape
    Y = np.zeros(m, np.int64)
    for D in range(1, DENOMINATORS + 1):
        fits = True
        for i in range(m):
            scaled = y[i] * D
            Y[i] = np.int64(np.rint(scaled))
            if abs(scaled - Y[i]) > 1e-5:
                fits = False
                break
        if fits:
            break
    if not fits:
        return BAD
    value = np.int64(0)
    for i in range(m):
        value += Y[i] * b[i]
    for j in range(n):
        g = np.int64(D if j == k else 0)
        for i in range(m):
            if Y[i] != 0:
                g -= Y[i] * A[i, j]
        if g == 0:
            continue
        end = upper[j] if (g > 0) == (sign > 0) else lower[j]
        if abs(end) >= 2**59:
            return BAD
        value += g * end
    # Rounding inwards is what whole numbers allow.
    return int(value // D) if sign > 0 else int(-((-value) // D))


@compiled
def _whole(x: FloatArray, n: int, A: IntArray, b: IntArray, lower: IntArray, upper: IntArray) -> bool:
    """Say whether the corner is a table of whole numbers that fits exactly."""
    for j in range(n):
        value = np.int64(np.rint(x[j]))
        if abs(x[j] - value) > CLOSE or value < lower[j] or value > upper[j]:
            return False
    for i in range(A.shape[0]):
        total = np.int64(0)
        for j in range(n):
            if A[i, j] != 0:
                total += A[i, j] * np.int64(np.rint(x[j]))
        if total != b[i]:
            return False
    return True


@compiled
def _attained(
    T: FloatArray,
    b: IntArray,
    low: FloatArray,
    up: FloatArray,
    x: FloatArray,
    basis: IntArray,
    place: IntArray,
    nonzero: IntArray,
    A: IntArray,
    lower: IntArray,
    upper: IntArray,
    k: int,
    target: int,
) -> int:
    """Look for a table of whole numbers in which x[k] has the target value: 1 found, 0 there is none, 2 not decided.

    Fractional values are pushed down and up in turn (branch and bound, depth first); the tableau goes on from corner
    to corner, since narrower ranges leave it valid.
    """
    n = lower.size
    branched, way, kept = np.zeros(LEVELS, np.int64), np.zeros(LEVELS, np.int64), np.zeros((LEVELS, 2))
    low[k], up[k] = float(target), float(target)
    depth, answer = 0, 0
    for _ in range(NODES):
        _settle(T, b, low, up, x, basis, place)
        code = _feasible(T, low, up, x, basis, place, nonzero, 60 + basis.size // 2)
        if code == 2:
            answer = 2
            break
        fractional, worst = -1, CLOSE
        if code == 0:
            _settle(T, b, low, up, x, basis, place)
            for i in range(basis.size):
                j = basis[i]
                if j < n and abs(x[j] - np.rint(x[j])) > worst:
                    fractional, worst = j, abs(x[j] - np.rint(x[j]))
            if fractional < 0:
                answer = 1 if _whole(x, n, A, b, lower, upper) else 2
                break
            if depth == LEVELS:
                answer = 2
                break
            branched[depth], way[depth] = fractional, 0
            kept[depth, 0], kept[depth, 1] = low[fractional], up[fractional]
            up[fractional] = np.floor(x[fractional])
            depth += 1
            continue
        while depth > 0 and way[depth - 1] == 1:
            depth -= 1
            low[branched[depth]], up[branched[depth]] = kept[depth, 0], kept[depth, 1]
        if depth == 0:
            break
        j = branched[depth - 1]
        way[depth - 1] = 1
        low[j], up[j] = up[j] + 1.0, kept[depth - 1, 1]
    else:
        answer = 2
    while depth > 0:
        depth -= 1
        low[branched[depth]], up[branched[depth]] = kept[depth, 0], kept[depth, 1]
    low[k], up[k] = float(lower[k]), float(upper[k])
    return answer


@compiled
def group_bounds(
    A: IntArray,
    b: IntArray,
    lower: IntArray,
    upper: IntArray,
    least: IntArray,
    most: IntArray,
    wanted: IntArray,
    bound: IntArray,
    relaxed: FloatArray,
    exact: IntArray,
    multipliers: FloatArray,
    search: bool,
) -> int:
    """Bound every wanted unknown of one group; return 0, 1 if nothing fits, 2 if the search failed.

    Args:
        A: the equations, dense.
        b: their right-hand sides.
        lower: the least value of each unknown.
        upper: the largest value of each unknown.
        least: lower bounds that are known to hold; reaching one ends a search.
        most: upper bounds that are known to hold.
        wanted: which unknowns to bound.
        bound: filled with the proved whole-number bounds, one row for the lower and one for the upper.
        relaxed: filled with the bounds over real numbers.
        exact: filled with 1 where a table of whole numbers attains the bound, with UNSURE where it is not settled.
        multipliers: filled, if it has rows, with the multipliers that prove each bound.
        search: look for tables of whole numbers that attain the bounds.
    """
    m, n = A.shape
    width = n + m
    T = np.zeros((m, width))
    low, up, x = np.zeros(width), np.zeros(width), np.zeros(width)
    for j in range(n):
        low[j], up[j] = lower[j], upper[j]
        x[j] = low[j]
    basis, place = np.zeros(m, np.int64), np.full(width, -1)
    nonzero = np.zeros(width, np.int64)
    for i in range(m):
        T[i, n + i] = 1.0
        basis[i], place[n + i] = n + i, i
        x[n + i] = b[i]
        for j in range(n):
            T[i, j] = A[i, j]
            x[n + i] -= A[i, j] * x[j]
    code = _feasible(T, low, up, x, basis, place, nonzero, 60 + 3 * (m + width))
    if code != 0:
        return code
    seen_low, seen_up = np.full(n, BAD), np.full(n, -BAD)
    fresh, unsure, undecided = True, 0, 0
    for k in range(n):
        if wanted[k] == 0:
            continue
        for side in range(2):
            sign = 1 if side == 1 else -1
            known = most[k] if side == 1 else least[k]
            keep = multipliers.shape[0] > 0
            if not keep and ((side == 1 and seen_up[k] >= known) or (side == 0 and seen_low[k] <= known)):
                bound[side, k], relaxed[side, k], exact[side, k] = known, known, 1
                continue
            enough = np.inf if keep else float(sign) * known
            before = x[k]
            code = _climb(T, low, up, x, basis, place, k, float(sign), enough, nonzero)
            if code == UNBOUNDED:
                bound[side, k], relaxed[side, k], exact[side, k] = known, known, 1 if abs(known) >= 2**59 else 0
                continue
            if code == STUCK:
                return 2
            _settle(T, b, low, up, x, basis, place)
            relaxed[side, k] = x[k]
            if fresh or x[k] != before:
                fresh = False
                if _whole(x, n, A, b, lower, upper):
                    for j in range(n):
                        value = np.int64(np.rint(x[j]))
                        seen_low[j] = min(seen_low[j], value)
                        seen_up[j] = max(seen_up[j], value)
            reached = sign * x[k] >= sign * known - CLOSE
            if reached and not keep:
                bound[side, k] = known
            elif place[k] < 0:
                bound[side, k] = upper[k] if side == 1 else lower[k]
            else:
                y = T[place[k], n:].copy()
                bound[side, k] = _proved(y, k, sign, A, b, lower, upper)
                if keep:
                    multipliers[2 * k + side] = y
            if bound[side, k] == BAD or sign * (bound[side, k] - x[k]) > 1e-4:
                bound[side, k], relaxed[side, k], exact[side, k] = known, known, UNSURE
                unsure += 1
                good = _rebuild(T, A, b, low, up, x, basis, place, nonzero)
                if (
                    unsure > 20
                    or not good
                    or _feasible(T, low, up, x, basis, place, nonzero, 60 + 3 * (m + width)) != 0
                ):
                    return 2
                continue
            exact[side, k] = 1 if (seen_up[k] if side == 1 else seen_low[k]) == bound[side, k] else 0
            if keep or exact[side, k] == 1 or not search or undecided > HOPELESS:
                continue
            for _ in range(STEPS):
                answer = _attained(T, b, low, up, x, basis, place, nonzero, A, lower, upper, k, bound[side, k])
                if answer == 1:
                    exact[side, k] = 1
                    for j in range(n):
                        value = np.int64(np.rint(x[j]))
                        seen_low[j] = min(seen_low[j], value)
                        seen_up[j] = max(seen_up[j], value)
                if answer == 2:
                    undecided += 1
                if answer != 0:
                    break
                # No table has this value: whole numbers end one further in.
                bound[side, k] -= sign
            _settle(T, b, low, up, x, basis, place)
            if _feasible(T, low, up, x, basis, place, nonzero, 60 + 3 * (m + width)) != 0:
                return 2
    return 0
