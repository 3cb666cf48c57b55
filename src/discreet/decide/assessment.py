"""What an assessment returns: the verdict, the reasons, and everything behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from discreet.core.effort import EACH
from discreet.core.errors import RequestError, both_shown, with_arguments
from discreet.core.json_types import Json, JsonObject
from discreet.core.text import columns, figure, grouped_text, number_text
from discreet.decide.evidence import Evidence
from discreet.decide.json_data import cell_rows, original_data, release_data, sensitive_data
from discreet.decide.policy import Policy, make_text
from discreet.decide.provenance import SCHEMA, Recorded
from discreet.decide.subject import Subject
from discreet.decide.verdict import PHRASES, Check, Verdict, failed
from discreet.measures.risk_result import Risk
from discreet.protect.base import Method, Protected
from discreet.reading.opened import Opened
from discreet.rules.sensitivity import Sensitivity
from discreet.table.arrow_files import Backend, Frame
from discreet.table.release import TRIAL, Release

Protect: TypeAlias = "Literal['propose', 'none'] | str | JsonObject | Method | Release"


@dataclass(frozen=True)
class Request:
    """The settings of an assessment, apart from the table.

    Each search and each audit may take ``time_limit`` seconds, and all of them together ``within``.
    """

    policy: Policy
    protection: Protect
    seed: int
    draws: int = 1000
    population: int | None = None
    time_limit: float | None = EACH
    trial: bool = False
    statistics: JsonObject = field(default_factory=dict)
    within: float | None = None


class EstimatedSample(Protocol):
    """What an assessment says of a sample whose population is not known."""

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""

    def rows(self) -> list[list[str]]:
        """Return the figures that decide, as rows of text."""

    def side_by_side(self) -> tuple[list[str], list[list[str]]]:
        """Return the models as a table of texts."""


@dataclass(frozen=True)
class Candidate:
    """A protection that was tried, the utility it keeps, and whether it meets the policy.

    ``late`` says that time was up before it was known.
    """

    method: str
    parameters: Mapping[str, object]
    title: str
    meets: bool
    utility: float | None
    r2: float | None
    text: str
    late: bool = False

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        plain = {name: value for name, value in vars(self).items() if name != "late"}
        return {**plain, "parameters": dict(self.parameters)}


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Recorded):
    """The verdict on a table under a policy, with the evidence: for the person who signs, not for publication.

    Attributes:
        verdict: ``"release"``, ``"protect"`` or ``"withhold"``.
        checks: every requirement of the policy, whether it is met, and why.
        sensitivity: what the rules found in the original.
        before: R1 of the original, for counts.
        evidence: release, audit, risk after and loss; for a sample table the risk is in ``sample``.
        protected: what the protection changed, where one was applied.
        candidates: the protections that were tried, where one was to be proposed.
        sample: estimated risk and uniques under all models, for a sample table.
        record: what is needed to repeat the assessment.
        trial: true if nothing from it will be published.
        remedy: what would let a withheld table pass, where that is known.
    """

    subject: Subject
    policy: Policy
    verdict: Verdict
    checks: tuple[Check, ...]
    sensitivity: Sensitivity | None
    before: Risk | None
    evidence: Evidence
    protected: Protected | None = None
    candidates: tuple[Candidate, ...] = ()
    sample: EstimatedSample | None = None
    record: JsonObject = field(default_factory=dict)
    source: Opened | None = None
    trial: bool = False
    remedy: str = ""

    @property
    def release(self) -> Release | None:
        """What may be published, or None; a trial's release is marked as such."""
        if self.verdict == "withhold":
            return None
        return self.evidence.release.as_trial() if self.trial else self.evidence.release

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words: what is wrong if the table is withheld, and otherwise what was checked."""
        wrong = failed(self.checks)
        return tuple(with_arguments(one.text) for one in (wrong or self.checks))

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        release, how = self.release, ""
        if release is not None and self.verdict == "protect":
            told = {name: value for name, value in release.parameters.items() if USUAL.get(name) != value}
            how = f" by {make_text(release.method, told)}"
        why = f": {self.reasons[0]}" if self.reasons else ""
        trial = f" {TRIAL}." if self.trial else ""
        remedy = f" {self.remedy}." if self.remedy else ""
        return with_arguments(f"{PHRASES[self.verdict].capitalize()}{how}{why}.{remedy}{trial}")

    @property
    def rows_sentence(self) -> str:
        """What drives the risk of the release, and which rows are worst, in words; empty for magnitudes."""
        return "" if self.evidence.risk is None else self.evidence.risk.sentence

    def cells(self, n: int | None = 20) -> list[JsonObject]:
        """Return the sensitive cells as plain data, the best known first, each with its proof."""
        return [] if self.sensitivity is None else [*cell_rows(self.sensitivity, self.evidence, n)]

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, with original values: for the report and ``--json``."""
        with both_shown():
            evidence, audit, loss = self.evidence, self.evidence.audit, self.evidence.loss
            names = ("verdict", "law", "sentence", "counts", "published", "tables")
            lost: dict[str, Json] = {"utility": evidence.utility, "sentence": "" if loss is None else loss.sentence}
            return {
                "schema": SCHEMA,
                "kind": "sample" if self.sample is not None else "assessment",
                "name": self.subject.name,
                "verdict": self.verdict,
                "trial": self.trial,
                "sentence": self.sentence,
                "reasons": list(self.reasons),
                "checks": [one.to_dict() for one in self.checks],
                "table": original_data(self.subject, self.sensitivity),
                "policy": self.policy.to_dict(),
                "rules": sensitive_data(self.sensitivity),
                "before": None if self.before is None else self.before.to_dict(),
                "after": None if evidence.risk is None else evidence.risk.to_dict(),
                "protection": None if self.protected is None else self.protected.to_dict(),
                "candidates": [one.to_dict() for one in self.candidates],
                "release": release_data(evidence.release),
                "cells": self.cells(CELLS),
                "audit": {name: getattr(audit, name) for name in names}
                | {"cells": [cell.to_dict() for cell in audit.worst_of_each(CELLS)]},
                "utility": {**({} if loss is None else loss.to_dict()), **lost},
                **({"statistics": [one.to_dict() for one in evidence.statistics]} if evidence.statistics else {}),
                "sample": None if self.sample is None else self.sample.to_dict(),
                "record": dict(self.record),
            }

    def to_frame(self, backend: Backend | None = None) -> Frame:
        """Return what may be published as a frame: pandas or polars, like the input."""
        if self.release is None:
            raise RequestError("nothing may be published, so there is no frame of it; see the reasons")
        decimals = max(part.decimals for part in self.release.parts())
        chosen = backend or (self.source and self.source.backend) or "pandas"
        return self.release.to_frame(chosen, value="value" if decimals else "count")

    def figures(self) -> list[list[str]]:
        """Return the figures that decide, as rows of text."""
        if self.sample is not None:
            rows = list(self.sample.rows())
        else:
            after = self.evidence.risk
            rows = [["risk before, R1", figure(None if self.before is None else self.before.value)]]
            if after is not None and after.merged is not None:
                rows.append(["R1 on the merged categories", figure(after.merged)])
            rows.append(["risk after, R2", figure(None if after is None else after.value)])
        rows.append(["utility", figure(self.evidence.utility)])
        rows += [[f"{one.name} published", f"{one.shown:,} of {one.wanted:,}"] for one in self.evidence.statistics]
        if self.sensitivity is not None:
            rows.append(["sensitive cells", f"{self.sensitivity.cells.size:,}"])
            rows.append(["of these known exactly", f"{self.evidence.known.count('exact', 'determined'):,}"])
        return rows

    @staticmethod
    def side_by_side(cells: Sequence[JsonObject]) -> tuple[list[str], list[list[str]]]:
        """Return cells as a table of texts: true and published figures, what a reader knows, and why it matters."""
        header = ["sensitive cell", "true", "published", "a reader knows", "why"]
        return header, [
            [one["name"], number_text(one["original"]), grouped_text(one["published"]), one["known"], one["reason"]]
            for one in cells
        ]

    def __str__(self) -> str:
        """Return the verdict, the reasons and the worst cells."""
        parts = [
            f"{self.verdict.upper()}: {self.sentence}",
            *(f" {'✓' if one.passed else '✗'} {one.text}" for one in self.checks),
        ]
        parts.append(columns(["", ""], self.figures()))
        parts += [columns(*self.sample.side_by_side())] if self.sample is not None else []
        parts += [self.rows_sentence] if self.rows_sentence else []
        cells = self.cells(10)
        if cells:
            parts.append(columns(*self.side_by_side(cells), left=5))
        return with_arguments("\n".join(parts))


USUAL = {"method": "fast", "cost": "value", "form": "marks"}
"""Settings of suppression that a verdict does not mention; the record has all of them."""
CELLS = 1000
"""How many of the worst cells the plain data list: enough for a report, and a few MB of JSON."""
