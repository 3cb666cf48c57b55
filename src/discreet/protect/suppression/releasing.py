"""Cells released from a pattern as long as every demand still has a circuit.

All cells of a group are released; demands that used them get new circuits, which may suppress other cells instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray
from discreet.protect.suppression.circuits import CHANGES, FOUND, RELEASES, Move, Room
from discreet.protect.suppression.meeting import (
    TRIES,
    CircuitSearch,
    HeldCircuits,
    circuit,
    placed,
    reserve,
    serves,
    settle,
)
from discreet.protect.suppression.problem import ClassEquations


class Groups(NamedTuple):
    """Cells to release together: group g has the members from ``starts[g]`` to ``starts[g + 1]``.

    ``tried`` says after how many releases each was tried last, -1 for never; one near which nothing has changed since
    is not tried again. ``exchange`` says that others may be suppressed instead; ``most`` is where the effort ends, and
    ``patience`` the most of it for one search.
    """

    starts: IntArray
    members: IntArray
    tried: IntArray
    exchange: bool
    most: float
    patience: float


class _Trial(NamedTuple):
    """Memory for the release of one group: ``taken`` are its cells, ``fresh`` those suppressed instead.

    ``via`` and ``shift`` are a circuit through the cell that is released: its cells, and the moves of all cells.
    ``todo`` lists demands, and ``mark`` is the last group that each was listed for. ``counts`` has the number of cells
    taken and of fresh ones, and what those cost; ``patience`` is the most effort of one search.
    """

    taken: IntArray
    fresh: IntArray
    via: IntArray
    shift: IntArray
    todo: IntArray
    mark: IntArray
    counts: IntArray
    patience: float


TAKEN, FRESH, SPENT = 0, 1, 2


@compiled
def compact(held: HeldCircuits, pool: IntArray, end: int) -> int:
    """Drop circuits that are no longer the proof of anything."""
    where, head = held.where, held.head
    live = 0
    head[:] = -1
    for t in range(end):
        q = pool[2, t]
        if where[q, 1] == 0 or t < where[q, 0] or t >= where[q, 0] + where[q, 1]:
            continue
        pool[4, live] = t == where[q, 0]
        for r in range(3):
            pool[r, live] = pool[r, t]
        live += 1
    for t in range(live):
        if pool[4, t] == 1:
            where[pool[2, t], 0] = t
        pool[3, t] = head[pool[0, t]]
        head[pool[0, t]] = t
    return live


@compiled
def _owed(j: int, exchange: bool, on: ClassEquations, held: HeldCircuits) -> int:
    """Return what single sums show to be the least price of cells suppressed in place of one: its own where none can.

    Where a sensitive cell would be alone in a sum, another one must be suppressed.
    """
    owed = 0
    for k in range(on.begins[j], on.begins[j + 1]):
        e = on.rows[k]
        others, sensitive, least = 0, 0, on.price[j]
        for i in range(on.starts[e], on.starts[e + 1]):
            c = on.columns[i]
            if c == j:
                continue
            if held.hidden[c]:
                others += 1
                sensitive += on.primary[c]
            elif exchange:
                least = min(least, on.price[c])
        if others == 1 and sensitive == 1:
            owed = max(owed, least)
    return owed


@compiled
def _due(g: int, groups: Groups, on: ClassEquations, held: HeldCircuits) -> bool:
    """Say whether a group is worth a trial: something has changed near it, and no sum shows that nothing is gained."""
    changed, worth, owed = False, 0, 0
    for t in range(groups.starts[g], groups.starts[g + 1]):
        j = groups.members[t]
        if held.hidden[j]:
            changed = changed or held.stirred[j] > groups.tried[g]
            worth += on.price[j]
            owed += _owed(j, groups.exchange, on, held)
    return changed and owed < worth


@compiled
def _take_out(g: int, groups: Groups, on: ClassEquations, held: HeldCircuits, trial: _Trial) -> int:
    """Release the cells of a group; return what that saves."""
    trial.counts[:] = 0
    gain = 0
    for t in range(groups.starts[g], groups.starts[g + 1]):
        j = groups.members[t]
        if held.hidden[j]:
            held.hidden[j], held.cost[j] = False, float(on.price[j]) if groups.exchange else np.inf
            gain += on.price[j]
            trial.taken[trial.counts[TAKEN]] = j
            trial.counts[TAKEN] += 1
    return gain


@compiled
def _users(g: int, groups: Groups, held: HeldCircuits, pool: IntArray, trial: _Trial) -> IntArray:
    """Return the demands whose circuits need a cell of a group, in order."""
    count = 0
    for t in range(groups.starts[g], groups.starts[g + 1]):
        k = held.head[groups.members[t]]
        while k >= 0:
            q = pool[2, k]
            if held.where[q, 0] <= k < held.where[q, 0] + held.where[q, 1] and trial.mark[q] != g:
                trial.mark[q] = g
                trial.todo[count] = q
                count += 1
            k = pool[3, k]
    return np.sort(trial.todo[:count])


@compiled
def _nearest_first(todo: IntArray, search: CircuitSearch, trial: _Trial) -> IntArray:
    """Sort demands: neighbours of what is released and those with short circuits depend on it most.

    Where one cannot do without it, the rest need not be tried.
    """
    on, asked, held = search.on, search.asked, search.held
    far = np.empty(todo.size, np.int64)
    for i in range(todo.size):
        shared = 0
        p = asked.cell[todo[i]]
        for k in range(on.begins[p], on.begins[p + 1]):
            for cell in trial.taken[: trial.counts[TAKEN]]:
                for t in range(on.begins[cell], on.begins[cell + 1]):
                    shared += on.rows[k] == on.rows[t]
        far[i] = held.where[todo[i], 1] - shared * held.hidden.size
    return todo[np.argsort(far, kind="mergesort")]


@compiled
def _hide(j: int, on: ClassEquations, held: HeldCircuits, trial: _Trial) -> None:
    """Suppress a cell in exchange for what was released."""
    held.hidden[j], held.cost[j] = True, on.slight[j]
    trial.fresh[trial.counts[FRESH]] = j
    trial.counts[FRESH] += 1
    trial.counts[SPENT] += on.price[j]


@compiled
def _bypass(todo: IntArray, limit: float, search: CircuitSearch, pool: IntArray, trial: _Trial) -> int:
    """Find one circuit through a cell, which shows what leading all others past it costs; return its length or -1."""
    on, held, work, cell = search.on, search.held, search.work, trial.taken[0]
    amount = 1
    for i in range(todo.size):
        for k in range(held.where[todo[i], 0], held.where[todo[i], 0] + held.where[todo[i], 1]):
            if pool[0, k] == cell:
                amount = max(amount, abs(pool[1, k]))
    move = Move(cell, float(amount), 0, Room(on.least, on.least))
    outcome, steps = circuit(on, move, limit, held.cost, work, TRIES, trial.patience)
    if outcome != FOUND:
        return -1
    for k in range(steps):
        c = work.found[k]
        trial.via[k], trial.shift[c] = c, int(work.moves[k])
        if not held.hidden[c] and c != cell:
            _hide(c, on, held, trial)
    return steps


@compiled
def _write(q: int, count: int, search: CircuitSearch, pool: IntArray, end: int, trial: _Trial) -> None:
    """Write the circuit that was found for a demand to the end of the pool, and suppress what it needs."""
    for k in range(count):
        j = search.work.found[k]
        if not search.held.hidden[j]:
            _hide(j, search.on, search.held, trial)
        pool[0, end + k], pool[1, end + k], pool[2, end + k] = j, int(search.work.moves[k]), q


@compiled
def _share(
    i: int, todo: IntArray, search: CircuitSearch, pool: IntArray, end: int, where_new: IntArray
) -> tuple[IntArray, int]:
    """Give the new circuit of a demand to others that still need one and that it serves too."""
    asked, place, way = search.asked, search.work.column_of, search.asked.way[todo[i]]
    begin, count = where_new[i, 0], where_new[i, 1]
    cells, moves = pool[0, begin : begin + count].copy(), pool[1, begin : begin + count].astype(np.float64)
    placed(cells, True, place)
    for k in range(todo.size):
        turn = serves(todo[k], way, moves, place, asked) if where_new[k, 0] < 0 else 0.0
        if turn != 0.0:
            pool = reserve(pool, end, count)
            for t in range(count):
                pool[0, end + t], pool[1, end + t], pool[2, end + t] = cells[t], int(moves[t] * turn), todo[k]
            where_new[k, 0], where_new[k, 1] = end, count
            end += count
    placed(cells, False, place)
    return pool, end


@compiled
def _most_expensive_first(
    todo: IntArray, gain: int, search: CircuitSearch, pool: IntArray, end: int, where_new: IntArray, trial: _Trial
) -> tuple[IntArray, int, IntArray]:
    """Meet demands by hidden cells alone where that can be; sort the others by what they would cost alone.

    The most expensive come first, since others often find their cells hidden by then. Returns the pool and the places
    of those demands, or one that is -1 where a demand alone costs more than is gained.
    """
    alone = np.zeros(todo.size)
    for i in range(todo.size):
        if where_new[i, 0] >= 0:
            continue
        outcome, count = settle(todo[i], float(gain), search, TRIES, trial.patience)
        if outcome != FOUND:
            return pool, end, np.full(1, -1)
        for k in range(count):
            if not search.held.hidden[search.work.found[k]]:
                alone[i] -= search.held.cost[search.work.found[k]]
        if alone[i] == 0.0:
            pool = reserve(pool, end, count)
            _write(todo[i], count, search, pool, end, trial)
            where_new[i, 0], where_new[i, 1] = end, count
            pool, end = _share(i, todo, search, pool, end + count, where_new)
            alone[where_new[:, 0] >= 0] = 0.0
    left = np.count_nonzero(alone)
    return pool, end, np.argsort(alone, kind="mergesort")[:left]


@compiled
def _detour(q: int, steps: int, search: CircuitSearch, pool: IntArray, end: int, trial: _Trial) -> int:
    """Lead the circuit of a demand past a cell, along a circuit through it; return its length, 0 where it fails.

    The new circuit is written to the end of the pool.
    """
    on, asked, held = search.on, search.asked, search.held
    shift, j = trial.shift, trial.taken[0]
    for i in range(asked.known_start[asked.attacker[q]], asked.known_start[asked.attacker[q] + 1]):
        if shift[asked.known_cell[i]] != 0:
            return 0
    own = asked.cell[q]
    if shift[own] != 0:
        return 0
    way = asked.way[q]
    a, b = (on.least, on.least) if way == 0 else (on.down, on.up) if way > 0 else (on.up, on.down)
    first, last = held.where[q, 0], held.where[q, 0] + held.where[q, 1]
    times = 0
    for t in range(first, last):
        if pool[0, t] == j:
            times = pool[1, t]
    if times % shift[j] != 0:
        return 0
    times //= shift[j]
    count = 0
    for t in range(first, last):
        c = pool[0, t]
        move = pool[1, t] - times * shift[c]
        if c != own and (move > b[c] or -move > a[c]):
            return 0
        if move != 0:
            pool[0, end + count], pool[1, end + count], pool[2, end + count] = c, move, q
            count += 1
    for i in range(steps):
        c = trial.via[i]
        move = -times * shift[c]
        inside = False
        for t in range(first, last):
            inside = inside or pool[0, t] == c
        if not inside:
            if move > b[c] or -move > a[c]:
                return 0
            pool[0, end + count], pool[1, end + count], pool[2, end + count] = c, move, q
            count += 1
    return count


@compiled
def _accept(
    todo: IntArray, where_new: IntArray, begin: int, end: int, search: CircuitSearch, pool: IntArray, trial: _Trial
) -> None:
    """Keep new circuits; what is near a cell that was suppressed instead may be released again."""
    on, held = search.on, search.held
    search.work.tally[RELEASES] += 1
    for i in range(trial.counts[FRESH]):
        for k in range(on.begins[trial.fresh[i]], on.begins[trial.fresh[i] + 1]):
            e = on.rows[k]
            held.stirred[on.columns[on.starts[e] : on.starts[e + 1]]] = search.work.tally[RELEASES]
    for t in range(begin, end):
        pool[3, t] = held.head[pool[0, t]]
        held.head[pool[0, t]] = t
    for i in range(todo.size):
        held.where[todo[i], 0], held.where[todo[i], 1] = where_new[i, 0], where_new[i, 1]


@compiled
def _undo(on: ClassEquations, held: HeldCircuits, trial: _Trial) -> None:
    """Hide again what was released, and publish what was suppressed instead."""
    for i in range(trial.counts[FRESH]):
        held.hidden[trial.fresh[i]], held.cost[trial.fresh[i]] = False, float(on.price[trial.fresh[i]])
    for i in range(trial.counts[TAKEN]):
        held.hidden[trial.taken[i]], held.cost[trial.taken[i]] = True, on.slight[trial.taken[i]]


@compiled
def _lead_past(
    todo: IntArray, gain: int, exchange: bool, search: CircuitSearch, pool: IntArray, end: int, trial: _Trial
) -> tuple[IntArray, int, bool, IntArray]:
    """Give demands circuits without the cells that are released.

    Returns the pool, whether that is cheaper than what was released, and where the new circuits are.
    """
    where_new = np.full((todo.size, 2), -1, np.int64)
    order, steps = np.arange(todo.size), 0
    if trial.counts[TAKEN] == 1 and todo.size > 0:
        steps = _bypass(todo, gain - 0.5 if exchange else np.inf, search, pool, trial)
    elif todo.size > 1:
        pool, end, order = _most_expensive_first(todo, gain, search, pool, end, where_new, trial)
    fine = steps >= 0 and (order.size == 0 or order[0] >= 0) and trial.counts[SPENT] < gain
    for i in order:
        if not fine:
            break
        if where_new[i, 0] >= 0:
            continue
        q, count = todo[i], 0
        if steps > 0:
            pool = reserve(pool, end, steps + search.held.where[q, 1])
            count = _detour(q, steps, search, pool, end, trial)
        if count == 0:
            limit = gain - trial.counts[SPENT] - 0.5 if exchange else np.inf
            outcome, count = settle(q, limit, search, TRIES, trial.patience)
            if outcome != FOUND:
                fine = False
                break
            pool = reserve(pool, end, count)
            _write(q, count, search, pool, end, trial)
            fine = trial.counts[SPENT] < gain
        where_new[i, 0], where_new[i, 1] = end, count
        end += count
        if fine:
            pool, end = _share(i, todo, search, pool, end, where_new)
    for k in range(steps):
        trial.shift[trial.via[k]] = 0
    return pool, end, fine, where_new


@compiled
def improve(groups: Groups, search: CircuitSearch, pool: IntArray, end: int) -> tuple[IntArray, int, int]:
    """Release groups of cells one after another where the demands that need them can be met more cheaply.

    A release is kept if the price of all suppressed cells falls. Returns the pool and how many were kept.
    """
    on, held = search.on, search.held
    n, accepted, live = held.hidden.size, 0, end
    trial = _Trial(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.int64),
        np.empty(held.where.shape[0], np.int64),
        np.full(held.where.shape[0], -1, np.int64),
        np.zeros(3, np.int64),
        groups.patience,
    )
    for g in range(groups.starts.size - 1):
        if search.work.tally[CHANGES] > groups.most:
            break
        if not _due(g, groups, on, held):
            continue
        groups.tried[g] = search.work.tally[RELEASES]
        gain = _take_out(g, groups, on, held, trial)
        single, cell = trial.counts[TAKEN] == 1, trial.taken[0]
        if end > 2 * live:
            end = live = compact(held, pool, end)
        todo = _users(g, groups, held, pool, trial)
        if single:
            held.cost[cell] = np.inf
        todo = _nearest_first(todo, search, trial)
        begin = end
        pool, end, fine, where_new = _lead_past(todo, gain, groups.exchange, search, pool, end, trial)
        if fine:
            accepted += 1
            if single and groups.exchange:
                held.cost[cell] = float(on.price[cell])
            _accept(todo, where_new, begin, end, search, pool, trial)
        else:
            _undo(on, held, trial)
            end = begin
    return pool, end, accepted
