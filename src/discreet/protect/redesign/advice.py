"""Advice on merging: the cheapest recoding that brings sensitive cells or risk down to a bound.

The cost of a recoding is the number of categories that are given up, then the entropy of the cells that is lost. Both
only rise as categories are merged, so recodings can be tried in order of cost: the first that meets the bound is
provably the cheapest. If that would take too many trials, the search continues greedily, and its result is not proved
to be the cheapest.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress, tell
from discreet.core.text import Face, Result, brief, many
from discreet.protect.base import Original
from discreet.protect.redesign.merged import Redesign, entropy_of
from discreet.protect.redesign.recode import Allowed, Moves, Partition, coarsened, moves_of
from discreet.reading.original import reads_original
from discreet.rules import sensitivity
from discreet.rules.rule import Judge
from discreet.rules.rule_texts import as_rules
from discreet.rules.sensitivity import judged_cells
from discreet.table import Table
from discreet.table.grid import Grid
from discreet.table.tabulation import Tabulation

State: TypeAlias = tuple[Partition, ...]
Score: TypeAlias = Callable[[Original], float]
"""A figure of a table: the number of sensitive cells, or a risk."""
WIDTH = 64
"""How many of the merges that lose least entropy a greedy step tries: a round choice that limits the work of a step."""


def violations(
    rules: Sequence[Judge | str] | Judge | str, *, response: str | None = None, combine: Literal["any", "all"] = "any"
) -> Score:
    """Return the score that counts the cells and margins which the agency's rules call sensitive.

    >>> from discreet.rules import Threshold
    >>> violations(Threshold(3))(Table.from_array([1, 5, 2], ["x"]))
    2.0
    """
    judges = as_rules(rules)

    def score(original: Original) -> float:
        cells = judged_cells(Tabulation.from_table(original) if isinstance(original, Table) else original, judges)
        return float(np.count_nonzero(sensitivity(cells, judges, response=response, combine=combine).sensitive))

    return score


@dataclass(frozen=True)
class MergeStep:
    """A recoding, what it costs and what it leaves.

    ``removed`` is the reduction of the score from the original; ``entropy`` is what is lost, in nats, and ``share`` its
    share of the original's.
    """

    recoding: Mapping[str, Mapping[str, str]]
    merges: int
    entropy: float
    share: float
    score: float
    removed: float

    @property
    def sentence(self) -> str:
        """The merges in words."""
        parts = [f"{name}: {', '.join(dict.fromkeys(groups.values()))}" for name, groups in self.recoding.items()]
        return "; ".join(parts) or "nothing is merged"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {**vars(self), "recoding": {name: dict(groups) for name, groups in self.recoding.items()}}


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """The frontier of recodings from none to the one that is advised.

    ``frontier`` has, for a rising number of merges, the recoding with the lowest score that was found, where that is
    lower than with fewer merges. ``proven`` says that no cheaper recoding meets the bound; otherwise at least ``least``
    merges are needed.
    """

    bound: float
    frontier: tuple[MergeStep, ...]
    chosen: MergeStep | None
    proven: bool
    least: int
    tried: int

    @property
    def method(self) -> Redesign:
        """The recoding that is advised, as a protection."""
        if self.chosen is None:
            best = min(self.frontier, key=lambda step: step.score)
            raise InfeasibleError(
                f"no recoding that was tried brings the score to {brief(self.bound)}; the lowest is "
                f"{brief(best.score)} with {many(best.merges, 'merge')}; raise the bound, allow more merges, or "
                "protect otherwise"
            )
        return Redesign.of(self.chosen.recoding)

    @property
    def sentence(self) -> str:
        """The advice in words."""
        before = self.frontier[0].score
        if self.chosen is None:
            lowest = min(step.score for step in self.frontier)
            ends = f"from {brief(before)} to {brief(self.bound)}"
            return f"No recoding brings the score {ends}; the lowest found is {brief(lowest)}."
        if not self.chosen.merges:
            return f"Nothing needs to be merged: the score is {brief(before)}, and {brief(self.bound)} is allowed."
        sure = f"at least {self.least} merges are needed, not proved to be best"
        if self.proven:
            sure = "no cheaper recoding does"
        return (
            f"{many(self.chosen.merges, 'merge')}: the score falls from {brief(before)} to {brief(self.chosen.score)}, "
            f"at the cost of {self.chosen.share:.1%} of the entropy ({sure}): {self.chosen.sentence}."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, as ``--json`` prints it."""
        return {
            **{name: getattr(self, name) for name in ("bound", "proven", "least", "tried")},
            "chosen": None if self.chosen is None else self.chosen.to_dict(),
            "frontier": [step.to_dict() for step in self.frontier],
            "sentence": self.sentence,
        }

    def rows(self) -> list[list[str]]:
        """Return the frontier as rows of text."""
        return [
            [str(step.merges), brief(step.score), brief(step.removed), f"{step.share:.1%}", step.sentence]
            for step in self.frontier
        ]

    def face(self, most: int) -> Face:
        """Return the advice and the frontier."""
        return Face(["merges", "score", "removed", "entropy", "merged"], self.rows(), self.sentence, 0)


