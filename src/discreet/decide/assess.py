"""The assessment: from a table to a verdict. The order of the steps is fixed here, and nowhere else.

records or table → rules → risk before → protection (given, proposed or none) → audit → risk after → utility → verdict
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from discreet.auditing.levels import refuse_unfit
from discreet.core.clock import Clock
from discreet.core.effort import EACH, Effort, WorkOptions
from discreet.core.errors import DiscreetError, LateError, RequestError
from discreet.core.progress import Progress
from discreet.core.random import release_seed
from discreet.decide.assessment import Assessment, Candidate, Protect, Request
from discreet.decide.choice import ASKED, Choice
from discreet.decide.evidence import Evidence, gather
from discreet.decide.json_data import plain, plain_settings, release_data
from discreet.decide.policy import Policy, Protection, make_text
from discreet.decide.protections import make_method, parse_method
from discreet.decide.provenance import digest
from discreet.decide.safe_statistics import apply_beside, with_safe
from discreet.decide.subject import Case, Subject
from discreet.decide.verdict import Check, Verdict, check, failed
from discreet.evaluate.audited_suppression import AuditedSuppression
from discreet.protect import METHODS, Suppression
from discreet.protect.base import Method, Protected
from discreet.protect.linked import Keyed
from discreet.reading.opened import Opened
from discreet.reading.original import is_frame, open_original
from discreet.reading.published import open_release
from discreet.reading.reading import Reading, SearchOptions
from discreet.rules.sensitivity import Sensitivity
from discreet.table.presentation import ENDINGS
from discreet.table.release import Release
from discreet.table.statistic_reader import definitions_of

LATE = "no protection was found"
"""What is missing when time is up."""
PATIENCE = Effort(time_limit=EACH)
"""Seconds for a search or an audit by default: a minute, about as long as people wait."""


def assess(
    original: object,
    policy: str | Policy = "default",
    *,
    protection: Protect = "propose",
    population: int | None = None,
    name: str | None = None,
    seed: int | None = None,
    trial: bool = False,
    draws: int = 1000,
    **options: Unpack[SearchOptions],
) -> Assessment:
    """Assess a table under a policy: can it be released unchanged, after protection, or not at all?

    The steps are always the same: the policy's rules say which cells are sensitive; the risk is measured; the table is
    protected, if needed or requested; what would be published is audited; risk and loss are measured again; and every
    requirement of the policy is checked. The verdict is ``"release"`` (unchanged), ``"protect"`` (release the protected
    table, which the result holds) or ``"withhold"``.

    Args:
        original: a table, a tabulation, a file, or a pandas, polars or Arrow frame, of counts or of records.
        policy: the name of a profile, a TOML file, or a :class:`~discreet.decide.policy.Policy`.
        protection: ``"propose"`` tries the unprotected table, then the policy's protections in order, and takes the
            first that meets the policy: an order fixed beforehand tells readers nothing, while a choice by utility
            would; ``"none"`` judges the unprotected table; a method, ``"name:key=value"``, or ``{"name": …}`` is
            applied and judged; a :class:`Release`, or a file or frame of one, is judged as given.
        population: N, if the table is a sample from a population of that size: risk and population uniques are then
            estimated, since the population's counts are unknown.
        name: what the table is called in the result.
        seed: makes the result reproducible. By default a seed of 128 bits is drawn and kept in the record, which is as
            confidential as the original. A seed below 2**96 is refused unless this is a trial.
        trial: nothing will be published: a short seed will do, trial releases may be judged, and the result is marked
            as a trial.
        draws: population tables drawn for the estimated risk of a sample.
        options: those below.

    Keyword Args:
        statistics: percentages, rates and other statistics to publish beside the figures, by column, as
            ``{"pct": "percentage, over=sex"}``, or a TOML file of them: each is computed from published figures, where
            these are available. For a given release, the definitions of its statistics columns.
        time_limit: seconds for each search for a protection, and for each audit (60; 600 for a pattern of
            suppression); the best found by then is judged; anything unfinished is reported and never called safe. None
            sets no limit.
        workers: threads.
        progress: called as the work advances.
        by, value, contributor, …: how a file or frame is read, as for :func:`discreet.tabulate` and
            :func:`discreet.read_table`; ``response`` is the magnitude, where the table has several.

    >>> import discreet
    >>> found = assess(discreet.datasets.religion(), seed=1, trial=True)
    >>> found.verdict, found.release.method
    ('protect', 'random-rounding')
    """
    asked = Policy.load(policy)
    others: dict[str, Path] = {}
    wanted = definitions_of(options.pop("statistics", None))
    if wanted and isinstance(protection, Release) and not any(part.statistics for part in protection.parts()):
        raise RequestError(
            "statistics are defined, but the release has none; read it with them (read_release(statistics=))"
        )
    named = isinstance(protection, str) and protection.partition(":")[0].strip() in METHODS
    if isinstance(protection, str | Path) and not named and Path(protection).suffix.lower() in ENDINGS:
        others["release"] = Path(protection)
    if others or is_frame(protection):
        protection = open_release(protection, {"statistics": wanted} if wanted else None)
    if isinstance(protection, Release) and not trial:
        protection.refuse_trial("judged for publication")
    chosen = release_seed(seed, trial=trial)
    effort, reading = PATIENCE.among(options, WorkOptions)
    source = open_original(
        original, Reading.of({"top": asked.top, **reading}, assess, WorkOptions), name=name
    ).with_files(others)
    said = {name: one.to_dict() for name, one in wanted.items()}
    # Sums of columns are integers of NumPy, which records cannot hold.
    size = int(population) if isinstance(population, np.integer) else population
    request = Request(asked, protection, chosen, draws, size, effort.time_limit, trial, said)
    subject = Subject.opened(source)
    return assess_subject(subject, request, source=source, workers=effort.workers, progress=effort.progress)


def assess_subject(
    subject: Subject,
    request: Request,
    *,
    source: Opened | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Run all steps on a prepared original."""

    def assessed(asked: Request) -> Assessment:
        return _Run(subject, asked, workers, progress).assessed()

    if request.population is None:
        request.policy.refuse_silence(magnitudes=subject.magnitudes)
        made = assessed(request)
    else:
        from discreet.decide.assess_sample import assess_sample

        made = assess_sample(subject, request, assessed, workers=workers, progress=progress)
    made = replace(made, trial=request.trial)
    return replace(made, record=made.made_by(_asked(request), source), source=source)


