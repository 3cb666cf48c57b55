"""Circuits in integers by linear and integer programming, for demands that take other searches too long.

Where there is none, the error says which cells would have to be suppressed that must not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.highs import Outcome, Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import Rows, row_of
from discreet.protect.suppression.insider_knowledge import NOBODY, InsiderKnowledge, by_class
from discreet.protect.suppression.problem import Problem, state

STEPS = (4, 6, 1_000_000)
"""How many equations away from the cell circuits may lead, one attempt after another: most are found among a few
thousand cells near by, where integer programs are fast, and the last attempt has the whole table."""
NEAR = 3
"""The same among hidden cells alone. For 1,000 firms in five linked tables, 16 of 25 circuits for respondents are found
there in 10 ms each, 24 with 4 in 23 ms, and none with 2; all hidden cells take 28 ms."""
NODES = 2_000
"""The effort of one attempt, counted in nodes to be the same on any machine. With a tenth or ten times as many, two
tables of 4 × 4 × 4 × 3 counts got the same patterns in the same time: attempts that succeed take far fewer."""
FEW_NODES = 20
"""The same beside statistics: these can be hidden too, so a circuit that takes long is given up. On three tables of
counts, 4 × 3 × 3 to 6 × 4 × 3, whose percentages no pattern can keep, 2,000 takes twice the time to find that out, and
2 between 0.4 and 0.9 times. Where few cells are sensitive (4 × 3 to 8 × 5), no program is needed."""
FINE = 1024
"""The most steps by which an amount is moved in the first attempt: integers of few digits keep programs short."""
PARTS = 12
"""What steps of large amounts are multiples of: halves, thirds, quarters and sixths of a step are then integers."""
HALVES = (2, 6)
"""Steps of small amounts that are tried over real numbers first: halves and thirds of them are integers, and what an
integer program takes seconds for, a linear one finds in a tenth of one."""
BARRED = 8
"""How many cells with fractional moves are left out, one after another, before something else is tried. For the
turnover of 3,000 firms in five linked tables 35 of 36 circuits with fractions had integers after 7 or fewer."""
TRIES = 3
"""How often a circuit is replaced by a cheaper one. On the same tables 1 and 20 gave the same patterns, 20 in 1.1 times
the time."""
GAP = 0.05
"""How far from the cheapest a circuit may be. On the same tables 0 and 0.2 gave the same patterns, in 1.1 and 0.9 times
the time."""
CLOSE = 1e-5
"""How near to an integer a move must be to be taken for it; whether all sums stay is then checked exactly."""
FEW = 5
"""How many conflicting cells a message names, to keep it readable."""
LATE = "no safe pattern was found"
"""What is missing when time is up."""
Moves: TypeAlias = tuple[IntArray, IntArray]
"""A circuit: the classes that move, and by how much."""
Facts: TypeAlias = tuple[IntArray, FloatArray, FloatArray]
"""How far somebody knows that some classes can move down and up."""


class _Wanted(NamedTuple):
    """A circuit that is looked for: ``cell`` moves up by ``size`` steps of ``step`` units, others within their room."""

    problem: Problem
    cell: int
    size: int
    step: int
    cost: FloatArray
    down: FloatArray
    up: FloatArray
    clock: Clock

    def run(self, program: Program) -> Outcome:
        """Solve a program in the time that is left; refuse what comes later."""
        outcome = program.run(self.clock.left)
        self.clock.refuse_late(LATE)
        return outcome


def rescue(
    problem: Problem,
    cell: int,
    size: int,
    way: int,
    cost: FloatArray,
    known: Facts,
    hint: IntArray,
    clock: Clock | None = None,
) -> Moves | None:
    """Return a circuit of integers that moves a class by at least `size`, or None where there is none.

    Moves are counted as the demand counts them: up even where it asks for down. The cells of ``hint``, those of a
    circuit with fractional moves, are tried first.
    """
    down, up = _room(problem, way, known)
    # Large amounts are moved in coarse steps: parts of them are integers, and integer programming, which comes last, is
    # lost among integers of many digits.
    unit = PARTS if size >= PARTS * PARTS else 1
    while size > unit * FINE:
        unit *= 2
    coarser = [(unit * more, False) for more in (1, 5, 35) if 1 < unit * more <= size // PARTS]
    if unit == 1:
        coarser = [*((step, False) for step in HALVES if 2 * step <= size), *coarser]
    until = clock or Clock()
    whole, usable = _Wanted(problem, cell, size, 1, cost, down, up, until), np.isfinite(cost)
    usable[cell] = True
    for attempt, (step, integers) in enumerate((*coarser, (unit, True), *([(1, True)] if unit > 1 else []))):
        # What cannot be over real numbers, with every class that may move, need not be tried in other steps.
        if attempt == 1:
            over_real = _program(whole, _without_rest(problem, np.flatnonzero(usable)))[-1]
            if whole.run(over_real) == "infeasible":
                return None
        steps = -(-size // step)
        if step == 1 or steps * step <= min(up[cell], down[cell] if way == 0 else np.inf):
            # What has no bound stays without.
            below, above = (np.where(side >= 2**52, side, np.floor(side / step)) for side in (down, up))
            found = _search(_Wanted(problem, cell, steps, step, cost, below, above, until), hint, integers)
            if found is not None:
                return found
    return None


def _room(problem: Problem, way: int, known: Facts) -> tuple[FloatArray, FloatArray]:
    """Return how far classes can move down and up for somebody, as a demand counts that asks for a way."""
    down, up = problem.on.down.copy(), problem.on.up.copy()
    at, less, more = known
    np.minimum.at(down, at, less)
    np.minimum.at(up, at, more)
    if way == 0:
        down = up = np.minimum(down, up)
    return (down, up) if way >= 0 else (up, down)


def _search(wanted: _Wanted, hint: IntArray, integers: bool) -> Moves | None:
    """Look for a circuit among the cells of the hint, then those already suppressed, and then further and further away.

    Once there is one, integer programs are not asked for another further away: they take long there.
    """
    problem, cell, cost = wanted.problem, wanted.cell, wanted.cost
    can = (wanted.down > 0) | (wanted.up > 0)

    def within(region: BoolArray) -> Moves | None:
        # What cannot move is left out.
        region &= can
        region[cell] = True
        return _solve(wanted, np.flatnonzero(region), integers and best is None, BARRED if best is None else 0)

    def price(found: Moves) -> int:
        return int(problem.on.price[found[0][~hidden[found[0]]]].sum())

    hidden = (cost < problem.on.price) | (problem.free & np.isfinite(cost))
    best: Moves | None = None
    if hint.size:
        best = within(np.isin(np.arange(problem.size), hint))
    region = np.arange(problem.size) == cell
    if best is None or price(best) > 0:
        near = region
        for _ in range(NEAR):
            near = _wider(problem, near, hidden & can)
        best = _solve(wanted, np.flatnonzero(near), False, BARRED) or within(hidden.copy()) or best
    done, before = 0, 0
    usable = np.isfinite(cost) & can
    for steps in STEPS:
        # More than the sensitive cell itself is much to pay: it may be had for less further away.
        if best is not None and price(best) <= max(problem.on.price[cell], 1):
            break
        while done < steps:
            grown = _wider(problem, region, usable)
            done += 1
            if int(grown.sum()) == int(region.sum()):
                done = steps
            region = grown
        if int(region.sum()) == before or (best is not None and steps == STEPS[-1]):
            continue
        before = int(region.sum())
        found = within(region)
        if found is not None and (best is None or price(found) < price(best)):
            best = found
    return best


def _wider(problem: Problem, region: BoolArray, usable: BoolArray) -> BoolArray:
    """Return a region with all usable classes that share an equation with it."""
    on = problem.on
    row = row_of(on.starts)
    touched = np.zeros(on.starts.size - 1, bool)
    touched[row[region[on.columns]]] = True
    grown = region.copy()
    grown[on.columns[touched[row]]] = True
    return grown & (usable | region)


def _program(
    wanted: _Wanted, cells: IntArray, whole: bool = False
) -> tuple[Rows, tuple[FloatArray, FloatArray], Program]:
    """Return the equations of some cells with their ends, and the program of a cheap circuit: moves up, then down."""
    size, down, up = wanted.size, wanted.down[cells], wanted.up[cells]
    rows = wanted.problem.rows.among(cells, wanted.problem.size)
    some = np.flatnonzero(rows.lengths)
    rows, ends = rows.taken(some), _ranges(wanted, some)
    n = cells.size
    both = rows.beside(rows._replace(values=-rows.values), n)
    at = int(np.searchsorted(cells, wanted.cell))
    # A cell that can only move a part of the way bears its cost all the same.
    each = wanted.cost[cells] / np.clip(np.maximum(down, up), 1.0, float(size))
    # A solver tells costs apart that are not too different: next to nothing is a billionth of the most expensive.
    each = np.maximum(each / each.max() * 1e6, 1e-3)
    # Nothing has to move a thousand times as far as the sensitive cell, and solvers lose their way in large ranges.
    lower, upper = np.zeros(2 * n), np.minimum(np.concatenate([up, down]), 1000.0 * size)
    lower[at], upper[at], upper[n + at] = size, max(size, upper[at]), 0.0
    nodes = FEW_NODES if wanted.problem.left else NODES
    # From no moves at all the dual method reaches a circuit in fewer steps than it takes to simplify the program.
    simplified = "choose" if whole else "off"
    return (
        rows,
        ends,
        Program(
            both,
            costs=np.concatenate([each, each]),
            lower=lower,
            upper=upper,
            sums=ends,
            whole=whole,
            options={
                "mip_max_nodes": nodes,
                "mip_max_improving_sols": TRIES,
                "mip_rel_gap": GAP,
                "presolve": simplified,
            },
        ),
    )


def _without_rest(problem: Problem, cells: IntArray) -> IntArray:
    """Leave out what is left over of statistics: it is a range of its row."""
    return cells[cells < problem.size - problem.left]


def _solve(wanted: _Wanted, cells: IntArray, integers: bool, tries: int) -> Moves | None:
    """Return a cheap circuit within some cells, None where there is none.

    It is one over real numbers if its moves are integers, after as many ``tries`` without cells whose moves are not;
    integer programming is used only where ``integers`` says so.
    """
    cells = _without_rest(wanted.problem, cells)
    for whole in (False, True) if integers else (False,):
        rows, ends, program = _program(wanted, cells, whole)
        if wanted.run(program) == "infeasible":
            return None
        move = _whole_moves(wanted, cells, program, rows, ends, None if whole else tries)
        if move is not None:
            return _with_rest(wanted.problem, cells[move != 0], move[move != 0])
    if integers:
        raise LimitError(
            f"no table of integers was found in which cell {wanted.problem.cell(wanted.cell)} moves by "
            f"{wanted.size * wanted.step}; lower its protection level, or let zeros be suppressed"
        )
    return None


def _whole_moves(
    wanted: _Wanted,
    cells: IntArray,
    program: Program,
    rows: Rows,
    ends: tuple[FloatArray, FloatArray],
    tries: int | None,
) -> IntArray | None:
    """Return the moves of a program that was solved, in integers, None where they are not.

    Where some are fractions, the most expensive of those cells may not move, and the program goes on from where it is;
    so up to a number of ``tries``; None is for integer programs.
    """
    n = cells.size
    for left in range(tries or 0, -1, -1):
        if not program.found:
            return None
        moves = (program.point[:n] - program.point[n:]) * wanted.step
        move = _as_integers(np.rint(moves) if tries is None else moves, rows, ends, wanted.step)
        if move is not None or not left:
            return move
        broken = np.flatnonzero((np.abs(moves - np.rint(moves)) > CLOSE) & (cells != wanted.cell))
        if not broken.size:
            return None
        worst = int(broken[np.argmax(wanted.cost[cells[broken]])])
        program.set_ranges(np.array([worst, n + worst]), np.zeros(2), np.zeros(2))
        if wanted.run(program) != "optimal":
            return None
    return None


def _ranges(wanted: _Wanted, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how far the sums of rows may move: not at all, or as far as a statistic leaves over."""
    problem = wanted.problem
    first = problem.on.starts.size - 1 - problem.left
    left = np.where(rows >= first, problem.size - problem.left + rows - first, -1)
    stated = left >= 0
    low, high = (np.where(stated, side[left], 0.0) for side in (wanted.down, wanted.up))
    return -np.where(low >= 2**52, np.inf, low), np.where(high >= 2**52, np.inf, high)


