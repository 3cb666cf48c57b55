"""What a risk measure returns: the number, its three terms, every slice, and what drives it in words."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result, figure, html_table
from discreet.measures.entropy import Form

if TYPE_CHECKING:
    from discreet.table.arrow_files import Backend, Frame

TERMS = ("zeros", "concentration", "size")
DRIVERS = {
    "zeros": "empty cells (zeros)",
    "concentration": "concentration of the people in few cells",
    "size": "the small population",
}


def change(before: float, after: float) -> str:
    """Say how a risk changed, in per cent of what it was; a rise is called a rise.

    >>> change(0.2, 0.15), change(0.2, 0.2), change(0.0154, 0.0908), change(0.2, 0.1999)
    ('25% lower', 'unchanged', '490% higher', 'less than 1% lower')
    """
    if math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12):
        return "unchanged"
    way = "lower" if after < before else "higher"
    if before <= 0:
        return way
    share = abs(after - before) / before
    return f"less than 1% {way}" if share < 0.005 else f"{share:.0%} {way}"


@dataclass(frozen=True)
class SliceRisk:
    """The risk of one slice: the cells that share one category of a dimension.

    ``value`` and ``terms`` are None where the measure is undefined: nobody is in the slice, or it has fewer
    than two cells.
    """

    dimension: str
    category: str
    value: float | None
    terms: dict[str, float] | None
    people: int
    cells: int

    def to_dict(self) -> dict[str, Json]:
        """Return the slice as plain data."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class Slices:
    """The risk of every slice along one dimension, as columns.

    ``terms`` holds the weighted terms, one row per category; NaN where the measure is undefined.
    """

    dimension: str
    categories: tuple[str, ...]
    terms: FloatArray
    people: IntArray
    cells: IntArray

    @property
    def values(self) -> FloatArray:
        """The risk of each slice."""
        return np.asarray(self.terms.sum(axis=-1))

    def __len__(self) -> int:
        """Return the number of slices."""
        return len(self.categories)

    def __getitem__(self, i: int) -> SliceRisk:
        """Return one slice."""
        terms = self.terms[i]
        defined = not math.isnan(terms[1])
        return SliceRisk(
            self.dimension,
            self.categories[i],
            float(terms.sum()) if defined else None,
            dict(zip(TERMS, terms.tolist(), strict=True)) if defined else None,
            int(self.people[i]),
            int(self.cells[i]),
        )

    def __iter__(self) -> Iterator[SliceRisk]:
        """Yield the slices in the order of the categories."""
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Risk(Result):
    """The attribute-disclosure risk of a table, before (R1) or after (R2) protection.

    Attributes:
        measure: ``"R1"`` or ``"R2"``.
        value: the risk, from 0 to 1.
        terms: its three weighted terms, which add up to it.
        weights: w1, w2, w3.
        form: the form of R2.
        before: R1 of the original when this is R2.
        merged: R1 of the original on the categories that the release merges; R2 never exceeds it, though it may exceed
            ``before``.
        people: N.
        cells: K.
        empty: the original's empty cells; ``empty_released`` the release's.
        entropy: H(X) in nats; ``conditional_entropy`` is H(X|Y).
        slices: the risk of every slice, by dimension.
    """

    measure: str
    value: float
    terms: dict[str, float]
    weights: tuple[float, float, float]
    form: Form | None = None
    before: float | None = None
    merged: float | None = None
    people: int
    cells: int
    empty: int
    empty_released: int | None = None
    entropy: float
    conditional_entropy: float | None = None
    slices: tuple[Slices, ...]

    @property
    def driver(self) -> str:
        """The term that contributes most: ``"zeros"``, ``"concentration"`` or ``"size"``."""
        return max(TERMS, key=lambda term: self.terms[term])

    def worst(self, n: int = 3) -> list[SliceRisk]:
        """Return the n slices with the highest risk, over all dimensions, except those whose risk is undefined."""
        if n < 0:
            raise RequestError(f"n is {n}; ask for 0 slices or more")
        candidates: list[SliceRisk] = []
        for part in self.slices:
            values = np.where(np.isnan(part.values), -1.0, part.values)
            order = np.argsort(-values, kind="stable")[:n]
            candidates += [part[int(i)] for i in order if values[i] >= 0]
        return sorted(candidates, key=lambda item: -(item.value or 0.0))[:n]

    def slice(self, dimension: str, category: object) -> SliceRisk:
        """Return the risk of one slice."""
        parts = {part.dimension: part for part in self.slices}
        if dimension not in parts:
            raise RequestError(f"no slices along {dimension!r} were computed; there are: {list(parts)}")
        if str(category) not in parts[dimension].categories:
            raise RequestError(f"dimension {dimension!r} has no category {category!r}")
        return parts[dimension][parts[dimension].categories.index(str(category))]

    @property
    def sentence(self) -> str:
        """What drives the risk, and which slices are worst, in words."""
        share = self.terms[self.driver] / self.value if self.value > 0 else 0.0
        released = "" if self.empty_released is None else f", {self.empty_released:,} in the release"
        evenness = self.entropy / math.log(self.cells)
        facts = {
            "zeros": f"{self.empty:,} of {self.cells:,} inner cells are empty{released}",
            "concentration": f"the table's entropy is {evenness:.0%} of what an even spread would give",
            "size": f"the table counts {self.people:,} people",
        }
        text = f"Driven by {DRIVERS[self.driver]}, {share:.0%} of the value: {facts[self.driver]}."
        if self.form == "2014":
            text += " The form of 2014 rises with protection; it is for replaying that paper, not for a decision."
        elif self.before is not None:
            text += f" {self._changed}"
        worst = [
            f"{item.dimension}={item.category} ({figure(item.value)}, {max(item.terms, key=item.terms.__getitem__)})"
            for item in self.worst(3)
            if item.terms
        ]
        return f"{text} Worst slices: {', '.join(worst)}." if worst else text

    @property
    def _changed(self) -> str:
        """What the redesign and the protection each did to the risk."""
        assert self.before is not None
        if self.merged is None:
            return _told("Protection", self.before, self.value)
        text = _told("Merging categories", self.before, self.merged)
        if self.merged > self.before:
            text += (
                " Each is R1 on a table's own cells, and people fill the merged cells less evenly; "
                "every merged figure is a sum of original ones and tells no more than they do."
            )
        if not math.isclose(self.merged, self.value, rel_tol=1e-9):
            text += " " + _told("Protection of the merged table", self.merged, self.value)
        return text

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        slices = [item.to_dict() for part in self.slices for item in part]
        told = {"weights": list(self.weights), "driver": self.driver, "sentence": self.sentence}
        return {**{name: value for name, value in vars(self).items() if name != "slices"}, **told, "slices": slices}

    def rows(self, n: int | None = None) -> list[list[str]]:
        """Return the slices as rows of text: all in order, or the n worst."""
        items = self.worst(n) if n is not None else [item for part in self.slices for item in part]
        return [
            [
                f"{item.dimension}={item.category}",
                figure(item.value),
                *(figure(item.terms[term] if item.terms else None) for term in TERMS),
                f"{item.people:,}",
            ]
            for item in items
        ]

    def to_frame(self, backend: Backend = "pandas") -> Frame:
        """Return the slices as a frame: dimension, category, risk, its three terms, and people."""
        import pyarrow as pa

        from discreet.table.arrow_files import frame_from_arrow

        items = [item for part in self.slices for item in part]
        columns: dict[str, list[object]] = {
            "dimension": [item.dimension for item in items],
            "category": [item.category for item in items],
            "risk": [item.value for item in items],
            **{term: [item.terms and item.terms[term] for item in items] for term in TERMS},
            "people": [item.people for item in items],
        }
        return frame_from_arrow(pa.table(columns), backend)

    def _headline(self) -> str:
        form = f", form {self.form}" if self.form else ""
        return f"{self.measure} = {self.value:.4f} (0 = low, 1 = high{form})"

    def whole(self) -> list[str]:
        """Return the whole table's figures as a row of text."""
        return ["whole table", figure(self.value), *(figure(self.terms[t]) for t in TERMS), f"{self.people:,}"]

    def face(self, most: int) -> Face:
        """Return the number, what drives it, and the worst slices."""
        rows = [self.whole(), *self.rows(most)]
        return Face(["", "risk", *TERMS, "people"], rows, f"{self._headline()}\n{self.sentence}")

    def _repr_html_(self) -> str:
        header, rows, _, _ = self.face(20)
        head = f"<p><b>{html.escape(self._headline())}</b><br>{html.escape(self.sentence)}</p>"
        return head + html_table(header, rows)


def _told(what: str, before: float, after: float) -> str:
    """Return a sentence on how something changed a risk."""
    how = change(before, after)
    if how == "unchanged":
        return f"{what} leaves the risk at {before:.4f}."
    verb = "lowers" if after < before else "raises"
    return f"{what} {verb} the risk from {before:.4f} to {after:.4f} ({how})."
