"""Names the published figures that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError
from discreet.core.highs import Outcome, Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.sparse import Rows, parts, row_of, starts_of
from discreet.feasible.reduction import NothingFitsError, Reduction, reduce
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

SHOWN = 12
"""How many figures an error lists: about what fits on a screen."""
SECONDS, MOST_ROWS = 5.0, 5_000
"""How long, and among how many equations, a smaller conflict is searched for. Round choices: an error should come soon,
and in 30 spoiled tables of the tests the smallest was found within 0.3 seconds."""
PATIENCE = 20.0
"""Seconds for the search for figures that can be left out; a round choice, as above."""


_REDUCED: WeakKeyDictionary[Equations, Reduction] = WeakKeyDictionary()
"""What was reduced before: levels and intervals are asked of the same equations."""


def reduced(equations: Equations, *, join: bool = True) -> Reduction:
    """Reduce equations, or refuse them with the figures that contradict each other."""
    if join and (known := _REDUCED.get(equations)) is not None:
        return known
    try:
        found = reduce(equations, join=join)
    except NothingFitsError:
        raise explain(equations) from None
    if join:
        for column in (found.lower, found.upper, found.leader, found.low, found.high):
            column.flags.writeable = False
        _REDUCED[equations] = found
    return found


@dataclass(frozen=True)
class Conflict:
    """Positions whose published ranges contradict each other.

    ``smallest`` says that no fewer figures contradict each other; otherwise time ran out before that was known.
    ``needed`` says that none of them can be left out; otherwise time ran out even before that.
    """

    figures: tuple[int, ...]
    smallest: bool
    needed: bool = True


def explain(equations: Equations) -> InfeasibleError:
    """Return an error that names a smallest set of figures that cannot all be true.

    They are searched for when somebody reads the message: that takes up to some seconds, and whoever tries a
    possibility only has to know that there is none.
    """
    return InfeasibleError(_Explanation(equations))


class _Explanation:
    """The message of an error, found when it is first read."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    @cached_property
    def text(self) -> str:
        """Name the figures.

        Without any one of them the others could be true together. The search first finds the least total change of
        figures that makes the equations hold, and then drops figures one after another as long as the rest still
        conflicts. It then searches for a smaller conflict for a few seconds. An irreducible subsystem by HiGHS (getIis)
        takes a fiftieth of the time, but names as few figures in only 2 of 30 spoiled tables.
        """
        found = conflict(self.equations)
        named = [_told(self.equations, i) for i in found.figures]
        shown = "; ".join(named[:SHOWN]) + (f"; and {len(named) - SHOWN} more" if len(named) > SHOWN else "")
        rest = "none of them can be left out; fewer others may too" if found.needed else "some of them may do alone"
        size = "no fewer do" if found.smallest else rest
        return (
            f"no table fits what is published: {len(named)} figures contradict each other, {size} ({shown}); correct "
            "one of them, or say how they were changed (rounded, perturbed)"
        )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return repr(self.text)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self.text,)


def _told(equations: Equations, i: int) -> str:
    """Return what is published about a position, as a phrase."""
    lower, upper = int(equations.lower[i]), int(equations.upper[i])
    if lower == upper:
        return f"{equations.describe(i)} = {equations.text(lower)}"
    if upper >= UNBOUNDED:
        return f"{equations.describe(i)} at least {equations.text(lower)}"
    return f"{equations.describe(i)} between {equations.text(lower)} and {equations.text(upper)}"


def conflict(equations: Equations, seconds: float = SECONDS) -> Conflict:
    """Return published figures that contradict each other, the fewest that do if that is found in time."""
    clock = Clock.within(PATIENCE)
    system = _around(equations, clock)
    kept = system.moved(clock)
    for i in list(kept):
        if clock.late:
            break
        rest = [k for k in kept if k != i]
        if not system.fits(rest, clock):
            kept = rest
    needed = not clock.late
    # Fewer figures may conflict through equations that lie elsewhere.
    fewest = None
    if equations.starts.size - 1 <= MOST_ROWS:
        everywhere = _System(equations, np.arange(equations.starts.size - 1))
        fewest = _fewest(everywhere, kept, Clock.within(seconds))
    return Conflict(tuple(kept if fewest is None else fewest), fewest is not None, needed or fewest is not None)