@reads_original
def advise(
    original: Original,
    score: Score,
    bound: float = 0.0,
    *,
    allowed: Mapping[str, Allowed] | None = None,
    order: Mapping[str, Sequence[object]] | None = None,
    limit: int = 2000,
    progress: Progress | None = None,
) -> Advice:
    """Find the cheapest recoding whose table has a score of at most the bound.

    Args:
        original: a table, or a tabulation with its finest cells.
        score: a figure of a coarser version of the original, such as ``violations(rules)`` or
            ``lambda table: discreet.risk(table).value``.
        bound: the largest score that is allowed.
        allowed: the merges allowed in a dimension: ``"any"`` two categories, ``"neighbours"``, whole ``"levels"`` of
            its hierarchy, or ``"none"``. By default levels where there is a hierarchy, neighbours where categories are
            numbers or ranges, and any two elsewhere.
        order: for a dimension its categories in order, where they are not numbers or ranges.
        limit: how many recodings are tried before the search becomes greedy.
        progress: called as the work advances.

    >>> from discreet.rules import Threshold
    >>> by_age = Table.from_array([1, 2, 8, 1, 9], {"age": ["0-9", "10-19", "20-29", "30-39", "40+"]})
    >>> advise(by_age, violations(Threshold(3))).chosen.recoding
    {'age': {'0-9': '0-9+10-19', '10-19': '0-9+10-19', '20-29': '20-29+30-39', '30-39': '20-29+30-39'}}
    """
    if limit < 1:
        raise RequestError(f"limit is {limit}; try at least one recoding")
    search = _Search(original, score, moves_of(original, allowed, order), progress, limit)
    found = search.exact(bound)
    proven = found is not None or search.exhausted
    if not proven:
        found = search.greedy(bound)
    chosen = None if found is None else search.step(found)
    least = search.level if chosen is None or not proven else chosen.merges
    return Advice(bound, search.frontier(), chosen, proven, least, len(search.scores))


class _Search:
    """Recodings with their costs and scores."""

    def __init__(
        self, original: Original, score: Score, moves: tuple[Moves, ...], progress: Progress | None, limit: int
    ) -> None:
        self.original, self.score, self.moves = original, score, moves
        self.progress, self.limit = progress, limit
        inner = original if isinstance(original, Table) else original.table()
        self.counts = inner.counts
        self.codes: list[IntArray] = [inner.codes(name) for name in inner.names]
        self.start: State = tuple(move.start for move in moves)
        self.before = self._remaining(self.start)
        self.scores: dict[State, float] = {}
        self.level, self.exhausted = 0, False

    def _remaining(self, state: State) -> float:
        """Return the entropy of the merged cells."""
        partitions = [np.asarray(partition, np.int64) for partition in state]
        grid = Grid(tuple(int(groups.max()) + 1 for groups in partitions))
        position = grid.encode([groups[codes] for groups, codes in zip(partitions, self.codes, strict=True)])
        if grid.size > 4 * position.size:
            position = np.unique(position, return_inverse=True)[1]
        return entropy_of(np.bincount(position, weights=self.counts))

    def cost(self, state: State) -> tuple[int, float]:
        """Return the categories that are given up, and the entropy that is lost."""
        merges = sum(len(partition) - 1 - max(partition) for partition in state)
        # Rounded: recodings that lose the same are not told apart by the last bits of their sums.
        return merges, round(max(self.before - self._remaining(state), 0.0), 12)

    def judged(self, state: State) -> float:
        """Return the score of a recoding, computed once."""
        if state not in self.scores:
            value = float(self.score(coarsened(self.original, self.recoding(state))))
            if np.isnan(value):
                raise DataError("the score of a merged table is not a number; give a score that every table has")
            self.scores[state] = value
            tell(self.progress, min(len(self.scores), self.limit), self.limit, "recodings tried")
        return self.scores[state]

    def recoding(self, state: State) -> dict[str, dict[str, str]]:
        groups = {move.name: move.groups(part) for move, part in zip(self.moves, state, strict=True)}
        return {name: found for name, found in groups.items() if found}

    def coarser(self, state: State) -> dict[State, None]:
        found: dict[State, None] = {}
        for i, move in enumerate(self.moves):
            for partition in move.coarser(state[i]):
                found[(*state[:i], partition, *state[i + 1 :])] = None
        return found

    def exact(self, bound: float) -> State | None:
        """Try recodings in the order of their cost; the first that meets the bound is the cheapest."""
        heap = [(self.cost(self.start), self.start)]
        seen = {self.start}
        while heap:
            if len(self.scores) >= self.limit or len(seen) > 20 * self.limit:
                self.level = heap[0][0][0]
                return None
            _, state = heapq.heappop(heap)
            if self.judged(state) <= bound:
                return state
            for after in self.coarser(state):
                if after not in seen:
                    seen.add(after)
                    heapq.heappush(heap, (self.cost(after), after))
        self.exhausted = True
        return None

    def greedy(self, bound: float) -> State | None:
        """From the best recoding so far, make the merge that lowers the score most, until the bound is met."""
        state = min(self.scores, key=lambda one: (self.scores[one], self.cost(one)))
        while self.judged(state) > bound:
            ways = sorted(self.coarser(state), key=self.cost)[:WIDTH]
            if not ways:
                return None
            state = min(ways, key=lambda one: (self.judged(one), self.cost(one)))
        return state

    def step(self, state: State) -> MergeStep:
        """Return a recoding with its cost and what it removes."""
        merges, entropy = self.cost(state)
        score = self.judged(state)
        share = entropy / self.before if self.before else 0.0
        return MergeStep(self.recoding(state), merges, entropy, share, score, self.judged(self.start) - score)

    def frontier(self) -> tuple[MergeStep, ...]:
        """Return the best recoding for each number of merges, where it is better than with fewer."""
        best: dict[int, tuple[float, float, State]] = {}
        for state, score in self.scores.items():
            merges, entropy = self.cost(state)
            if merges not in best or (score, entropy) < best[merges][:2]:
                best[merges] = (score, entropy, state)
        steps: list[MergeStep] = []
        for _, (score, _, state) in sorted(best.items()):
            if not steps or score < steps[-1].score:
                steps.append(self.step(state))
        return tuple(steps)