def _with_rest(problem: Problem, cells: IntArray, moves: IntArray) -> Moves:
    """Return a circuit with what is left over of statistics, which moves with its cells."""
    if not problem.left:
        return cells, moves
    whole = np.zeros(problem.size, np.int64)
    whole[cells] = moves
    rest = problem.rows.taken(np.arange(problem.on.starts.size - 1 - problem.left, problem.on.starts.size - 1))
    whole[problem.size - problem.left :] = rest._replace(values=rest.values.astype(np.int64)).sums(whole)
    found = np.flatnonzero(whole)
    return found, whole[found]


def _as_integers(moves: FloatArray, rows: Rows, ends: tuple[FloatArray, FloatArray], step: int) -> IntArray | None:
    """Return moves as integers if they are, and all sums stay within their ranges."""
    move = np.rint(moves).astype(np.int64)
    if np.abs(moves - move).max(initial=0.0) > CLOSE * max(1.0, float(np.abs(moves).max(initial=0.0)) / 1000):
        return None
    sums = rows._replace(values=rows.values.astype(np.int64)).sums(move)
    return move if ((sums >= ends[0] * step) & (sums <= ends[1] * step)).all() else None


class UnprotectableError(InfeasibleError):
    """A sensitive cell cannot be protected as asked: ``why`` not, and what helps ``anyway``, whatever was asked."""

    why: str
    anyway: str

    @classmethod
    def of(cls, why: str, anyway: str, remedies: Sequence[str] = ()) -> UnprotectableError:
        """Say why not, and what to do about it; remedies are changes of the request that were tried and work."""
        error = cls("; ".join([why, "; or ".join([*remedies, anyway])]))
        error.why, error.anyway = why, anyway
        return error


