"""Square grid cells as leaves of a quadtree: four cells make one of twice the length, and so on.

Cells are named as INSPIRE does, ``CRS3035RES200mN2029800E4254200`` or in short ``1kmN3134E3991``, or come as squares of
a map. Blocks of different sizes are nested or disjoint, so a grid of them is again a division of the territory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.core.errors import DataError

LONG = re.compile(r"(CRS\d+)?RES(\d+)mN(\d+)E(\d+)")
SHORT = re.compile(r"(\d+)(k?m)N(\d+)E(\d+)")
DEEPEST = 60
"""More levels than any grid has."""


@dataclass(frozen=True)
class Quadtree:
    """The column, row and name of every cell, in units of the length of the smallest."""

    cells: Mapping[str, tuple[int, int]]
    length: int
    prefix: str = ""

    @classmethod
    def of(cls, names: Iterable[str]) -> Quadtree | None:
        """Return the tree of cells that are named by their place; None if they are not.

        >>> Quadtree.of(["RES200mN0E0", "RES200mN200E600"]).cells
        {'RES200mN0E0': (0, 0), 'RES200mN200E600': (3, 1)}
        """
        found: dict[str, tuple[int, int, int]] = {}
        prefix = ""
        for name in names:
            if long := LONG.fullmatch(name):
                prefix, length, north, east = long[1] or "", int(long[2]), int(long[3]), int(long[4])
            elif short := SHORT.fullmatch(name):
                length = int(short[1]) * (1000 if short[2] == "km" else 1)
                north, east = int(short[3]) * length, int(short[4]) * length
            else:
                return None
            found[name] = (east, north, length)
        return cls.of_squares(found, prefix)

    @classmethod
    def of_squares(cls, squares: Mapping[str, tuple[int, int, int]], prefix: str = "") -> Quadtree:
        """Return the tree of squares, each given by its lower left corner and its length, all of one length."""
        lengths = {length for _, _, length in squares.values()}
        if len(lengths) != 1 or 0 in lengths:
            raise DataError(f"cells have the lengths {sorted(lengths)}; give a grid of one resolution")
        length = lengths.pop()
        for name, (x, y, _) in squares.items():
            if x % length or y % length:
                raise DataError(f"cell {name!r} begins at {x}, {y}, which is not a multiple of its length {length}")
        return cls({name: (x // length, y // length) for name, (x, y, _) in squares.items()}, length, prefix)

    def block(self, name: str, level: int) -> tuple[int, int, int]:
        """Return the block of a level that a cell is in: level, column and row."""
        x, y = self.cells[name]
        return level, x >> level, y >> level

    def level(self, one: str, other: str) -> int:
        """Return the level of the smallest block that holds two cells.

        >>> tree = Quadtree.of(["RES1mN0E0", "RES1mN1E1", "RES1mN2E1"])
        >>> tree.level("RES1mN0E0", "RES1mN1E1"), tree.level("RES1mN1E1", "RES1mN2E1")
        (1, 2)
        """
        return next(level for level in range(DEEPEST) if self.block(one, level) == self.block(other, level))

    def name(self, block: tuple[int, int, int]) -> str:
        """Return the name of a block."""
        level, x, y = block
        length = self.length << level
        return f"{self.prefix}RES{length}mN{y * length}E{x * length}"
