"""What a row of the tableau proves, in whole numbers."""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import compiled
from discreet.feasible.tableau.simplex import Tableau, gcd

DENOMINATORS = 60
BAD = np.iinfo(np.int64).max
LARGE = 2.0**52


@compiled
def proved(t: Tableau, row: int, sign: int) -> tuple[int, float]:
    """Return the whole-number bound on a basic unknown that its row proves, and the bound over real numbers.

    The row is checked in whole numbers against the solved equations; BAD where it does not follow from them.
    """
    d = t.beside.size
    k = t.basis[row]
    D = 0
    for trial in range(1, DENOMINATORS + 1):
        D = trial
        for c in range(d):
            a = t.columns[c, row] * trial
            if a != 0.0 and abs(a - np.rint(a)) > 1e-5:
                D = 0
                break
        if D > 0:
            break
    if D == 0:
        return BAD, 0.0
    n = t.x.size
    g = np.zeros(n, np.int64)
    g[k] = D
    rest, size = np.int64(0), 0.0
    for c in range(d):
        a = np.int64(np.rint(t.columns[c, row] * D))
        if a == 0:
            continue
        j = t.beside[c]
        g[j] = a
        end = t.low[j] if (a > 0) == (sign > 0) else t.up[j]
        if abs(end) >= LARGE:
            return BAD, 0.0
        rest += a * np.int64(end)
        size += abs(a * end)
    used = np.zeros(t.first_basis.size, np.int64)
    count, common = 0, np.int64(1)
    for i in range(t.first_basis.size):
        if g[t.first_basis[i]] != 0:
            used[count] = i
            count += 1
            common = common * t.scale[i] // gcd(int(common), int(t.scale[i]))
            if common > 10**6:
                return BAD, 0.0
    constant = np.int64(0)
    for u in range(count):
        i = used[u]
        part = g[t.first_basis[i]] * (common // t.scale[i])
        constant += part * t.start[i]
        size += abs(float(part) * t.start[i])
    if size * common * D > 2.0**61:
        return BAD, 0.0
    for c in range(d):
        total = np.int64(0)
        for u in range(count):
            i = used[u]
            if t.solved[c, i] != 0:
                total += g[t.first_basis[i]] * (common // t.scale[i]) * t.solved[c, i]
        if total != common * g[t.first_beside[c]]:
            return BAD, 0.0
    value, parts = constant - common * rest, common * D
    # Rounding inwards is what whole numbers allow.
    inner = value // parts if sign > 0 else -((-value) // parts)
    return int(inner), float(value / parts)
