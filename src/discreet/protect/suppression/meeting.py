"""Patterns of suppressed cells that carry their own proof: a circuit for every demand, kept up to date.

A demand asks that one cell can move by some amount, up, down or both ways, as seen by one attacker. It is met by a
circuit of suppressed cells, in whole numbers. Cells may be released as long as every demand has a circuit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.compiled import compiled
from discreet.protect.suppression.circuits import DEAR, EFFORT, FOUND, LARGE, NONE, cheapest

TRIES = 24
"""How often a circuit with broken moves is looked for again without one of its broken cells."""
CLOSE = 0.01
"""How near to a whole number a move must be to be taken for it; whether all sums stay is then checked exactly."""
FINE = 2.0**20
"""How many units a large amount is moved by."""
PARTS = 12
"""By how much units grow where moves are broken: most parts are halves, thirds, quarters or sixths."""
HASTE = 30.0
"""How much less effort goes into moving large amounts: integer programming does it better."""
WIDER = 8.0
"""By how much the largest price that is tried grows."""


@compiled
def settle(
    q: int, limit: float, problem: Any, demands: Any, cost: Any, work: Any, tries: int = TRIES
) -> tuple[int, int]:
    """Find the cheapest circuit in whole numbers for a demand; the moves stand in the workspace.

    Where it has broken moves, it is looked for again as often as ``tries`` says; the last one stays in the workspace.
    """
    down, up, least = problem[5], problem[6], problem[7]
    cell, size, mode, attacker, known_start, known_cell, known_down, known_up = demands
    a, b = (least, least) if mode[q] == 0 else (down, up) if mode[q] > 0 else (up, down)
    first, last = known_start[attacker[q]], known_start[attacker[q] + 1]
    kept_a, kept_b = np.empty(last - first), np.empty(last - first)
    for i in range(first, last):
        j = known_cell[i]
        kept_a[i - first], kept_b[i - first] = a[j], b[j]
        low, high = known_down[i], known_up[i]
        if mode[q] == 0:
            low = high = min(low, high)
        elif mode[q] < 0:
            low, high = high, low
        a[j], b[j] = min(a[j], low), min(b[j], high)
    outcome, count = _circuit(cell[q], float(size[q]), mode[q], a, b, limit, problem, cost, work, tries)
    for i in range(last - first - 1, -1, -1):
        a[known_cell[first + i]], b[known_cell[first + i]] = kept_a[i], kept_b[i]
    return outcome, count


@compiled
def _circuit(
    p: int, amount: float, mode: int, a: Any, b: Any, limit: float, problem: Any, cost: Any, work: Any, most_tries: int
) -> tuple[int, int]:
    """Find the cheapest circuit in whole numbers that moves a cell by an amount, within bounds a below and b above."""
    starts, columns, signs, begins, rows = problem[:5]
    base, most = problem[8], problem[9]
    found, moves = work[5], work[6]
    barred, kept_cost = np.empty(most_tries, np.int64), np.empty(most_tries)
    tries = 0
    reach = min(limit, base)
    own = amount
    # Large amounts are moved in steps of a unit, so that floating-point numbers tell whole ones from others.
    unit = 1.0
    while amount > unit * FINE:
        unit *= 2.0
    stepped, sifted = unit > 1, False
    patience = EFFORT if own < PARTS else EFFORT / HASTE
    while True:
        if stepped:
            amount = np.ceil(own / unit) * unit
            a, b = np.floor(a / unit) * unit, np.floor(b / unit) * unit
            stepped = False
        outcome, count, _ = cheapest(p, amount, starts, columns, signs, begins, rows, cost, a, b, reach, work, patience)
        if outcome == LARGE and own >= PARTS and not sifted:
            # Many cells that can move a little make the search long: it is tried without them.
            a, b = np.where(a < own / PARTS, 0.0, a), np.where(b < own / PARTS, 0.0, b)
            sifted = True
            continue
        if outcome != FOUND and reach < limit and outcome != LARGE:
            # Cheap cells are tried first: the tableau stays small.
            reach = min(limit, reach * WIDER) if reach < most else limit
            continue
        if outcome != FOUND:
            break
        if _whole(p, own, count, found, moves, a, b, mode, unit) and _fits(
            count, found, moves, starts, columns, signs, begins, rows
        ):
            break
        if most_tries > 0 and own >= PARTS * unit and unit < PARTS:
            # Halves and thirds of coarser steps are whole.
            unit *= PARTS
            stepped = True
            continue
        worst = -1
        for i in range(count):
            broken = found[i] != p and abs(moves[i] - np.rint(moves[i] / unit) * unit) > CLOSE * unit
            if broken and (worst < 0 or cost[found[i]] > cost[found[worst]]):
                worst = i
        if worst < 0 or tries == most_tries:
            outcome = LARGE
            break
        barred[tries], kept_cost[tries] = found[worst], cost[found[worst]]
        cost[found[worst]] = np.inf
        tries += 1
    for i in range(tries):
        cost[barred[i]] = kept_cost[i]
    # Without some cells, or in coarser steps, nothing was found; that says nothing about others.
    if (tries > 0 or unit > 1 or sifted) and outcome == NONE:
        outcome = LARGE
    return outcome, count


@compiled
def _whole(p: int, own: float, count: int, found: Any, moves: Any, down: Any, up: Any, mode: int, unit: float) -> bool:
    """Make the moves whole, by the smallest factor within bounds if they are not; false where there is none."""
    for factor in range(1, 7):
        fine = True
        for i in range(count):
            v = np.rint(moves[i] * factor / unit) * unit
            j = found[i]
            if abs(moves[i] * factor - v) > CLOSE * unit:
                fine = False
            # A cell can move as far as it is asked to, but not always further.
            if (j != p or v > own) and (v > up[j] or -v > down[j]):
                fine = False
            if j == p and v > own and mode == 0 and v > down[j]:
                fine = False
        if fine:
            for i in range(count):
                moves[i] = np.rint(moves[i] * factor / unit) * unit
            return True
    return False


@compiled
def _fits(count: int, found: Any, moves: Any, starts: Any, columns: Any, signs: Any, begins: Any, rows: Any) -> bool:
    """Check in whole numbers that every sum stays."""
    for i in range(count):
        for k in range(begins[found[i]], begins[found[i] + 1]):
            total = 0.0
            for t in range(starts[rows[k]], starts[rows[k] + 1]):
                for other in range(count):
                    if found[other] == columns[t]:
                        total += signs[t] * moves[other]
                        break
            if total != 0.0:
                return False
    return True


@compiled
def reserve(pool: Any, end: int, extra: int) -> Any:
    """Return a pool with room for more entries."""
    if end + extra <= pool.shape[1]:
        return pool
    larger = np.empty((pool.shape[0], 2 * (end + extra)), np.int64)
    larger[:, :end] = pool[:, :end]
    return larger


@compiled
def keep(q: int, flip: float, count: int, found: Any, moves: Any, where: Any, pool: Any, end: int, head: Any) -> int:
    """Store a circuit as the proof of a demand, and remember which cells it needs."""
    where[q, 0], where[q, 1] = end, count
    for i in range(count):
        pool[0, end], pool[1, end], pool[2, end] = found[i], int(moves[i] * flip), q
        pool[3, end] = head[found[i]]
        head[found[i]] = end
        end += 1
    return end


@compiled
def probe(order: Any, problem: Any, demands: Any, cost: Any, work: Any) -> tuple[Any, Any]:
    """Return what meeting each demand alone would cost, infinite where it cannot be met, and the outcomes."""
    alone, outcomes = np.zeros(order.size), np.zeros(order.size, np.int64)
    for i in range(order.size):
        outcome, count = settle(order[i], np.inf, problem, demands, cost, work)
        outcomes[i] = outcome
        if outcome == FOUND:
            for k in range(count):
                alone[i] += cost[work[5][k]]
        else:
            alone[i] = np.inf
    return alone, outcomes


@compiled
def _share(
    q: int, count: int, by_cell: Any, demands: Any, where: Any, pool: Any, end: int, head: Any, work: Any
) -> tuple[Any, int]:
    """Keep a circuit for a demand, and for others without one that it serves as well."""
    size, mode, attacker = demands[1], demands[2], demands[3]
    found, moves = work[5], work[6]
    pool = reserve(pool, end, count)
    end = keep(q, 1.0, count, found, moves, where, pool, end, head)
    if attacker[q] == 0:
        for i in range(count):
            for k in range(by_cell[0][found[i]], by_cell[0][found[i] + 1]):
                other = by_cell[1][k]
                if where[other, 1] == 0 and attacker[other] == 0 and mode[other] == mode[q]:
                    flip = -1.0 if mode[q] == 0 and moves[i] < 0 else 1.0
                    if moves[i] * flip >= size[other]:
                        pool = reserve(pool, end, count)
                        end = keep(other, flip, count, found, moves, where, pool, end, head)
    return pool, end


@compiled
def survey(
    order: Any, by_cell: Any, problem: Any, demands: Any, cost: Any, hidden: Any, where: Any, pool: Any, end: int,
    head: Any, work: Any,
) -> tuple[Any, int, Any]:  # fmt: skip
    """Meet the demands that need no further cell; return what each of the others would cost alone."""
    alone = np.zeros(order.size)
    for i in range(order.size):
        q = order[i]
        if where[q, 1] > 0:
            continue
        outcome, count = settle(q, np.inf, problem, demands, cost, work)
        if outcome != FOUND:
            alone[i] = np.inf
            continue
        free = True
        for k in range(count):
            alone[i] += cost[work[5][k]]
            free = free and hidden[work[5][k]]
        if free:
            pool, end = _share(q, count, by_cell, demands, where, pool, end, head, work)
    return pool, end, alone


@compiled
def meet(
    order: Any, by_cell: Any, problem: Any, demands: Any, cost: Any, slight: Any, hidden: Any, where: Any, pool: Any,
    end: int, head: Any, work: Any,
) -> tuple[Any, int, Any]:  # fmt: skip
    """Meet demands one after another by their cheapest circuits; return the pool and what could not be met."""
    failed = np.full(order.size, -1, np.int64)
    lost = 0
    for q in order:
        if where[q, 1] > 0:
            continue
        outcome, count = settle(q, np.inf, problem, demands, cost, work)
        if outcome != FOUND:
            failed[lost] = q
            lost += 1
            continue
        for i in range(count):
            j = work[5][i]
            if not hidden[j]:
                hidden[j], cost[j] = True, slight[j]
        pool, end = _share(q, count, by_cell, demands, where, pool, end, head, work)
    return pool, end, failed[:lost]


@compiled
def compact(where: Any, pool: Any, end: int, head: Any) -> int:
    """Drop circuits that are no longer the proof of anything."""
    live = 0
    head[:] = -1
    for t in range(end):
        q = pool[2, t]
        if where[q, 1] == 0 or t < where[q, 0] or t >= where[q, 0] + where[q, 1]:
            continue
        if t == where[q, 0]:
            pool[4, live] = 1
        else:
            pool[4, live] = 0
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
def _needed(j: int, exchange: bool, price: Any, problem: Any, primary: Any, hidden: Any) -> bool:
    """Say whether a sum shows at once that a cell cannot be released: a sensitive one would be alone in it."""
    starts, columns, begins, rows = problem[0], problem[1], problem[3], problem[4]
    for k in range(begins[j], begins[j + 1]):
        e = rows[k]
        others, sensitive, least = 0, 0, -1
        for i in range(starts[e], starts[e + 1]):
            c = columns[i]
            if c == j:
                continue
            if hidden[c]:
                others += 1
                sensitive += primary[c]
            elif least < 0 or price[c] < least:
                least = price[c]
        if others == 1 and sensitive == 1 and (not exchange or least < 0 or least >= price[j]):
            return True
    return False


@compiled
def _detour(
    q: int, j: int, steps: int, via: Any, shift: Any, problem: Any, demands: Any, where: Any, pool: Any, end: int
) -> int:
    """Lead the circuit of a demand past a cell j, along a circuit through it; return its length, 0 where it fails.

    ``via`` and ``shift`` are the circuit through j: its cells, and the moves of all cells. The new circuit is written
    to the end of the pool.
    """
    down, up, least = problem[5], problem[6], problem[7]
    cell, _, mode, attacker, known_start, known_cell = demands[:6]
    for i in range(known_start[attacker[q]], known_start[attacker[q] + 1]):
        if shift[known_cell[i]] != 0:
            return 0
    if shift[cell[q]] != 0:
        return 0
    a, b = (least, least) if mode[q] == 0 else (down, up) if mode[q] > 0 else (up, down)
    first, last = where[q, 0], where[q, 0] + where[q, 1]
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
        if c != cell[q] and (move > b[c] or -move > a[c]):
            return 0
        if move != 0:
            pool[0, end + count], pool[1, end + count], pool[2, end + count] = c, move, q
            count += 1
    for i in range(steps):
        c = via[i]
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
def improve(
    groups: Any, members: Any, price: Any, primary: Any, problem: Any, demands: Any, cost: Any, slight: Any,
    hidden: Any, where: Any, pool: Any, end: int, head: Any, exchange: bool, tried: Any, work: Any, most: float,
) -> tuple[Any, int, int]:  # fmt: skip
    """Release groups of cells one after another where the demands that need them can be met more cheaply.

    All cells of a group are released; demands that used them get new circuits, which may suppress other cells in
    exchange. It is kept if the price of all suppressed cells falls. ``tried`` marks cells that cannot be released as
    long as nothing changes near them. It ends when the effort of searches has come to ``most``.
    """
    n = hidden.size
    accepted = 0
    mark = np.full(where.shape[0], -1, np.int64)
    fresh, taken = np.empty(n, np.int64), np.empty(n, np.int64)
    via, shift = np.empty(n, np.int64), np.zeros(n, np.int64)
    for g in range(groups.size - 1):
        if work[7][0] > most:
            break
        gain = 0
        out = 0
        if groups[g + 1] - groups[g] == 1:
            j = members[groups[g]]
            if hidden[j] and _needed(j, exchange, price, problem, primary, hidden):
                tried[j] = True
                continue
        for t in range(groups[g], groups[g + 1]):
            j = members[t]
            if hidden[j]:
                hidden[j], cost[j] = False, float(price[j]) if exchange else np.inf
                gain += price[j]
                taken[out] = j
                out += 1
        if out == 0:
            continue
        if end > pool.shape[1] // 2:
            end = compact(where, pool, end, head)
        # The demands that need a cell of the group, in the order in which they came up.
        todo = np.empty(64, np.int64)
        count_todo = 0
        for t in range(groups[g], groups[g + 1]):
            k = head[members[t]]
            while k >= 0:
                q = pool[2, k]
                if where[q, 0] <= k < where[q, 0] + where[q, 1] and mark[q] != g:
                    mark[q] = g
                    if count_todo == todo.size:
                        longer = np.empty(2 * todo.size, np.int64)
                        longer[:count_todo] = todo
                        todo = longer
                    todo[count_todo] = q
                    count_todo += 1
                k = pool[3, k]
        single = out == 1
        if single:
            cost[taken[0]] = np.inf
        # Neighbours, and demands with short circuits, depend on the cells most: where one cannot do without them, the
        # rest need no look.
        todo = np.sort(todo[:count_todo])
        far = np.empty(count_todo, np.int64)
        for i in range(count_todo):
            near = False
            p = demands[0][todo[i]]
            for k in range(problem[3][p], problem[3][p + 1]):
                for t in range(problem[3][taken[0]], problem[3][taken[0] + 1]):
                    near = near or problem[4][k] == problem[4][t]
            far[i] = where[todo[i], 1] + (0 if near else n)
        todo = todo[np.argsort(far, kind="mergesort")]
        begin = end
        count_fresh, spent = 0, 0
        fine = True
        steps = 0
        if single and count_todo > 0:
            # One circuit through the cell shows what leading all others past it costs.
            least = problem[7]
            amount = 1
            for i in range(count_todo):
                for k in range(where[todo[i], 0], where[todo[i], 0] + where[todo[i], 1]):
                    if pool[0, k] == taken[0]:
                        amount = max(amount, abs(pool[1, k]))
            limit = gain - 0.5 if exchange else np.inf
            outcome, steps = _circuit(taken[0], float(amount), 0, least, least, limit, problem, cost, work, TRIES)
            if outcome != FOUND:
                steps, fine = 0, False
            for k in range(steps):
                c = work[5][k]
                via[k], shift[c] = c, int(work[6][k])
                if not hidden[c] and c != taken[0]:
                    hidden[c], cost[c] = True, slight[c]
                    fresh[count_fresh] = c
                    count_fresh += 1
                    spent += price[c]
            fine = fine and spent < gain
        if not single and count_todo > 1:
            # Those that would cost most come first: the others often find what they need in place.
            alone = np.zeros(count_todo)
            for i in range(count_todo):
                outcome, count = settle(todo[i], float(gain), problem, demands, cost, work)
                if outcome == DEAR:
                    fine = False
                    break
                for k in range(count):
                    alone[i] -= cost[work[5][k]]
            if fine:
                todo = todo[np.argsort(alone, kind="mergesort")]
        where_new = np.empty((count_todo, 2), np.int64)
        if fine:
            for i in range(count_todo):
                q = todo[i]
                if steps > 0:
                    pool = reserve(pool, end, steps + where[q, 1])
                    count = _detour(q, taken[0], steps, via, shift, problem, demands, where, pool, end)
                    if count > 0:
                        where_new[i, 0], where_new[i, 1] = end, count
                        end += count
                        continue
                outcome, count = settle(q, gain - spent - 0.5 if exchange else np.inf, problem, demands, cost, work)
                if outcome != FOUND:
                    fine = False
                    break
                found, moves = work[5], work[6]
                pool = reserve(pool, end, count)
                where_new[i, 0], where_new[i, 1] = end, count
                for k in range(count):
                    j = found[k]
                    if not hidden[j]:
                        hidden[j], cost[j] = True, slight[j]
                        fresh[count_fresh] = j
                        count_fresh += 1
                        spent += price[j]
                    pool[0, end], pool[1, end], pool[2, end] = j, int(moves[k]), q
                    end += 1
                if spent >= gain:
                    fine = False
                    break
        shift[via[:steps]] = 0
        if fine and spent < gain:
            accepted += 1
            for i in range(count_fresh):
                for k in range(problem[3][fresh[i]], problem[3][fresh[i] + 1]):
                    e = problem[4][k]
                    tried[problem[1][problem[0][e] : problem[0][e + 1]]] = False
            if single and exchange:
                cost[taken[0]] = float(price[taken[0]])
            for t in range(begin, end):
                pool[3, t] = head[pool[0, t]]
                head[pool[0, t]] = t
            for i in range(count_todo):
                where[todo[i], 0], where[todo[i], 1] = where_new[i, 0], where_new[i, 1]
            continue
        for i in range(count_fresh):
            hidden[fresh[i]], cost[fresh[i]] = False, float(price[fresh[i]])
        for i in range(out):
            hidden[taken[i]], cost[taken[i]] = True, slight[taken[i]]
        if single:
            tried[taken[0]] = True
        end = begin
    return pool, end, accepted


@compiled
def pay(starts: Any, columns: Any, fixed: Any, primary: Any, left: Any) -> int:
    """Return what equations with a single sensitive cell must spend on another, no cell paying more than its cost."""
    total = 0
    for e in range(starts.size - 1):
        hidden, sensitive, least = 0, 0, -1
        for i in range(starts[e], starts[e + 1]):
            j = columns[i]
            if fixed[j]:
                hidden += 1
                sensitive += primary[j]
            elif least < 0 or left[j] < least:
                least = left[j]
        if hidden == 1 and sensitive == 1 and least > 0:
            total += least
            for i in range(starts[e], starts[e + 1]):
                if not fixed[columns[i]]:
                    left[columns[i]] -= least
    return total
