"""Sample tables: risk and population uniques are estimated, as the population's counts are not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.text import figure
from discreet.decide.result import Assessment
from discreet.decide.subject import Subject
from discreet.decide.verdict import Check, Verdict, failed
from discreet.measures.estimate import Estimate, estimate
from discreet.uniques.report import PopulationUniques, population_uniques


@dataclass(frozen=True, eq=False)
class SampleEvidence:
    """Estimated R2 of a sample table, and the population uniques among its sample uniques."""

    risk: Estimate
    uniques: PopulationUniques

    @property
    def tau(self) -> float:
        """τ̃, the largest expected number of population uniques under any prior: the careful reading."""
        return max((float(view.tau.total.mean) for view in self.uniques.priors.values()), default=0.0)

    def rows(self) -> list[list[str]]:
        """Return the figures that decide, as rows of text."""
        return [
            ["estimated risk, R2", f"{figure(self.risk.mean)} ± {figure(self.risk.mc_error, 5)}"],
            ["sample uniques", f"{self.uniques.sample_uniques:,}"],
            ["of these expected to be population uniques, τ̃", f"{self.tau:.4g}"],
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"risk": self.risk.to_dict(), "uniques": self.uniques.to_dict(), "tau": self.tau}


def assess_sample(
    subject: Subject, request: Any, *, workers: int | None = None, progress: Progress | None = None
) -> Assessment:
    """Judge a sample table by its estimated risk and the expected number of population uniques.

    The rules are not asked: a small sample count need not be small in the population, which is what is estimated here.
    """
    if subject.table is None:
        raise RequestError(
            "a sample is judged by its counts, but this is a table of magnitudes; leave the population out"
        )
    if request.protection not in ("propose", "none"):
        raise RequestError(
            "the estimates are those of a sample that is published as it is; protect it, or give the population, not "
            "both"
        )
    policy, table = request.policy, subject.table
    found = SampleEvidence(
        estimate(
            table,
            request.population,
            draws=request.draws,
            weights=policy.weights,
            seed=request.seed,
            workers=workers,
            progress=progress,
        ),
        population_uniques(table, request.population, seed=request.seed, workers=workers, progress=progress),
    )
    checks = []
    if policy.limits.r2 is not None:
        # The estimate is itself uncertain: two standard errors are added before it is held against the limit.
        value, limit = found.risk.mean + 2 * found.risk.mc_error, policy.limits.r2
        kept = value <= limit
        text = f"the estimated risk R2 of the sample is {found.risk.mean:.4f} ± {found.risk.mc_error:.4f}"
        checks.append(
            Check("r2", kept, f"{text}, {'within' if kept else 'above'} the limit of {limit:g}", value, limit)
        )
    if policy.limits.tau is not None:
        kept = found.tau <= policy.limits.tau
        text = (
            f"of {found.uniques.sample_uniques:,} sample uniques {found.tau:.4g} are expected to be alone in the "
            f"population of {request.population:,} too, {'within' if kept else 'above'} the limit of "
            f"{policy.limits.tau:g}"
        )
        checks.append(Check("tau", kept, text, found.tau, policy.limits.tau))
    if not checks:
        raise RequestError(
            f"policy {policy.name!r} has neither a limit r2 nor a limit tau, by which samples are judged; add one"
        )
    verdict: Verdict = "withhold" if failed(tuple(checks)) else "release"
    return Assessment(subject, policy, verdict, tuple(checks), None, None, None, sample=found)
