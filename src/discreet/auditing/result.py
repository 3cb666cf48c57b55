"""What an audit returns: every figure that is not published exactly, its interval, risk, proof and verdict."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from discreet.core.text import columns, html_table

Verdict: TypeAlias = Literal["safe", "unsafe", "incomplete"]
HEADER = ("cell", "lower", "upper", "values", "bits", "DR", "attacker", "verdict")


@dataclass(frozen=True)
class CellAudit:
    """What one attacker can work out about one figure.

    ``lower`` and ``upper`` bound the true value, or, for somebody who contributed to the cell, what the others in it
    contributed. ``values`` counts the possible values and ``bits`` is H(X | Y = y) under the law chosen; ``prior_bits``
    is the entropy before anything on the cell was published, domingo2002 (1). ``alone`` is the interval that the table
    which hides the figure leaves without the other tables.
    """

    cell: Mapping[str, str]
    name: str
    lower: float
    upper: float
    values: float
    bits: float
    bits_error: float
    prior_bits: float
    attacker: str
    verdict: Verdict
    faults: tuple[str, ...] = ()
    proof: str = ""
    finished: bool = True
    alone: tuple[float, float] | None = None

    @property
    def dr(self) -> float:
        """The disclosure risk 1/H(X | Y = y); infinite where the value is determined."""
        return math.inf if self.bits <= 0 else 1 / self.bits

    @property
    def by_linking(self) -> bool:
        """True where the other tables narrow the interval."""
        return self.alone is not None and self.alone != (self.lower, self.upper)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; what is infinite or unknown is None."""
        return {
            "cell": dict(self.cell),
            "lower": _finite(self.lower),
            "upper": _finite(self.upper),
            "values": _finite(self.values),
            "bits": _finite(self.bits),
            "bits_error": _finite(self.bits_error),
            "dr": _finite(self.dr),
            "determined": self.values == 1,
            "prior_bits": _finite(self.prior_bits),
            "proof": self.proof or None,
            "attacker": self.attacker,
            "verdict": self.verdict,
            "faults": list(self.faults),
            "finished": self.finished,
            "alone": None if self.alone is None else [_finite(end) for end in self.alone],
        }

    def row(self) -> list[str]:
        """Return the figures as texts."""
        return [
            self.name,
            _text(self.lower),
            _text(self.upper),
            _text(self.values),
            _text(self.bits, 3),
            _text(self.dr, 4),
            self.attacker,
            self.verdict if not self.faults else f"{self.verdict}: {'; '.join(self.faults)}",
        ]


@dataclass(frozen=True)
class Audit:
    """The verdict on what is published, and every figure behind it, the worst first."""

    verdict: Verdict
    cells: tuple[CellAudit, ...]
    law: str
    published: int
    tables: int | None = None
    note: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many figures have each verdict."""
        found = {"safe": 0, "unsafe": 0, "incomplete": 0}
        for cell in self.cells:
            found[cell.verdict] += 1
        return found

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if not self.cells:
            return (
                f"All {self.published:,} figures are published exactly, so there is nothing to work out; whether they "
                "may be published is for the rules and the risk measures to say (discreet rules, discreet risk)."
            )
        counts = self.counts
        exact = sum(cell.values == 1 for cell in self.cells)
        parts = [f"{len(self.cells):,} intervals were worked out: {counts['safe']:,} safe, {counts['unsafe']:,} unsafe"]
        if counts["incomplete"]:
            parts.append(f"{counts['incomplete']:,} not finished, which are not called safe")
        if exact:
            parts.append(f"{exact:,} {'value is' if exact == 1 else 'values are'} determined exactly")
        linked = sum(cell.by_linking and cell.verdict == "unsafe" for cell in self.cells)
        if linked:
            parts.append(f"{linked:,} of the unsafe ones are narrower because of another table")
        if self.tables is not None:
            parts.append(f"{self.tables:,} tables fit what is published")
        return "; ".join(parts) + "." + (f" {self.note[0].upper()}{self.note[1:]}." if self.note else "")

    def worst(self, n: int) -> tuple[CellAudit, ...]:
        """Return the n figures about which most is known."""
        return self.cells[:n]

    def cell(self, attacker: str | None = None, **labels: object) -> CellAudit:
        """Return the figure of one cell, by its labels.

        Labels that are not given are those of the total.
        """
        wanted = {name: str(label) for name, label in labels.items()}
        for item in self.cells:
            rest = {name: label for name, label in item.cell.items() if name not in wanted}
            same = all(item.cell.get(name) == label for name, label in wanted.items())
            if same and all(label == "Total" for label in rest.values()) and attacker in (None, item.attacker):
                return item
        raise KeyError(f"no figure of {wanted} is among those audited; published figures are exact")

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain data."""
        return {
            "verdict": self.verdict,
            "law": self.law,
            "sentence": self.sentence,
            "counts": self.counts,
            "published": self.published,
            "tables": self.tables,
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def to_csv(self) -> str:
        """Return one line per figure."""
        stream = io.StringIO()
        names = list(self.cells[0].cell) if self.cells else []
        fields = ("lower", "upper", "values", "bits", "dr", "attacker", "verdict", "proof")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*names, *fields])
        for cell in self.cells:
            data = cell.to_dict()
            writer.writerow([*(cell.cell.get(name, "") for name in names), *(data[field] for field in fields)])
        return stream.getvalue()

    def table(self, n: int) -> list[list[str]]:
        """Return a header and the n worst figures as rows of text."""
        return [list(HEADER), *(cell.row() for cell in self.worst(n))]

    def _face(self, n: int) -> tuple[list[str], list[list[str]]]:
        return list(HEADER), self.table(n)[1:]

    def __str__(self) -> str:
        """Return the verdict, the worst figures, and proofs."""
        if not self.cells:
            return f"Audit: {self.verdict}\n{self.sentence}"
        proofs = [f"  {cell.proof}" for cell in self.worst(3) if cell.proof]
        return "\n".join([f"Audit: {self.verdict}", self.sentence, columns(*self._face(10)), *proofs])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        head = f"<p><b>Audit: {self.verdict}</b><br>{html.escape(self.sentence)}</p>"
        return head + html_table(*self._face(20))


def _finite(number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    return int(number) if float(number).is_integer() else float(number)


def _text(number: float, digits: int = 0) -> str:
    if math.isinf(number):
        return "∞"
    return f"{number:,.{digits}f}" if digits or not float(number).is_integer() else f"{int(number):,}"