def explain(
    problem: Problem,
    at: int,
    size: int,
    way: int,
    known: InsiderKnowledge = NOBODY,
    attacker: int = 0,
    clock: Clock | None = None,
) -> UnprotectableError:
    """Return the error that says what prevents moving the value at a position, for outsiders (0) or one attacker.

    The problem is stated again with every figure open to suppression. The cells that a circuit needs then, and that the
    request keeps published, are the conflict. If there is no circuit even so, it is what the attacker knows, as little
    of it as rules all circuits out.
    """
    cells, equations = problem.cells, problem.cells.equations
    none = np.zeros(cells.values.size, bool)
    wide = state(cells, problem.demands, np.ones(cells.values.size, np.int64), none, True)
    against = f" against the {known.names[attacker - 1]}" if attacker else ""
    anyway = "make the table coarser, or publish fewer totals or fewer tables together"
    if size > 1:
        # One unit is the least that keeps a value from being exact.
        anyway += "; or lower the level"
    if attacker:
        anyway += "; or leave insiders aside knowingly (insiders='none', --insiders none)"
    sign = "±" if way == 0 else "+" if way > 0 else "−"
    head = f"cell {equations.describe(at)} cannot be protected by {sign}{equations.text(size)}{against}"
    k, why = int(wide.member[at]), "what remains published or known determines it more closely"
    if k >= 0:
        barred = np.zeros(wide.size, bool)
        barred[wide.member[(wide.member >= 0) & (problem.member < 0) & cells.listed]] = True
        who, place, *room = by_class(wide, known)
        mine = who == attacker - 1
        facts = (place[mine], room[0][mine], room[1][mine])
        cost, until = np.where(barred, 1.0, 1e-4), clock or Clock()
        found = rescue(wide, k, max(size, 1), way, cost, facts, place[:0], until)
        if found is not None and (need := found[0][barred[found[0]]]).size:
            said = f"{head} while these are published: {_named(wide, need)}"
            return UnprotectableError.of(said, anyway)
        if found is None and (decisive := _decisive(wide, (k, max(size, 1), way), facts, until)).size:
            why = f"what they know of {_named(wide, decisive)} determines it more closely"
    return UnprotectableError.of(f"{head}: whatever is suppressed, {why}", anyway)


