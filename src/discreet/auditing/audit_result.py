"""What an audit returns: every figure that is not published exactly, its interval, risk, proof and verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.auditing.findings import RANK, SUBJECTS, VERDICTS, Findings, Verdict
from discreet.auditing.laws import LAWS
from discreet.auditing.limits import AuditCriterion
from discreet.core.errors import with_arguments
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.numerics import IntArray, disclosure_risk
from discreet.core.proof_text import proof_text
from discreet.core.text import Readable, at_least, at_most, columns, finite, html_table, many_text, number_text

LARGEST = 10**1000
"""Numbers of tables are reported in full below this; their logarithm always is."""
HEADER = ("cell", "lower", "upper", "values", "bits", "DR", "DR before", "attacker", "verdict")


@dataclass(frozen=True)
class CellAudit:
    """What one attacker can work out about one figure.

    ``lower`` and ``upper`` bound the true value, or, where ``subject`` is "largest other contributor" or "only
    contributor", the contribution of that respondent. ``values`` counts the possible values and ``bits`` is H(X | Y =
    y) under the law chosen; ``prior_bits`` is the entropy before anything about the cell was published, domingo2002
    (1), with all values equally likely up to the largest that any figure in print allows. ``alone`` is the interval
    that one of several linked tables leaves on its own. Where only the verdict was asked for, safe figures have no
    intervals (NaN).
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
    subject: str = "value"
    bound: bool = False

    @property
    def dr(self) -> float:
        """The disclosure risk 1/H(X | Y = y), domingo2002 (2); infinite where the value is determined."""
        return float(disclosure_risk(self.bits))

    @property
    def prior_dr(self) -> float:
        """The disclosure risk 1/H(X) before anything about the cell was published, domingo2002 (1)."""
        return float(disclosure_risk(self.prior_bits))

    @property
    def by_linking(self) -> bool:
        """Whether several tables together leave less open than any of them alone."""
        return self.alone is not None and self.alone != (self.lower, self.upper)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data; infinite and unknown values are None."""
        return {
            "cell": dict(self.cell),
            "subject": self.subject,
            **{name: finite(getattr(self, name)) for name in ("lower", "upper", "values", "bits", "bits_error", "dr")},
            "basis": "not shown" if math.isnan(self.bits) else "bound" if self.bound else "exact",
            "determined": self.values == 1,
            "prior_bits": finite(self.prior_bits),
            "prior_dr": finite(self.prior_dr),
            "proof": self.proof or None,
            "attacker": self.attacker,
            "verdict": self.verdict,
            "faults": list(self.faults),
            "finished": self.finished,
            "alone": None if self.alone is None else [finite(end) for end in self.alone],
        }

    def row(self) -> list[str]:
        """Return the figures as texts."""
        return [
            self.name if self.subject == "value" else f"{self.name} ({self.subject})",
            number_text(self.lower),
            number_text(self.upper),
            many_text(self.values),
            at_least(self.bits, 3) if self.bound else number_text(self.bits, 3),
            at_most(self.dr) if self.bound else number_text(self.dr, 4),
            number_text(self.prior_dr, 4),
            self.attacker,
            self.verdict if not self.faults else f"{self.verdict}: {'; '.join(self.faults)}",
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Readable):
    """The verdict on what is published, and every figure behind it, the worst first.

    ``findings`` holds the figures in columns; ``cells`` turns each into an object on request. ``criterion`` says what
    "safe" means here.
    """

    verdict: Verdict
    findings: Findings
    law: str
    published: int
    tables: int | None = None
    note: str = ""
    proofs: Mapping[int, str] = field(default_factory=dict)
    criterion: AuditCriterion = field(default_factory=AuditCriterion)

    @cached_property
    def cells(self) -> tuple[CellAudit, ...]:
        """Every figure that was judged, the worst first."""
        return self._cells(self.findings.order)

    def _cells(self, rows: IntArray) -> tuple[CellAudit, ...]:
        found = self.findings
        made = []
        for k in rows.tolist():
            i, dr = int(found.at[k]), float(found.dr[k])
            lower, upper = float(found.lower[k]), float(found.upper[k])
            alone = (float(found.alone[0, k]), float(found.alone[1, k]))
            made.append(
                CellAudit(
                    found.equations.cell(i),
                    found.equations.describe(i),
                    lower,
                    upper,
                    float(found.values[k]),
                    float(found.bits[k]),
                    float(found.error[k]),
                    float(found.prior[k]),
                    found.attackers[int(found.who[k])],
                    VERDICTS[int(found.rank[k])],
                    found.limits.phrases(found.faults[k], lower, upper, dr) if found.faults[k].any() else (),
                    self.proofs.get(k, ""),
                    bool(found.finished[k]),
                    None if math.isnan(alone[0]) else alone,
                    SUBJECTS[int(found.subject[k])],
                    bool(found.bound[k]),
                )
            )
        return tuple(made)

    @property
    def counts(self) -> dict[str, int]:
        """How many figures have each verdict."""
        many = np.bincount(self.findings.rank, minlength=3)
        return {name: int(many[RANK[name]]) for name in ("safe", "unsafe", "incomplete")}

    @cached_property
    def linked(self) -> tuple[CellAudit, ...]:
        """The unsafe figures that a single table would leave more open: what linking gives away."""
        found = self.findings
        narrower = ((found.alone[0] < found.lower) | (found.alone[1] > found.upper)) & (found.rank == RANK["unsafe"])
        return self._cells(found.order[narrower[found.order]])

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return with_arguments(self._sentence())

    def _sentence(self) -> str:
        note = f" {self.note[0].upper()}{self.note[1:]}." if self.note else ""
        if not len(self.findings) and self.verdict == "safe":
            return f"All figures are published exactly.{note}"
        if not len(self.findings):
            return (
                "All figures are published exactly and nobody was named who knows more: there is "
                "nothing to work out, and nothing that could be shown to be safe. Whether these figures may "
                "be published is for the rules and the risk measures to say (dc.sensitivity, dc.risk, discreet rules, "
                "discreet risk); what contributors learn about each other is audited with their contributions "
                f"(contributions=, --contributions).{note}"
            )
        counts = self.counts
        exact = int(self.findings.determined.sum())
        figures = len(self.findings)
        parts = [
            f"{figures:,} {'figure was' if figures == 1 else 'figures were'} judged: {counts['safe']:,} safe, "
            f"{counts['unsafe']:,} unsafe"
        ]
        if counts["incomplete"]:
            parts.append(
                f"{counts['incomplete']:,} not finished, whose intervals are outer bounds: they hold every possible "
                f"value, may be too wide{self._off()}, and are not called safe"
            )
        if exact:
            parts.append(f"{exact:,} {'value is' if exact == 1 else 'values are'} determined exactly")
        if self.linked:
            are = "is" if len(self.linked) == 1 else "are"
            parts.append(f"{len(self.linked):,} of the unsafe ones {are} narrower because of another table")
        if self.tables is not None:
            many = f"{self.tables:,}" if self.tables < 10**15 else f"about 2^{math.log2(self.tables):,.1f}"
            parts.append(f"{many} {'table fits' if self.tables == 1 else 'tables fit'} what is published")
        return "; ".join(parts) + "." + note

    def _off(self) -> str:
        """Say by how much the intervals that are not finished may be too wide, as far as tables that fit show it."""
        off = self.findings.off[self.findings.rank == RANK["incomplete"]]
        far = float(np.nan_to_num(off, nan=0.0, posinf=np.inf).max(initial=0.0))
        return f" by {number_text(far)} at either end" if 0 < far < np.inf else ""

    def worst(self, n: int) -> tuple[CellAudit, ...]:
        """Return the n figures about which readers know most."""
        return self._cells(self.findings.order[:n])

    def worst_of_each(self, n: int) -> tuple[CellAudit, ...]:
        """Return the n published figures about which outsiders know most, and the n others: of insiders, or of sums.

        Which of the others there are depends on what was asked; the n figures of outsiders follow from the release.
        """
        found = self.findings
        shown = (found.who == 0) & (found.at < found.equations.positions.size)
        mine = shown[found.order]
        rank = np.where(mine, np.cumsum(mine), np.cumsum(~mine))
        return self._cells(found.order[rank <= n])

    def cell(self, attacker: str | None = None, **labels: object) -> CellAudit:
        """Return the figure of one cell, by its labels.

        A dimension without a label stands for its total.
        """
        wanted = {name: str(label) for name, label in labels.items()}
        found = self.findings
        at = found.equations.find(wanted) if set(wanted) <= {"measure", *found.equations.space.names} else -1
        rows = found.order[found.at[found.order] == at]
        if attacker is not None:
            who = found.attackers.index(attacker) if attacker in found.attackers else -1
            rows = rows[found.who[rows] == who]
        if not rows.size:
            raise KeyError(f"no figure of {wanted} is among those audited; published figures are exact")
        return self._cells(rows[:1])[0]

    def to_dict(self) -> dict[str, Json]:
        """Return the audit as plain data."""
        return {
            "verdict": self.verdict,
            "criterion": self.criterion.to_dict(),
            "law": self.law,
            "sentence": self._sentence(),
            "counts": self.counts,
            "published": self.published,
            "tables": self.tables if self.tables is not None and self.tables < LARGEST else None,
            "log2_tables": math.log2(self.tables) if self.tables else None,
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def to_csv(self) -> str:
        """Return one line per figure."""
        names = list(self.cells[0].cell) if self.cells else []
        fields = ("subject", "lower", "upper", "values", "bits", "dr", "prior_dr", "attacker", "verdict", "proof")
        rows = ([*(c.cell.get(name, "") for name in names), *map(c.to_dict().get, fields)] for c in self.cells)
        return csv_text([*names, *fields], rows)

    def table(self, n: int) -> list[list[str]]:
        """Return a header and the n worst figures as rows of text; attackers are named unless all are outsiders."""
        rows = [list(HEADER), *(cell.row() for cell in self.worst(n))]
        if set(self.findings.attackers) <= {"outsider"}:
            rows = [[text for name, text in zip(HEADER, row, strict=True) if name != "attacker"] for row in rows]
        return rows

    def __str__(self) -> str:
        """Return the verdict, the worst figures, and proofs."""
        if not len(self.findings):
            return f"Audit: {self.verdict}\n{self.sentence}\n{self.criterion}"
        proofs = [f"  {proof_text(cell.proof, cell.name)}" for cell in self.worst(3) if cell.proof]
        head = [f"Audit: {self.verdict}", self.sentence, str(self.criterion), LAWS[self.law].text]
        header, *rows = self.table(10)
        return with_arguments("\n".join([*head, columns(header, rows), *proofs]))

    def _repr_html_(self) -> str:
        import html

        head = f"<p><b>Audit: {self.verdict}</b><br>{html.escape(f'{self.sentence} {self.criterion}')}</p>"
        header, *rows = self.table(20)
        return head + html_table(header, rows)