class _System:
    """Some of the equations, whose figures are held to their published ranges or freed.

    Figures are ``stated`` if something is published or known about them.
    """

    def __init__(self, equations: Equations, rows: IntArray) -> None:
        entries = np.concatenate([np.arange(equations.starts[r], equations.starts[r + 1]) for r in rows])
        self.columns, place = np.unique(equations.columns[entries], return_inverse=True)
        self.rows = Rows(starts_of(np.diff(equations.starts)[rows]), place, equations.signs[entries].astype(float))
        self.zero = np.zeros(rows.size)
        low, high = equations.lower[self.columns], equations.upper[self.columns]
        free = high >= UNBOUNDED
        self.low, self.high = low.astype(float), np.where(free, np.inf, high)
        self.floor = float(min(0, int(equations.lower.min())))
        shown = (equations.source[self.columns] >= 0) | (low == high)
        # A mark says something where zeros are shown: that there is somebody.
        self.stated: BoolArray = shown & ~(equations.hidden[self.columns] & free & (self.low <= self.floor))

    def ends(self, held: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the ranges of all figures where some are held to theirs."""
        return np.where(held, self.low, self.floor), np.where(held, self.high, np.inf)

    def fits(self, figures: Sequence[int], clock: Clock) -> bool:
        """Say whether some integers fit the ranges of these figures, all others being free, or may where it is late."""
        ends = self.ends(np.isin(self.columns, figures))
        sums = self.zero, self.zero
        answer = _integer_program(np.zeros(self.columns.size), self.rows, sums, ends, max(clock.left or 0.0, 0.01))
        return answer[0] != "infeasible"

    def moved(self, clock: Clock) -> list[int]:
        """Return a set of figures that conflict, started from the multipliers of the least repair."""
        cost, y = least_repair(self.rows, self.zero, (self.low, self.high), max(clock.left or 0.0, 0.01)) or (0, None)
        if y is not None and cost > 1e-7:
            pull = np.abs(self.rows.combined(y, self.columns.size)) > 1e-9
            first: list[int] = self.columns[pull & self.stated].tolist()
            if not self.fits(first, clock):
                return first
        every: list[int] = self.columns[self.stated].tolist()
        return every

    def against(self, chosen: list[int], clock: Clock) -> list[int] | None:
        """Return the fewest figures to free for the chosen to be true; none if they conflict, None if late."""
        held = np.isin(self.columns, chosen)
        others = np.flatnonzero(self.stated & ~held)
        n, k = self.columns.size, others.size
        known = np.concatenate([self.low, self.high[np.isfinite(self.high)], [1.0]])
        most = 4 * float(np.abs(known).max()) * max(self.zero.size, 1)
        # A figure that is let go may be off by the most: low ≤ x + most·z and x − most·z ≤ high.
        pair = np.stack([others, n + np.arange(k)], axis=1).ravel()
        upward, downward = (Rows(2 * np.arange(k + 1), pair, np.tile([1.0, way * most], k)) for way in (1, -1))
        rows, any_ = self.rows.above(upward).above(downward), np.full(k, np.inf)
        sums = (
            np.concatenate([self.zero, self.low[others], -any_]),
            np.concatenate([self.zero, any_, self.high[others]]),
        )
        if clock.late:
            return None
        least, largest = self.ends(held)
        ends = np.concatenate([least, np.zeros(k)]), np.concatenate([largest, np.ones(k)])
        outcome, x = _integer_program(np.concatenate([np.zeros(n), np.ones(k)]), rows, sums, ends, clock.left)
        if outcome == "infeasible":
            return []
        if outcome != "optimal":
            return None
        return [int(self.columns[others[j]]) for j in range(k) if x[n + j] > 0.5]


def _around(equations: Equations, clock: Clock) -> _System:
    """Return the first connected part of the equations that nothing fits."""
    row = row_of(equations.starts)
    moving = np.flatnonzero(equations.lower[equations.columns] != equations.upper[equations.columns])
    count = equations.starts.size - 1
    _, of_row, _ = parts(row[moving], equations.columns[moving], count, equations.lower.size)
    for part in np.unique(of_row):
        system = _System(equations, np.flatnonzero(of_row == part))
        if not system.fits(system.columns.tolist(), clock):
            return system
    return _System(equations, np.arange(count))


def _fewest(system: _System, known: list[int], clock: Clock) -> list[int] | None:
    """Return the fewest figures that conflict, the known ones where no fewer do; None where time runs out.

    Any set of figures without which the rest can be true has one in common with every conflict. So the smallest choice
    with one figure of each such set found so far is tried. If it conflicts, nothing smaller does; if not, the figures
    against it are one more set (implicit hitting sets).
    """
    sets: list[list[int]] = []
    while True:
        chosen = _hitting(sets, clock)
        if chosen is None or len(chosen) >= len(known):
            return None if chosen is None else known
        against = system.against(chosen, clock)
        if not against:
            return None if against is None else chosen
        sets.append(against)


def _hitting(sets: list[list[int]], clock: Clock) -> list[int] | None:
    """Return the fewest figures with one of each set, None where time runs out."""
    if not sets:
        return []
    figures = sorted({i for one in sets for i in one})
    place = np.searchsorted(figures, np.concatenate(sets))
    rows = Rows(starts_of([len(one) for one in sets]), place, np.ones(place.size))
    if clock.late:
        return None
    ends = np.zeros(len(figures)), np.ones(len(figures))
    sums = np.ones(len(sets)), np.full(len(sets), np.inf)
    outcome, x = _integer_program(np.ones(len(figures)), rows, sums, ends, clock.left)
    if outcome != "optimal":
        return None
    return [i for i, taken in zip(figures, x, strict=True) if taken > 0.5]


def _integer_program(
    costs: FloatArray,
    rows: Rows,
    sums: tuple[FloatArray, FloatArray],
    ends: tuple[FloatArray, FloatArray],
    seconds: float | None,
) -> tuple[Outcome, FloatArray]:
    """Solve an integer program; return how it went, and the integers."""
    program = Program(rows, costs=costs, lower=ends[0], upper=ends[1], sums=sums, whole=True)
    return program.run(seconds), program.point


def least_repair(
    rows: Rows, rhs: FloatArray, ends: tuple[FloatArray, FloatArray], seconds: float | None
) -> tuple[float, FloatArray] | None:
    """Return the least by which equations have to be off, and the multipliers that show it; None if late."""
    m, n = rhs.size, ends[0].size
    # Behind the unknowns, every equation has how far it is too low and how far too high.
    each, off = np.arange(m), np.zeros(2 * m)
    one = Rows(np.arange(m + 1), each, np.ones(m))
    program = Program(
        rows.beside(one.beside(one._replace(values=-one.values), m), n),
        costs=np.append(np.zeros(n), off + 1.0),
        lower=np.append(ends[0], off),
        upper=np.append(ends[1], off + np.inf),
        sums=(rhs, rhs),
    )
    outcome = program.run(None if seconds is None else max(seconds, 0.01))
    return (program.objective, program.multipliers) if outcome == "optimal" else None
