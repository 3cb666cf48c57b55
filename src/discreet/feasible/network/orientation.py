"""Recognises groups of equations that form a network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.feasible.reduction import Group


class Edges(NamedTuple):
    """Tail and head of each unknown as an edge, and the sign that each equation takes."""

    tail: IntArray
    head: IntArray
    flip: IntArray


def oriented(group: Group) -> Edges | None:
    """Return a group as a network, None where it is not one."""
    if group.mixed:
        return None
    n, m = group.variables.size, group.rhs.size
    edges = Edges(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64))
    return edges if orient(group.starts, group.columns, group.signs, *edges) else None


@compiled
def orient(
    starts: IntArray, columns: IntArray, signs: IntArray, tail: IntArray, head: IntArray, flip: IntArray
) -> bool:
    """Lay unknowns between equations as edges of a network, if they can be; equations may change their sign.

    Every unknown may be in two equations at most, and flipping equations must let it leave one and enter the other.
    Unknowns in one equation end at the ground, the node after the last equation.
    """
    m, n = starts.size - 1, tail.size
    first, second = np.full(n, -1), np.full(n, -1)
    sign_first, sign_second = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for e in range(m):
        for k in range(starts[e], starts[e + 1]):
            j = columns[k]
            if first[j] < 0:
                first[j], sign_first[j] = e, signs[k]
            elif second[j] < 0:
                second[j], sign_second[j] = e, signs[k]
            else:
                return False
    flip[:] = 0
    queue = np.zeros(m, np.int64)
    for root in range(m):
        if flip[root] != 0:
            continue
        flip[root] = 1
        queue[0] = root
        done, found = 0, 1
        while done < found:
            e = queue[done]
            done += 1
            for k in range(starts[e], starts[e + 1]):
                j = columns[k]
                if second[j] < 0:
                    continue
                other = second[j] if first[j] == e else first[j]
                wanted = -flip[e] * sign_first[j] * sign_second[j]
                if flip[other] == 0:
                    flip[other] = wanted
                    queue[found] = other
                    found += 1
                elif flip[other] != wanted:
                    return False
    for j in range(n):
        other = second[j] if second[j] >= 0 else m
        if flip[first[j]] * sign_first[j] > 0:
            tail[j], head[j] = first[j], other
        else:
            tail[j], head[j] = other, first[j]
    return True
