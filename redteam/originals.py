"""Random small originals: counts, hierarchies, and records of firms with several cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import discreet as dc
from redteam.worlds import Cells, Counts, World

SHAPES = ((2,), (3,), (4,), (2, 2), (2, 2), (2, 3))
COUNTS = (0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 8)
"""Small counts, the dangerous ones more often."""


def counts_in(random: Random, world: World, largest: int = 8) -> Counts:
    """Return counts of the cells of a world, somebody among them."""
    choices = [count for count in COUNTS if count <= largest]
    while True:
        counts = tuple(random.choice(choices) for _ in world.leaves)
        if sum(counts):
            return counts


def flat(random: Random, shapes: Sequence[tuple[int, ...]] = SHAPES) -> World:
    """Return a world of one or two dimensions."""
    return World.of(*random.choice(shapes))


def tree(random: Random) -> World:
    """Return a world with groups: of one dimension, or crossed with another of two categories."""
    one, two = ("g1", ("a1", "a2")), ("g2", ("a3", "a4"))
    if random.random() < 0.3:
        return World(World.of(4).dimensions, (("a", (one, two)),))
    return World(World.of(*random.choice(((3,), (3,), (3, 2)))).dimensions, (("a", (one,)),))


@dataclass(frozen=True)
class Firms:
    """Records of firms: in which cell each put how much."""

    world: World
    rows: tuple[tuple[int, str, int], ...]

    @property
    def sums(self) -> Counts:
        """The true sum of every cell."""
        return tuple(sum(value for at, _, value in self.rows if at == cell) for cell in range(len(self.world.leaves)))

    @property
    def names(self) -> tuple[str, ...]:
        """Who there is."""
        return tuple(dict.fromkeys(firm for _, firm, _ in self.rows))

    def own(self, *firms: str) -> dict[int, int]:
        """Return what some firms put into every cell that they are in."""
        found: dict[int, int] = {}
        for cell, firm, value in self.rows:
            if firm in firms:
                found[cell] = found.get(cell, 0) + value
        return found

    def others(self, cells: Cells, *firms: str) -> int:
        """Return how many other firms are in some cells."""
        return len({firm for cell, firm, _ in self.rows if cell in cells} - set(firms))

    def alone(self, *firms: str) -> tuple[int, ...]:
        """Return the cells that only these firms are in."""
        return tuple(cell for cell in self.own(*firms) if not self.others((cell,), *firms))

    def joined(self, *members: str) -> Firms:
        """Return the same with some firms as one: a holding, which knows what its members put in."""
        rows: dict[tuple[int, str], int] = {}
        for cell, firm, value in self.rows:
            at = cell, members[0] if firm in members else firm
            rows[at] = rows.get(at, 0) + value
        return Firms(self.world, tuple((cell, firm, value) for (cell, firm), value in rows.items()))

    def records(self) -> Any:
        """Return the records as a frame."""
        import pyarrow as pa

        leaves = self.world.leaves
        columns: dict[str, Any] = {
            name: [leaves[cell][i] for cell, _, _ in self.rows] for i, name in enumerate(self.world.names)
        }
        columns["firm"] = [firm for _, firm, _ in self.rows]
        columns["value"] = [value for _, _, value in self.rows]
        return pa.table(columns)

    def tabulated(self) -> Any:
        """Return the tabulation of the records, as discreet makes it."""
        trees = {name: self.world.tree(name) for name, _ in self.world.groups}
        columns: dict[str, Any] = {"by": list(self.world.names), "value": "value", "contributor": "firm"}
        return dc.tabulate(self.records(), **columns, hierarchies=trees, engine="reference", workers=1)

    def contributions(self, coalitions: Sequence[Sequence[str]] = ()) -> Any:
        """Return who put how much where, as an audit takes it."""
        leaves, names = self.world.leaves, self.world.names
        rows = [(dict(zip(names, leaves[cell], strict=True)), firm, float(value)) for cell, firm, value in self.rows]
        return dc.Contributions.from_rows(rows, coalitions)


def firms_in(random: Random) -> Firms:
    """Return records of three to five firms, some of them in several cells."""
    world = tree(random) if random.random() < 0.25 else World.of(*random.choice(((3,), (4,), (2, 2))))
    return firms_of(random, world, (1, 2, 3, 5, 8, 10, 20))


def firms_of(random: Random, world: World, amounts: Sequence[int], names: str = "FGHJK") -> Firms:
    """Return records of some firms in the cells of a world."""
    names = names[: random.randint(2, len(names))]
    rows: dict[tuple[int, str], int] = {}
    for firm in names:
        for _ in range(random.choice((1, 1, 2, 3))):
            rows[random.randrange(len(world.leaves)), firm] = random.choice(amounts)
    return Firms(world, tuple((cell, firm, value) for (cell, firm), value in rows.items()))
