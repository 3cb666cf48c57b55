"""Circuits that meet demands, in integers, each kept as the proof of its demand.

A demand asks that one cell can move by some amount, up, down or both ways, as seen by one attacker. It is met by a
circuit of suppressed cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.protect.suppression.circuits import (
    ALL,
    EFFORT,
    EXPENSIVE,
    FOUND,
    LARGE,
    NONE,
    CircuitLimits,
    Move,
    Room,
    Scratch,
    cheapest,
)
from discreet.protect.suppression.problem import ClassEquations
from discreet.protect.suppression.ways import FOR_NOTHING, through_network

TRIES = 24
"""How often a circuit with fractional moves is looked for again without one of its fractional cells. On two tables of
counts, 4 × 4 × 4 × 3, 4 instead of 24 left 15 circuits to integer programming, not 2, in 13.3 s instead of 1.4."""
CLOSE = 0.01
"""How near to an integer a move must be to be taken for it; whether all sums stay is then checked exactly."""
FINE = 2.0**20
"""The most units that a large amount is moved by: the arithmetic of searches tells integers of 20 bits apart."""
PARTS = 12
"""By how much units grow where moves are fractions: most are halves, thirds, quarters or sixths."""
HASTE = 30.0
"""How much less effort goes into moving large amounts, where linear programs do better. With 1, two tables of counts
(t3d_2k and 4 × 4 × 4 × 3) and one of 500 firms (8 × 6 × 4, p = 10%) got the same patterns by the same work."""
CROWD = 64
"""The most cells of a sum all of which are looked at: of longer ones, a few hidden cells are tried first."""
NEAR = 16
"""How many hidden cells of every sum these are."""
SHORT = 1e5
"""The most changes of a tableau in a search among them."""
WIDER = 8.0
"""By how much the largest price tried grows: few steps for expensive circuits, small tableaus for cheap ones. 2 and 64
give the same costs on t2d_100 and t2d_1k, in 1.2 to 1.3 and 1.0 to 1.1 times the time."""


class DemandColumns(NamedTuple):
    """Demands: the class, the amount, the way (up 1, down -1, both 0) and the attacker of each.

    What attacker a knows is from ``known_start[a]`` to ``known_start[a + 1]``: how far a class can move for them.
    """

    cell: IntArray
    size: IntArray
    way: IntArray
    attacker: IntArray
    known_start: IntArray
    known_cell: IntArray
    known_down: FloatArray
    known_up: FloatArray


class HeldCircuits(NamedTuple):
    """A pattern in the making: which classes are hidden, what each costs now, and where the proof of a demand is.

    ``where`` has the first entry and the length of each demand's circuit in the pool. The pool holds, for every entry,
    its class, its move, its demand, and the entry before it that uses the same class; ``head`` is the last of those.
    ``stirred`` says after how many releases something last changed near a class.
    """

    hidden: BoolArray
    cost: FloatArray
    where: IntArray
    head: IntArray
    stirred: IntArray


class CircuitSearch(NamedTuple):
    """What kernels work on: the system, the demands, the pattern in the making, and memory."""

    on: ClassEquations
    asked: DemandColumns
    held: HeldCircuits
    work: Scratch


@compiled
def settle(q: int, limit: float, search: CircuitSearch, tries: int, patience: float) -> tuple[int, int]:
    """Find the cheapest circuit in integers for a demand, and leave its moves in the workspace.

    Where it has fractional moves, it is looked for again as often as ``tries`` says; the last one stays. One search
    changes no more of a tableau than its ``patience`` says.
    """
    on, asked = search.on, search.asked
    way = asked.way[q]
    a, b = (on.least, on.least) if way == 0 else (on.down, on.up) if way > 0 else (on.up, on.down)
    first, last = asked.known_start[asked.attacker[q]], asked.known_start[asked.attacker[q] + 1]
    known = asked.known_cell[first:last]
    kept_a, kept_b = a[known], b[known]
    for i in range(first, last):
        j = asked.known_cell[i]
        low, high = asked.known_down[i], asked.known_up[i]
        if way == 0:
            low = high = min(low, high)
        elif way < 0:
            low, high = high, low
        a[j], b[j] = min(a[j], low), min(b[j], high)
    move = Move(asked.cell[q], float(asked.size[q]), way, Room(a, b))
    outcome, count = circuit(on, move, limit, search.held.cost, search.work, tries, patience)
    a[known], b[known] = kept_a, kept_b
    return outcome, count


@compiled
def circuit(
    on: ClassEquations, move: Move, limit: float, cost: FloatArray, work: Scratch, most_tries: int, most: float
) -> tuple[int, int]:
    """Find the cheapest circuit in integers that moves a cell by an amount, within its room."""
    p, own, a, b = move.cell, move.amount, move.room.down, move.room.up
    found, moves = work.found, work.moves
    barred, kept_cost = np.empty(most_tries, np.int64), np.empty(most_tries)
    crowded = _crowded(on, p)
    count = through_network(on, move, cost, work)
    if count > 0 and _fits(on, count, work):
        return FOUND, count
    if not on.network and own <= FINE and crowded:
        count = _near(on, move, cost, FOR_NOTHING, work)
        if count > 0:
            return FOUND, count
    tries = 0
    reach = min(limit, on.base)
    # Large amounts are moved in steps of a unit, in which floating-point numbers tell integers from others.
    amount, unit = own, 1.0
    while amount > unit * FINE:
        unit *= 2.0
    stepped = unit > 1
    patience = most if own < PARTS else min(most, EFFORT / HASTE)
    while True:
        if stepped:
            amount = np.ceil(own / unit) * unit
            a, b = np.floor(a / unit) * unit, np.floor(b / unit) * unit
            stepped = False
        outcome, count = cheapest(on, p, amount, cost, Room(a, b), CircuitLimits(reach, ALL, patience), work)
        # What takes too long is not tried again without cells that can move a little: for respondents of 1,000 firms in
        # five linked tables, and of 10⁵ firms, that found 9 of 131 and 1 of 29 circuits, for as much effort again.
        if outcome == EXPENSIVE and reach < limit:
            # Cheap cells are tried first: the tableau stays small.
            reach = min(limit, reach * WIDER) if reach < on.most else limit
            continue
        if outcome != FOUND:
            break
        whole = _to_integers(move, found[:count], moves[:count], Room(a, b), unit)
        if whole and _fits(on, count, work):
            break
        if most_tries > 0 and own >= PARTS * unit and unit < PARTS:
            # Halves and thirds of coarser steps are integers.
            unit *= PARTS
            stepped = True
            continue
        worst = _most_expensive_broken(p, found[:count], moves[:count], cost, unit)
        if worst < 0 or tries == most_tries:
            outcome = LARGE
            break
        barred[tries], kept_cost[tries] = found[worst], cost[found[worst]]
        cost[found[worst]] = np.inf
        tries += 1
    for i in range(tries):
        cost[barred[i]] = kept_cost[i]
    if outcome == LARGE and crowded and tries == 0 and unit == 1:
        count = _near_at_any_price(on, move, cost, reach, limit, work)
        outcome = FOUND if count > 0 else LARGE
    # Without some cells, or in coarser steps, nothing was found; that says nothing about others.
    if (tries > 0 or unit > 1) and outcome == NONE:
        outcome = LARGE
    return outcome, count


@compiled
def _crowded(on: ClassEquations, cell: int) -> bool:
    """Say whether a cell is in a long sum."""
    longest = 0
    for k in range(on.begins[cell], on.begins[cell + 1]):
        longest = max(longest, on.starts[on.rows[k] + 1] - on.starts[on.rows[k]])
    return longest > CROWD


@compiled
def _near(on: ClassEquations, move: Move, cost: FloatArray, price: float, work: Scratch) -> int:
    """Find a circuit up to a price among a few cells of each sum; return how many cells, 0 where none is found."""
    own, a, b = move.amount, move.room.down, move.room.up
    if own >= PARTS:
        a, b = np.where(a < own / PARTS, 0.0, a), np.where(b < own / PARTS, 0.0, b)
    outcome, count = cheapest(on, move.cell, own, cost, Room(a, b), CircuitLimits(price, NEAR, SHORT), work)
    if outcome != FOUND or not _to_integers(move, work.found[:count], work.moves[:count], Room(a, b), 1.0):
        return 0
    return count if _fits(on, count, work) else 0


@compiled
def _near_at_any_price(
    on: ClassEquations, move: Move, cost: FloatArray, price: float, limit: float, work: Scratch
) -> int:
    """Find a circuit among a few cells of each sum at growing prices; return how many cells, 0 where none is found.

    Where whole sums fill the tableau, a few cells of each lead to a circuit, if not to the cheapest.
    """
    count = _near(on, move, cost, price, work)
    while count == 0 and price < limit:
        price = min(limit, price * WIDER) if price < on.most else limit
        count = _near(on, move, cost, price, work)
    return count


@compiled
def _most_expensive_broken(cell: int, found: IntArray, moves: FloatArray, cost: FloatArray, unit: float) -> int:
    """Return the most expensive of the other cells whose moves are no integers, -1 where there is none."""
    worst = -1
    for i in range(found.size):
        broken = found[i] != cell and abs(moves[i] - np.rint(moves[i] / unit) * unit) > CLOSE * unit
        if broken and (worst < 0 or cost[found[i]] > cost[found[worst]]):
            worst = i
    return worst


@compiled
def _to_integers(move: Move, found: IntArray, moves: FloatArray, room: Room, unit: float) -> bool:
    """Make the moves integers, by the smallest factor within bounds that does so; false where there is none."""
    p, own = move.cell, move.amount
    for factor in range(1, 7):
        fine = True
        for i in range(found.size):
            v = np.rint(moves[i] * factor / unit) * unit
            j = found[i]
            if abs(moves[i] * factor - v) > CLOSE * unit:
                fine = False
            # A cell can move as far as it is asked to, but not always further.
            if (j != p or v > own) and (v > room.up[j] or -v > room.down[j]):
                fine = False
            if j == p and v > own and move.way == 0 and v > room.down[j]:
                fine = False
        if fine:
            for i in range(found.size):
                moves[i] = np.rint(moves[i] * factor / unit) * unit
            return True
    return False


@compiled
def _fits(on: ClassEquations, count: int, work: Scratch) -> bool:
    """Check in integers that every sum stays."""
    found, moves, place, balance = work.found, work.moves, work.column_of, work.balance
    fits = True
    for i in range(count):
        fits = fits and place[found[i]] < 0
        place[found[i]] = i
        for k in range(on.begins[found[i]], on.begins[found[i] + 1]):
            balance[on.rows[k]] += on.weights[k] * moves[i]
    for i in range(count):
        place[found[i]] = -1
        for k in range(on.begins[found[i]], on.begins[found[i] + 1]):
            fits = fits and balance[on.rows[k]] == 0.0
            balance[on.rows[k]] = 0.0
    return fits


@compiled
def reserve(pool: IntArray, end: int, extra: int) -> IntArray:
    """Return a pool with room for more entries."""
    if end + extra <= pool.shape[1]:
        return pool
    larger = np.empty((pool.shape[0], 2 * (end + extra)), np.int64)
    larger[:, :end] = pool[:, :end]
    return larger


@compiled
def keep(q: int, flip: float, found: IntArray, moves: FloatArray, held: HeldCircuits, pool: IntArray, end: int) -> int:
    """Store a circuit as the proof of a demand, and remember which cells it needs."""
    held.where[q, 0], held.where[q, 1] = end, found.size
    for i in range(found.size):
        pool[0, end], pool[1, end], pool[2, end] = found[i], int(moves[i] * flip), q
        pool[3, end] = held.head[found[i]]
        held.head[found[i]] = end
        end += 1
    return end


@compiled
def placed(cells: IntArray, there: bool, place: IntArray) -> None:
    """Record where each cell of a circuit is in it, or clear that record."""
    for i in range(cells.size):
        place[cells[i]] = i if there else -1


@compiled
def serves(other: int, way: int, moves: FloatArray, place: IntArray, asked: DemandColumns) -> float:
    """Return how a circuit that leads one ``way`` serves another demand: as it is (1), turned round (-1), or not (0).

    The attacker of the other demand must not undo it.
    """
    mine, wanted = place[asked.cell[other]], asked.way[other]
    if mine < 0 or (way != 0 and wanted == 0):
        return 0.0
    turn = float(way * wanted) if way != 0 else 1.0 if moves[mine] > 0 else -1.0
    if moves[mine] * turn < asked.size[other]:
        return 0.0
    for t in range(asked.known_start[asked.attacker[other]], asked.known_start[asked.attacker[other] + 1]):
        if place[asked.known_cell[t]] >= 0:
            by = moves[place[asked.known_cell[t]]] * turn
            low, high = asked.known_down[t], asked.known_up[t]
            if wanted == 0:
                low = high = min(low, high)
            elif wanted < 0:
                low, high = high, low
            if by > high or -by > low:
                return 0.0
    return turn


@compiled
def share(
    q: int, count: int, by_cell: tuple[IntArray, IntArray], search: CircuitSearch, pool: IntArray, end: int
) -> tuple[IntArray, int]:
    """Keep a circuit for a demand, and for others without one that it serves too."""
    asked, held, work = search.asked, search.held, search.work
    found, moves = work.found[:count], work.moves[:count]
    pool = reserve(pool, end, count)
    end = keep(q, 1.0, found, moves, held, pool, end)
    placed(found, True, work.column_of)
    for i in range(count):
        for k in range(by_cell[0][found[i]], by_cell[0][found[i] + 1]):
            other = by_cell[1][k]
            turn = serves(other, asked.way[q], moves, work.column_of, asked) if held.where[other, 1] == 0 else 0.0
            if turn != 0.0:
                pool = reserve(pool, end, count)
                end = keep(other, turn, found, moves, held, pool, end)
    placed(found, False, work.column_of)
    return pool, end


@compiled
def meet(
    order: IntArray,
    by_cell: tuple[IntArray, IntArray],
    kept: bool,
    search: CircuitSearch,
    pool: IntArray,
    end: int,
    patience: float,
) -> tuple[IntArray, int, BoolArray]:
    """Look for the cheapest circuits of demands that have none, and keep them if they are to be ``kept``.

    One search for a circuit that moves a large amount changes no more of a tableau than its ``patience`` says. Returns
    the pool, and for which demands there is a circuit. Cells of circuits that are kept are suppressed.
    """
    held, work = search.held, search.work
    met = np.ones(order.size, np.bool_)
    for i in range(order.size):
        q = order[i]
        if kept and held.where[q, 1] > 0:
            continue
        outcome, count = settle(q, np.inf, search, TRIES, EFFORT if search.asked.size[q] < PARTS else patience)
        met[i] = outcome == FOUND
        if outcome != FOUND or not kept:
            continue
        for k in range(count):
            j = work.found[k]
            if not held.hidden[j]:
                held.hidden[j], held.cost[j] = True, search.on.slight[j]
        pool, end = share(q, count, by_cell, search, pool, end)
    return pool, end, met