def _named(problem: Problem, classes: IntArray) -> str:
    """Return the cells of some classes as a phrase, not too many of them."""
    more = f" and {classes.size - FEW} more" if classes.size > FEW else ""
    return "; ".join(problem.cell(int(j)) for j in classes[:FEW]) + more


def _decisive(problem: Problem, asked: tuple[int, int, int], facts: Facts, clock: Clock) -> IntArray:
    """Return the classes of a few facts that rule out every circuit for a cell, an amount and a way; none can go.

    There are none if circuits are ruled out without any fact, or by integers alone.
    """
    cell, size, way = asked
    every, cost = _without_rest(problem, np.arange(problem.size)), np.ones(problem.size)

    def impossible(kept: IntArray) -> bool:
        down, up = _room(problem, way, (facts[0][kept], facts[1][kept], facts[2][kept]))
        wanted = _Wanted(problem, cell, size, 1, cost, down, up, clock)
        return wanted.run(_program(wanted, every)[-1]) == "infeasible"

    kept = np.arange(facts[0].size)
    if not kept.size or not impossible(kept):
        return facts[0][:0]
    length = kept.size
    while length:
        start = 0
        while start < kept.size:
            fewer = np.delete(kept, slice(start, start + length))
            if impossible(fewer):
                kept = fewer
            else:
                start += length
        length //= 2
    return np.unique(facts[0][kept])