def _asked(request: Request) -> dict[str, object]:
    """Return what was asked of an assessment as plain data."""
    names = ("seed", "trial", "draws", "population", "time_limit")
    beside = {"statistics": plain(dict(request.statistics))} if request.statistics else {}
    given = {name: getattr(request, name) for name in names}
    return {"protection": _protection_data(request.protection)} | given | beside


def _protection_data(protection: Protect) -> object:
    """Return how the protection was asked for, as plain data."""
    if isinstance(protection, Release):
        kind = protection.parts()[0].kinds[0].to_dict()
        return {"release_sha256": digest(release_data(protection)), "kind": kind}
    if isinstance(protection, str):
        return protection
    if isinstance(protection, Mapping):
        return plain(dict(protection))
    return {"name": protection.name, **plain_settings(protection.parameters)}


@dataclass(frozen=True)
class _Judged:
    """A release with all that was found about it."""

    evidence: Evidence
    checks: tuple[Check, ...]
    protected: Protected | None

    @property
    def meets(self) -> bool:
        return not failed(self.checks)


class _Run:
    """One assessment of a whole table."""

    def __init__(self, subject: Subject, request: Request, workers: int | None, progress: Progress | None) -> None:
        self.request, self.progress = request, progress
        # A release that is judged has its statistics already.
        own = isinstance(request.protection, Release)
        self.effort = Effort(request.time_limit, workers, progress, clock=Clock.within(request.within))
        self.case = with_safe(Case.of(subject, request.policy, None if own else request.statistics), self.effort)

    def assessed(self) -> Assessment:
        """Run all steps."""
        case, protection = self.case, self.request.protection
        tried: list[Candidate] = []
        verdict: Verdict
        remedy = ""
        if isinstance(protection, Release):
            # A mark that says of a 1 that it is 3 to 9 would be judged by what is not so.
            refuse_unfit(protection, case.subject.figures())
            judged = self._judge(case.subject.marked(protection, case.policy.zeros))
            verdict = "release" if judged.meets else "withhold"
        elif isinstance(protection, str) and protection in ("propose", "none"):
            judged = self._judge(case.as_is())
            as_is = protection == "none" or case.policy.as_is == "if safe"
            verdict = "release" if judged.meets and as_is else "withhold"
            if verdict == "withhold" and protection == "propose":
                # A table that is protected in any case tells nothing by it.
                best, tried = self._proposed(protected=as_is)
                if best is not None:
                    judged, verdict = best, "protect" if best.meets else "withhold"
                    remedy = self._remedy(best) if as_is and not best.meets else ""
        else:
            self.effort.clock.refuse_late(LATE)
            judged = self._protected(_method_of(protection, case.found, self.effort.seconds))
            verdict = "protect" if judged.meets else "withhold"
        found = (judged.checks, case.found, case.before, judged.evidence, judged.protected, tuple(tried))
        return Assessment(case.subject, case.policy, verdict, *found, remedy=remedy)

    def _remedy(self, best: _Judged) -> str:
        """Say what would let a release pass that is withheld only because its protection tells readers something."""
        if best.protected is None or {one.name for one in failed(best.checks)} != {"dr"}:
            return ""
        if not self._judge(best.protected.release, best.protected).meets:
            return ""
        return (
            "That the table is protected shows readers that it holds something sensitive; under a policy that protects "
            'every table (as_is = "never") this release would pass'
        )

    def _judge(self, release: Release, protected: Protected | None = None, choice: Choice = ASKED) -> _Judged:
        candidates = None if protected is None else protected.candidates
        evidence = gather(self.case, release, self.effort, candidates=candidates, choice=choice)
        return _Judged(evidence, check(self.case, evidence), protected)

    def _protected(self, method: Method, choice: Choice = ASKED) -> _Judged:
        original = self.case.subject.handed(method.name)
        # Noise that the keys of records decide takes no seed.
        first = original[0] if isinstance(original, list) else original
        seed = None if isinstance(first, Keyed) else self.request.seed
        protected = apply_beside(self.case, method, original, seed, progress=self.progress)
        return self._judge(protected.release, protected, choice)

    def _proposed(self, protected: bool) -> tuple[_Judged | None, list[Candidate]]:
        """Try the policy's protections in their order, and return the first that meets it, or failing that, the first.

        Neither the draw nor its utility decides; the policy's order does. But whether earlier protections fail depends
        on the true counts, so a later one carries no claim against readers who know the method.
        """
        tried: list[Candidate] = []
        best: _Judged | None = None
        suitable = [one for one in self.case.policy.protections if one.suits(self.case.subject.magnitudes)]
        for number, allowed in enumerate(suitable):
            if self.progress is not None:
                self.progress(number, len(suitable), "trying protections")
            if best is not None and best.meets:
                tried.append(_candidate(allowed, "not tried: an earlier one meets the policy"))
                continue
            try:
                self.effort.clock.refuse_late(LATE)
                method = make_method(allowed.name, allowed.parameters, self.case.found, self.effort.seconds)
                judged = self._protected(method, Choice(protected, later=bool(tried)))
            except DiscreetError as error:
                tried.append(replace(_candidate(allowed, str(error)), late=isinstance(error, LateError)))
                continue
            tried.append(_candidate(allowed, "", judged))
            if best is None or judged.meets:
                best = judged
        others = [one for one in self.case.policy.protections if one not in suitable]
        tried += [_candidate(one, f"not tried: the policy lists it for {one.only} only") for one in others]
        return best, tried


