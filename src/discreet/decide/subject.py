"""What is assessed: the original in the forms that rules, measures and methods take."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.base import Original
from discreet.reading.opened import Opened
from discreet.table import Table
from discreet.table.figures import Figures, units_of
from discreet.table.grid import recode
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True, eq=False)
class Subject:
    """One original: cells with all margins for the rules, inner counts for the risk, and what methods protect.

    ``table`` is None for magnitudes, of which R1 and R2 say nothing.
    """

    name: str
    original: Original
    tabulation: Tabulation
    table: Table | None
    response: str | None = None

    @classmethod
    def opened(cls, source: Opened) -> Subject:
        """Lay out an original that was read."""
        found = cls.of(source.original, name=source.name, response=source.response)
        return found if source.counts is None else replace(found, table=source.counts)

    @classmethod
    def of(cls, original: Original, *, name: str = "table", response: str | None = None) -> Subject:
        """Lay an original out."""
        if isinstance(original, Table):
            return cls(name, original, Tabulation.from_table(original), original)
        if not isinstance(original, Tabulation):
            raise RequestError(f"a {type(original).__name__} cannot be assessed; give a table, records or a tabulation")
        original.check_publishable()
        if original.responses:
            chosen = original.responses[original.response(response)].name
            return cls(name, original, original, None, chosen)
        whole = tuple(original.names)
        return cls(name, original, original, original.table() if whole in original.margins else None)

    @property
    def magnitudes(self) -> bool:
        """Whether sums are published, not counts."""
        return bool(self.tabulation.responses)

    @property
    def headline(self) -> str:
        """What is assessed, in a line."""
        return self.original.headline

    def values(self) -> tuple[IntArray, int]:
        """Return the true figures of all cells and margins in units of their last decimal, and how many decimals."""
        return units_of(self.tabulation, self.response)

    def amounts(self) -> FloatArray:
        """Return the true figures of all cells and margins."""
        values, decimals = self.values()
        amounts: FloatArray = values / 10**decimals
        return amounts

    def as_is(self) -> Release:
        """Return the release of the original without any protection."""
        if isinstance(self.original, Table):
            return Release(self.original, "none")
        figures = Figures.of_tabulation(self.tabulation, response=self.response, name="original")
        return Release(self.table, "none", figures=(figures,))

    def positions(self, part: Figures) -> IntArray:
        """Return the position of every figure of a published table among the cells, -1 where it is none of them."""
        columns = {axis.name: np.zeros(len(part), np.int64) for axis in self.tabulation.axes}
        for (name, labels), codes in zip(part.labels.items(), part.codes.T, strict=True):
            if name in columns:
                axis = self.tabulation.axis(name)
                columns[name] = recode([axis.total if x == part.total else x for x in labels], axis.codes)[codes]
        return self.tabulation.grid.encode(list(columns.values()))

    def marked(self, release: Release, zeros: str) -> Release:
        """Return a release of the original with what its marks tell readers who know the policy.

        Under a policy by which zeros are safe there is no reason to hide one: marks that say nothing of zeros hide
        none, unless the original has one behind a mark.
        """
        parts = release.parts()
        if zeros == "unsafe" or not any(part.unsaid for part in parts):
            return release
        values = self.values()[0]
        for part in parts:
            place = self.positions(part)[part.hidden]
            row = np.minimum(np.searchsorted(self.tabulation.cells, place), values.size - 1)
            listed = self.tabulation.cells[row] == place
            if ((place >= 0) & (~listed | (values[row] <= 0))).any():
                return release
        return replace(release, figures=tuple(part.marked(above_zero=True) for part in parts))

    def impossible(self) -> IntArray:
        """Return the positions of structural zeros among the cells."""
        if not isinstance(self.original, Table):
            return np.zeros(0, np.int64)
        # The total stands before the categories, which are in the table's order.
        codes = self.original.grid.decode(self.original.impossible)
        return self.tabulation.grid.encode([code + 1 for code in codes])

    def sha256(self) -> str:
        """Return the hash of the original: dimensions, cells and figures."""
        found = hashlib.sha256()
        cells = self.tabulation
        found.update(repr([(axis.name, axis.codes) for axis in cells.axes]).encode())
        for column in (cells.cells, cells.records, self.values()[0], *_largest(cells)):
            found.update(np.ascontiguousarray(column).tobytes())
        if isinstance(self.original, Table):
            found.update(self.original.impossible.tobytes())
        return found.hexdigest()


def _largest(cells: Tabulation) -> list[Any]:
    return [largest.top for level in cells.levels.values() for largest in level.largest]
