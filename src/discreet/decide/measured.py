"""One point of a comparison: what a method does to a table, each figure with its Monte Carlo error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.decide.evidence import Evidence, gather
from discreet.decide.known import Known
from discreet.decide.plain import number
from discreet.decide.policy import Policy
from discreet.decide.protection_grid import GridPoint
from discreet.decide.protections import make_method
from discreet.decide.record import digest
from discreet.decide.subject import Subject
from discreet.decide.verdict import check, failed
from discreet.protect.base import Method, RandomMethod, is_random
from discreet.rules.sensitivity import Sensitivity


@dataclass(frozen=True)
class Figure:
    """A mean over draws and its Monte Carlo error, 0 for a method that leaves nothing to chance."""

    mean: float
    mc_error: float = 0.0

    @classmethod
    def of(cls, values: list[float]) -> Figure:
        """Summarise draws."""
        some = np.array(values, np.float64)
        if some.size < 2 or not np.isfinite(some).all():
            return cls(float(some.mean()) if np.isfinite(some).all() else math.inf, 0.0)
        return cls(float(some.mean()), float(some.std(ddof=1) / math.sqrt(some.size)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; what is infinite is None."""
        return {"mean": number(self.mean), "mc_error": number(self.mc_error)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Figure | None:
        """Return what :meth:`to_dict` wrote."""
        if data is None:
            return None
        return cls(math.inf if data["mean"] is None else data["mean"], data["mc_error"] or 0.0)


FIGURES = ("r2", "utility", "hellinger", "mean_absolute_error", "mean_squared_error", "worst_dr", "determined", "known")


@dataclass(frozen=True)
class Measured:
    """What a method does: risk, utility and errors over its draws; what can be worked out, over audited releases.

    Attributes:
        r2: R2 over the draws; None for magnitudes.
        utility: 1 − HD/√N over the draws; for magnitudes, the share of the amounts that is left.
        worst_dr: the largest 1/H of a sensitive cell to a reader who knows the method; infinite where one is known, or
            where it is not shown.
        determined: the share of the sensitive cells that are known exactly.
        known: the share of all figures of the table that are known exactly.
        extremes: the worst of every audited release: most known cells, least width, largest DR, levels missed.
        faults: what the policy objects to in one of them or in their mean; nothing where it is met.
        error: why the method could not be applied.
    """

    point: GridPoint
    figures: Mapping[str, Figure | None] = field(default_factory=dict)
    extremes: Mapping[str, float] = field(default_factory=dict)
    draws: int = 0
    audits: int = 0
    seconds: float = 0.0
    faults: tuple[str, ...] = ()
    error: str = ""

    def figure(self, name: str) -> float | None:
        """Return the mean of a figure."""
        found = self.figures.get(name)
        return None if found is None else found.mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            **self.point.to_dict(),
            **{name: None if (f := self.figures.get(name)) is None else f.to_dict() for name in FIGURES},
            "extremes": {name: number(value) for name, value in self.extremes.items()},
            "draws": self.draws,
            "audits": self.audits,
            "faults": list(self.faults),
            "error": self.error or None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measured:
        """Return what :meth:`to_dict` wrote."""
        return cls(
            GridPoint(data["method"], data["parameters"]),
            {name: Figure.from_dict(data[name]) for name in FIGURES},
            {name: math.inf if value is None else value for name, value in data["extremes"].items()},
            data["draws"],
            data["audits"],
            0.0,
            tuple(data["faults"]),
            data["error"] or "",
        )


def measure(
    subject: Subject,
    policy: Policy,
    found: Sensitivity | None,
    point: GridPoint,
    *,
    draws: int,
    audits: int,
    seed: int,
    time_limit: float | None = None,
) -> Measured:
    """Measure one method on one table; what cannot be applied says why."""
    try:
        if point.name == "none":
            return _released(subject, policy, found, point, None, 1, 1, seed, time_limit)
        method = make_method(point.name, point.parameters, found, time_limit)
        chance = is_random(method)
        return _released(
            subject, policy, found, point, method, draws if chance else 1, audits if chance else 1, seed, time_limit
        )
    except DiscreetError as error:
        return Measured(point, faults=(str(error),), error=str(error))


def _released(
    subject: Subject,
    policy: Policy,
    found: Sensitivity | None,
    point: GridPoint,
    method: Method | None,
    draws: int,
    audits: int,
    seed: int,
    time_limit: float | None,
) -> Measured:
    # A stream of its own for every point, so that a result does not depend on which others are compared.
    root = np.random.SeedSequence([seed, int(digest(point.to_dict())[:15], 16)])
    streams = root.spawn(audits + 1)
    evidences = []
    for stream in streams[:audits]:
        made = None if method is None else method.apply(subject.original, stream)
        release, proof = (subject.as_is(), None) if made is None else (made.release, made.candidates)
        evidences.append(
            gather(subject, policy, release, found, candidates=proof, time_limit=time_limit, proofs=0, workers=1)
        )
    figures: dict[str, Figure | None] = {}
    table = subject.table
    if isinstance(method, RandomMethod) and table is not None and draws > 1:
        from discreet.evaluate.expected import expected_risk

        expected: Any = expected_risk(
            table, method, draws=draws, weights=policy.weights, slices=(), seed=streams[-1], workers=1
        )
        figures["r2"] = Figure(expected.risk.mean, expected.risk.mc_error)
        for name in ("utility", "hellinger", "mean_absolute_error", "mean_squared_error"):
            one = getattr(expected, name)
            figures[name] = Figure(one.mean, one.mc_error)
    else:
        figures["r2"] = None if evidences[0].risk is None else Figure.of([e.risk.value for e in evidences if e.risk])
        figures["utility"] = Figure.of([e.utility for e in evidences])
        for name in ("hellinger", "mean_absolute_error", "mean_squared_error"):
            known = [float(getattr(e.loss, name)) for e in evidences if e.loss is not None]
            figures[name] = Figure.of(known) if known else None
    some = found is not None and found.cells.size > 0
    figures["worst_dr"] = Figure.of([_worst_dr(e.known) for e in evidences]) if some else None
    n = max(found.cells.size if found is not None else 0, 1)
    figures["determined"] = Figure.of([e.known.count("exact", "determined") / n for e in evidences])
    figures["known"] = Figure.of([_known_share(subject, e) for e in evidences])
    faults: dict[str, str] = {}
    for evidence in evidences:
        for one in failed(check(subject, policy, found, evidence)):
            # R2 is held against its mean over the draws.
            if one.name != "r2":
                faults.setdefault(one.name, one.brief)
    r2 = figures["r2"]
    if r2 is not None and not policy.limits.met("r2", r2.mean):
        faults["r2"] = f"R2 of {r2.mean:.4f} is above {policy.limits.r2:g}"
    told = tuple(faults.values())
    return Measured(point, figures, _extremes(found, evidences), draws, audits, faults=told)


def _known_share(subject: Subject, evidence: Evidence) -> float:
    """Return the share of the table's figures that are published exactly or can be worked out."""
    exact = sum(int((part.ranges()[0] == part.ranges()[1]).sum()) for part in evidence.release.parts())
    every = sum(len(part) for part in evidence.release.parts())
    worked_out = int(evidence.audit.findings.determined.sum())
    return min((exact + worked_out) / max(every, 1), 1.0)


def _extremes(found: Sensitivity | None, evidences: list[Evidence]) -> dict[str, float]:
    """Return the worst that any audited release shows of a sensitive cell; a risk that is not shown is infinite."""
    worst = {"known": 0.0, "unfinished": 0.0, "dr": 0.0, "width": math.inf, "levels": 0.0}
    if found is None or not found.cells.size:
        return worst
    for known in (evidence.known for evidence in evidences):
        worst["known"] = max(worst["known"], known.count("exact", "determined"))
        worst["unfinished"] = max(worst["unfinished"], known.count("unfinished"))
        worst["dr"] = max(worst["dr"], _worst_dr(known))
        worst["width"] = min(worst["width"], float(known.width.min()))
        worst["levels"] = max(worst["levels"], int(known.wrong("lower", "upper", "sliding").sum()))
    return worst


def _worst_dr(known: Known) -> float:
    return float(np.nan_to_num(known.dr, nan=np.inf, posinf=np.inf).max())