def _candidate(allowed: Protection, why: str, judged: _Judged | None = None) -> Candidate:
    """Return a protection of the policy and how it fared."""
    title = make_text(allowed.name, allowed.parameters)
    if judged is None:
        return Candidate(allowed.name, allowed.parameters, title, False, None, None, why)
    told = "; ".join(one.text for one in failed(judged.checks)) or "meets the policy"
    r2 = None if judged.evidence.risk is None else judged.evidence.risk.value
    return Candidate(allowed.name, allowed.parameters, title, judged.meets, judged.evidence.utility, r2, told)


def _method_of(protection: Protect, found: Sensitivity | None, time_limit: float | None) -> Method:
    """Return the method that was asked for."""
    if isinstance(protection, str):
        name, parameters = parse_method(protection)
        return make_method(name, parameters, found, time_limit)
    if isinstance(protection, Mapping):
        given = dict(protection)
        if "name" not in given:
            raise RequestError(f"protection {given} has no name; give it as {{'name': 'random-rounding', 'base': 3}}")
        return make_method(str(given.pop("name")), given, found, time_limit)
    if isinstance(protection, Suppression):
        return AuditedSuppression.of(protection)
    if isinstance(protection, Method):
        return protection
    raise RequestError(f"a {type(protection).__name__} is not a protection; give a method, its name, or a release")
