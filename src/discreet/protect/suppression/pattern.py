"""A pattern of suppressed cells, with the reason for each one and the proof that it is enough."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.json_types import Json
from discreet.core.numerics import BoolArray, IntArray, index_ranges
from discreet.core.sparse import Rows, row_of, starts_of
from discreet.core.text import many
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge, by_class
from discreet.protect.suppression.problem import Problem

STATUSES = ("published", "primary", "secondary")
FEW = 3
"""How many sensitive cells the reason for a secondary suppression names, to keep it to a line."""


@dataclass(frozen=True, eq=False)
class Circuit:
    """Another table that fits what is published: the classes that differ and by how much.

    It shows that the class ``cell`` can be ``size`` higher (``way`` 1), lower (-1), or either (0), whatever the
    attacker knows; attacker 0 is the outsider.
    """

    cell: int
    size: int
    way: int
    attacker: int
    cells: IntArray
    moves: IntArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which cells are suppressed, what that costs, and why each of them is.

    ``hidden`` marks the suppressed classes of the problem. ``bound`` is a proven lower bound of the cost of any safe
    pattern; where it equals the cost, the pattern is optimal.
    """

    problem: Problem
    known: InsiderKnowledge
    hidden: BoolArray
    method: str
    bound: int
    circuits: tuple[Circuit, ...]
    limited: bool = False

    @property
    def cost(self) -> int:
        """What the suppressed cells cost."""
        return int(self.problem.on.price[self.hidden].sum())

    @property
    def gap(self) -> float:
        """An upper bound on how much cheaper a pattern could be, as a share of this one's cost."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0

    @cached_property
    def positions(self) -> BoolArray:
        """True at positions that are suppressed."""
        return self.problem.positions(self.hidden)

    @cached_property
    def status(self) -> IntArray:
        """For every position, 0 if it is published, 1 for a primary and 2 for a secondary suppression."""
        sensitive = self.problem.demands.sensitive
        return np.where(self.positions, np.where(sensitive, 1, 2), 0)

    @property
    def counts(self) -> dict[str, int]:
        """How many cells have each status."""
        found = np.bincount(self.status[self.problem.cells.listed], minlength=3)
        return {name: int(count) for name, count in zip(STATUSES, found, strict=True)}

    @property
    def circuit_cells(self) -> tuple[IntArray, IntArray]:
        """The classes and moves of all circuits, one after another."""
        none = np.zeros(0, np.int64)
        cells = np.concatenate([none, *(one.cells for one in self.circuits)])
        return cells, np.concatenate([none, *(one.moves for one in self.circuits)])

    def check(self) -> None:
        """Check the proof in integers: every circuit stays within bounds, keeps all sums, and is suppressed."""
        if not self.circuits:
            return
        p, (cells, moves) = self.problem, self.circuit_cells
        starts = starts_of([one.cells.size for one in self.circuits])
        of = row_of(starts)
        way, asked, size, who = (
            np.array([getattr(one, name) for one in self.circuits], np.int64)
            for name in ("way", "cell", "size", "attacker")
        )
        signed = np.where(way[of] == -1, -moves, moves)
        down, up = p.on.down[cells], p.on.up[cells]
        insider, known, less, more = by_class(p, self.known)
        fact, entry_of = (insider + 1) * p.size + known, who[of] * p.size + cells
        order = np.argsort(fact, kind="stable")
        begin, end = (np.searchsorted(fact[order], entry_of, side) for side in ("left", "right"))
        entry, place = index_ranges(begin, end)
        np.minimum.at(down, entry, less[order[place]])
        np.minimum.at(up, entry, more[order[place]])
        both = way[of] == 0
        fits = (signed >= -down) & (signed <= up) & (~both | ((-signed >= -down) & (-signed <= up)))
        # Many circuits serve several insiders: whether sums stay is looked at once.
        once = {(one.cells.tobytes(), one.moves.tobytes()): k for k, one in enumerate(self.circuits)}
        distinct = Rows(starts, cells, moves.astype(np.float64)).taken(list(once.values()))
        change = distinct.times(Rows(p.on.begins, p.on.rows, p.on.weights), p.on.starts.size - 1)
        reached = np.zeros(len(self.circuits), np.int64)
        own = cells == asked[of]
        reached[of[own]] = moves[own]
        wrong = [
            (not self.hidden[cells].all(), "uses a cell that is published"),
            (not fits.all(), "leaves the range of a cell"),
            (bool(change.values.size), "changes a sum"),
            (bool((reached < size).any()), "falls short of its level"),
        ]
        for broken, what in wrong:
            if broken:
                raise AssertionError(f"a table that should prove the pattern {what}")

    # --- why ----------------------------------------------------------------------------------------------

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        """For every secondary class, the sensitive classes whose circuits need it."""
        found: dict[int, dict[int, None]] = {}
        for one in self.circuits:
            for cell in one.cells.tolist():
                if not self.problem.on.primary[cell]:
                    found.setdefault(cell, {})[one.cell] = None
        return {cell: list(users) for cell, users in found.items()}

    @cached_property
    def _reach(self) -> dict[int, tuple[int, int, int]]:
        """For every sensitive class, how far it can go down and up, and against how many insiders this is shown."""
        found: dict[int, list[int]] = {}
        against: dict[int, set[int]] = {}
        for one in self.circuits:
            ends = found.setdefault(one.cell, [0, 0])
            if one.attacker:
                against.setdefault(one.cell, set()).add(one.attacker)
                continue
            far = abs(int(one.moves[one.cells == one.cell][0]))
            if one.way <= 0:
                ends[0] = max(ends[0], far)
            if one.way >= 0:
                ends[1] = max(ends[1], far)
        return {cell: (low, high, len(against.get(cell, ()))) for cell, (low, high) in found.items()}

    def reason(self, i: int) -> str:
        """Say why a position is suppressed; nothing where it is published."""
        if not self.positions[i]:
            return ""
        equations, k = self.problem.cells.equations, int(self.problem.member[i])
        value = int(self.problem.cells.values[i])
        if self.status[i] == 1:
            low, high, others = self._reach.get(k, (0, 0, 0))
            ends = f"{equations.text(value - low)} to {equations.text(value + high)}"
            text = f"sensitive; can be anything from {ends} at least"
            known = len(self.known)
            if not known:
                return f"{text} for anybody who reads the tables"
            special = f", with tables of their own against {others:,} of them" if others else ""
            return f"{text} for readers; {known:,} respondents cannot undo it either{special}"
        same = np.flatnonzero((self.problem.member == k) & self.problem.demands.sensitive)
        if same.size:
            return f"equals sensitive cell {equations.describe(int(same[0]))}, all else in their sums being published"
        if not (users := self._users.get(k, [])) and self.problem.kept[k]:
            return "is kept hidden"
        names = [self.problem.cell(user) for user in users[:FEW]]
        more = f" and {len(users) - FEW:,} more" if len(users) > FEW else ""
        shared = self._shared(k, users)
        where = f" (both in the sum {shared})" if shared else ""
        return f"protects {'; '.join(names)}{more}{where}"

    def _shared(self, k: int, users: list[int]) -> str:
        """Return the sum that a secondary class shares with one of the sensitive ones that it protects, if any."""
        on = self.problem.on
        mine = set(on.rows[on.begins[k] : on.begins[k + 1]].tolist())
        for user in users:
            both = mine.intersection(on.rows[on.begins[user] : on.begins[user + 1]].tolist())
            if both:
                e = min(both)
                span = slice(on.starts[e], on.starts[e + 1])
                above = on.columns[span][on.signs[span] > 0]
                return self.problem.cell(int(above[0])) if above.size else ""
        return ""

    @property
    def sentence(self) -> str:
        """What is suppressed and at what cost, in words."""
        counts = self.counts
        if not counts["primary"] and not counts["secondary"]:
            return "No cell is sensitive; nothing is suppressed."
        best = (
            "no safe pattern costs less"
            if self.cost == self.bound
            else f"no safe pattern costs less than {self.bound:,} ({self.gap:.1%} below)"
        )
        return (
            f"{many(counts['primary'], 'sensitive cell')} and {many(counts['secondary'], 'other')} are "
            f"suppressed; cost {self.cost:,}, {best}."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return totals as plain data."""
        counts = self.counts
        return {
            "method": self.method,
            "suppressed": {"primary": counts["primary"], "secondary": counts["secondary"]},
            "published": counts["published"],
            "cost": self.cost,
            "bound": self.bound,
            "gap": round(self.gap, 6),
            "optimal": self.cost == self.bound,
            "limited": self.limited,
            "attackers": 1 + len(self.known),
        }

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__
