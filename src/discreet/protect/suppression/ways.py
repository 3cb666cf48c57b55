"""Circuits as paths through a network, if no cell is in more than two sums, as in a two-way table.

A cell that moves leaves a sum too high or too low; the next one carries that on to its other sum, until that of the
first cell is reached. The shortest way through hidden cells takes a few steps where a tableau would hold whole rows and
columns of a dense table.
"""

from __future__ import annotations

from discreet.core.compiled import compiled
from discreet.core.numerics import FloatArray
from discreet.protect.suppression.circuits import Move, Scratch
from discreet.protect.suppression.problem import ClassEquations

FOR_NOTHING = 0.5
"""The most that circuits of hidden cells alone cost; any price is more."""
MARKS = 12
"""The most cells of the last sum of a way that are looked out for: more would take longer the longer that sum is, and
what is not marked is still found, a step later."""
WAYS = 12
"""The most ways on which the amount of a circuit in a network is carried; what needs more is left to other searches."""


@compiled
def _across(on: ClassEquations, cell: int, e: int) -> tuple[int, float, float]:
    """Return the other equation of a cell, and its signs in both; -1 where it has no other."""
    first, last = on.begins[cell], on.begins[cell + 1] - 1
    if first == last:
        return -1, on.weights[first], 0.0
    here, there = (first, last) if on.rows[first] == e else (last, first)
    return on.rows[there], on.weights[here], on.weights[there]


@compiled
def _open(j: int, move: Move, falls: bool, work: Scratch) -> bool:
    """Say whether a hidden cell can still move one way."""
    far: float = move.room.down[j] + work.shift[j] if falls else move.room.up[j] - work.shift[j]
    return far > 0 and j != move.cell


@compiled
def _mark(on: ClassEquations, move: Move, goal: int, cost: FloatArray, work: Scratch) -> int:
    """Mark a few sides from which one cell leads to another side, by that cell; return behind which entry they end."""
    e, high, marks, columns, signs = goal // 2, goal % 2 == 1, 0, on.columns, on.signs
    end: int = on.starts[e + 1]
    for i in range(on.starts[e], end):
        j, falls = columns[i], (signs[i] > 0) != high
        if cost[j] > FOR_NOTHING or not _open(j, move, falls, work):
            continue
        other, _, sign = _across(on, j, e)
        if other >= 0:
            work.ahead[2 * other + ((sign > 0) == falls)] = j
            marks += 1
            if marks == MARKS:
                return i + 1
    return end


@compiled
def _unmark(on: ClassEquations, goal: int, end: int, work: Scratch) -> None:
    """Take the marks away."""
    for i in range(on.starts[goal // 2], end):
        other, _, _ = _across(on, on.columns[i], goal // 2)
        if other >= 0:
            work.ahead[2 * other] = work.ahead[2 * other + 1] = -1


@compiled
def _path(on: ClassEquations, move: Move, start: int, goal: int, cost: FloatArray, work: Scratch) -> int:
    """Find the shortest way from one side of an equation to another; return how many sides were looked at, 0 for none.

    The cell by which each side was reached is left in the workspace. What hidden cells have moved already counts.
    """
    came, queue, columns, signs = work.came, work.queue, on.columns, on.signs
    queue[0], came[start], begin, end, reached = start, move.cell, 0, 1, False
    marked = _mark(on, move, goal, cost, work)
    while begin < end and not reached:
        e, high = queue[begin] // 2, queue[begin] % 2 == 1
        begin += 1
        for i in range(on.starts[e], on.starts[e + 1]):
            j, falls = columns[i], (signs[i] > 0) == high
            # Most cells are published. To hand over all arrays for each would take many times as long as to look.
            if cost[j] > FOR_NOTHING or not _open(j, move, falls, work):
                continue
            other, _, sign = _across(on, j, e)
            side = 2 * other + ((sign > 0) != falls)
            if other < 0 or came[side] >= 0:
                continue
            came[side], queue[end] = j, side
            end += 1
            if side != goal and work.ahead[side] >= 0 and work.ahead[side] != j:
                came[goal], queue[end] = work.ahead[side], goal
                side = goal
                end += 1
            if side == goal:
                reached = True
                break
    _unmark(on, goal, marked, work)
    if reached:
        return end
    for i in range(end):
        came[queue[i]] = -1
    return 0


@compiled
def _carry(on: ClassEquations, move: Move, start: int, goal: int, most: float, work: Scratch) -> float:
    """Move cells along the way that was found, by as much as all of them can up to the most; return how much."""
    far = most
    for last in (False, True):
        side = goal
        while side != start:
            j, high = work.came[side], side % 2 == 1
            other, here, there = _across(on, j, side // 2)
            rises = (here > 0) == high
            if last:
                work.shift[j] += far if rises else -far
            else:
                room = move.room.up[j] - work.shift[j] if rises else move.room.down[j] + work.shift[j]
                far = min(far, room)
            side = 2 * other + ((there > 0) != rises)
    return far


@compiled
def through_network(on: ClassEquations, move: Move, cost: FloatArray, work: Scratch) -> int:
    """Find a circuit of hidden cells in a network, by few and short ways; return how many cells, 0 where none is found.

    A cell that moves leaves an equation too high or too low, and the next one carries that on to its other equation. A
    side of an equation is 2e where it is too low, 2e + 1 where it is too high.
    """
    p, found, moves, place = move.cell, work.found, work.moves, work.column_of
    if not on.network or on.begins[p + 1] - on.begins[p] != 2:
        return 0
    last, here, there = _across(on, p, on.rows[on.begins[p]])
    start, goal = 2 * on.rows[on.begins[p]] + (here > 0), 2 * last + (there < 0)
    left, count = move.amount, 1
    found[0], place[p], work.shift[p] = p, 0, move.amount
    for _ in range(WAYS):
        end = _path(on, move, start, goal, cost, work)
        if end == 0:
            break
        left -= _carry(on, move, start, goal, left, work)
        side = goal
        while side != start:
            j, high = work.came[side], side % 2 == 1
            if place[j] < 0:
                found[count], place[j] = j, count
                count += 1
            other, here, there = _across(on, j, side // 2)
            side = 2 * other + ((there > 0) != ((here > 0) == high))
        for i in range(end):
            work.came[work.queue[i]] = -1
        if left <= 0:
            break
    kept = 0
    for k in range(count):
        j = found[k]
        if work.shift[j] != 0.0:
            found[kept], moves[kept] = j, work.shift[j]
            kept += 1
        place[j], work.shift[j] = -1, 0.0
    return kept if left <= 0 else 0
