"""All tables with given margins, counted and drawn from exactly, where they are few enough.

Cells are filled in one after another. Partial tables that leave the same amounts to the margins' open sums are one
state; the work grows with the states and not with the tables (dynamic programming). A table weighs the product of its
cells' weights: 1 under the uniform law, 1/n! under the hypergeometric one. Going back from the end, each step is drawn
with the weight of everything that leads to it, which makes draws exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray, index_ranges
from discreet.core.sparse import distinct_rows
from discreet.protect.simulation.margin_model import Model, margin_sums
from discreet.table.grid import Grid

EDGES = 2_000_000
"""The most transitions between states held in memory, over all cells: a round choice, 64 MB."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """One cell filled in: the states before it and its values, sorted by the state after it.

    ``chance`` is that of going back by a step from the state it leads to, ``first`` where the steps to a state begin.
    """

    parent: IntArray
    value: IntArray
    chance: FloatArray
    cumulative: FloatArray
    first: IntArray


@dataclass(frozen=True, eq=False)
class Fiber:
    """All tables with the same margins as one, with a law over them.

    >>> fiber = Fiber.of(np.array([1, 1, 1, 1]), (2, 2), Model.of(2, [(0,), (1,)]), "uniform")
    >>> fiber.tables, sorted(map(tuple, np.concatenate([rows for _, rows in fiber.law()]).tolist()))
    (3, [(0, 2, 2, 0), (1, 1, 1, 1), (2, 0, 0, 2)])
    """

    tables: int
    layers: tuple[_Layer, ...]

    @classmethod
    def of(
        cls, F: IntArray, shape: tuple[int, ...], model: Model, law: str, impossible: IntArray | None = None
    ) -> Fiber:
        """Lay the states out; an error where there are too many of them."""
        cells = F.size
        grid = Grid(shape)
        sums, needs, base = [], [], 0
        for margin in model.margins:
            sums.append(base + grid.project(np.arange(cells), margin))
            needs.append(margin_sums(F[None], shape, margin)[0])
            base += needs[-1].size
        touched = np.stack(sums, axis=1)
        most = np.concatenate(needs)[touched].min(axis=1)
        if impossible is not None:
            most[impossible] = 0
        # What the cells still to come can add to each sum at most.
        later = np.zeros(base, np.int64)
        np.add.at(later, touched, most[:, None])
        state, ways = np.concatenate(needs)[None], np.ones(1)
        counts = np.ones(1, object)
        raw, edges = [], 0
        logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(most.max(initial=0)) + 1)))])
        for cell in range(cells):
            mine = touched[cell]
            later[mine] -= most[cell]
            low = np.maximum((state[:, mine] - later[mine]).max(axis=1), 0)
            high = np.minimum(state[:, mine].min(axis=1), most[cell])
            fan = np.maximum(high - low + 1, 0)
            edges += int(fan.sum())
            if edges > EDGES:
                raise LimitError(
                    f"the tables with these margins need more than {EDGES:,} steps to be counted; use the Markov chain"
                )
            parent, value = index_ranges(low, low + fan)
            after = state[parent]
            after[:, mine] -= value[:, None]
            state, child = distinct_rows(after)
            weight = ways[parent] * (np.exp(-logs[value]) if law == "hypergeometric" else 1.0)
            ahead = np.bincount(child, weights=weight, minlength=state.shape[0])
            ways = ahead / ahead.max()
            reached = np.zeros(state.shape[0], object)
            np.add.at(reached, child, counts[parent])
            counts = reached
            raw.append((parent, value, child, weight / np.where(ahead > 0, ahead, 1.0)[child]))
        return cls(int(counts[0]), tuple(_ordered(*layer) for layer in raw))

    def draw(self, rng: np.random.Generator, size: int) -> IntArray:
        """Return independent draws, one per row."""
        drawn = np.zeros((size, len(self.layers)), np.int64)
        at = np.zeros(size, np.int64)
        for cell in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[cell]
            target = at + rng.random(size)
            edge = np.searchsorted(layer.cumulative, target, side="right")
            edge = np.clip(edge, layer.first[at], layer.first[at + 1] - 1)
            drawn[:, cell] = layer.value[edge]
            at = layer.parent[edge]
        return drawn

    def law(self, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the tables with their probabilities, in blocks of rows."""
        at, chance = np.zeros(1, np.int64), np.ones(1)
        rows = np.zeros((1, len(self.layers)), np.int64)
        for cell in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[cell]
            which, edge = index_ranges(layer.first[at], layer.first[at + 1])
            rows, chance = rows[which], chance[which] * layer.chance[edge]
            rows[:, cell], at = layer.value[edge], layer.parent[edge]
        for start in range(0, chance.size, block):
            yield chance[start : start + block], rows[start : start + block]


def _ordered(parent: IntArray, value: IntArray, child: IntArray, chance: FloatArray) -> _Layer:
    """Sort steps by where they lead; the chances of those that lead to state c lie between c and c + 1."""
    order = np.argsort(child, kind="stable")
    child, chance = child[order], chance[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(child))])
    running = np.cumsum(chance)
    before = np.concatenate([[0.0], running])[first[child]]
    return _Layer(parent[order], value[order], chance, child + np.minimum(running - before, 1.0), first)
