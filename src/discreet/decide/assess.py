"""The assessment: from a table to a verdict. The sequence of the work stands here, and nowhere else.

records or table → rules → risk before → protection (given, proposed or none) → audit → risk after → utility → verdict
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from discreet.core.errors import DiscreetError, RequestError
from discreet.core.progress import Progress
from discreet.decide.choice import ASKED, Choice
from discreet.decide.evidence import Evidence, gather, sensitive_cells
from discreet.decide.plain import plain, release_data
from discreet.decide.policy import Policy, make_text
from discreet.decide.protections import make_method, parse_method
from discreet.decide.record import digest, make_record
from discreet.decide.result import Assessment, Candidate
from discreet.decide.subject import Subject
from discreet.decide.verdict import Check, Verdict, check, failed
from discreet.evaluate.audited_suppression import AuditedSuppression
from discreet.measures.risk import risk
from discreet.protect import Suppression
from discreet.protect.base import Method, Protected
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.rules.sensitivity import Sensitivity
from discreet.table.release import Release

Protect: TypeAlias = "Literal['propose', 'none'] | str | Mapping[str, Any] | Method | Release"


def assess(
    original: Any,
    policy: str | Policy = "default",
    *,
    protection: Protect = "propose",
    population: int | None = None,
    name: str | None = None,
    response: str | None = None,
    seed: int | None = None,
    trial: bool = False,
    draws: int = 1000,
    time_limit: float | None = 60.0,
    workers: int | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Assessment:
    """Assess a table under a policy: may it be released as it is, after protection, or not at all?

    The path is always the same: the policy's rules say which cells are sensitive; the risk is measured; the table is
    protected, if that is needed or asked for; what would be published is audited; risk and loss are measured again; and
    every requirement of the policy is checked. The verdict is ``"release"`` (as it is), ``"protect"`` (release what the
    protection made, which the result holds) or ``"withhold"``.

    Args:
        original: a table, a tabulation, a file, or a pandas, polars or Arrow frame, of counts or of records.
        policy: the name of a profile, a TOML file, or a :class:`~discreet.decide.policy.Policy`.
        protection: ``"propose"`` tries the table as it is, then the policy's protections in their order, and takes the
            first that meets the policy: an order that is fixed beforehand tells readers nothing, as the highest
            utility would; ``"none"`` judges the table as it is; a method, ``"name:key=value"``,
            or ``{"name": …}`` is applied and judged; a :class:`Release` is judged as it is.
        population: N, where the table is a sample from a population of that size: then risk and population uniques are
            estimated, as the population's counts are not known.
        name: what the table is called in the result.
        response: the magnitude, where the table has several.
        seed: makes it reproducible; by default one of 128 bits is drawn, and kept in the record, which is as
            confidential as the original. One below 2**96 is refused unless this is a trial.
        trial: nothing of this is published: a short seed will do, a release made for a trial is judged, and what comes
            of it is marked as a trial.
        draws: population tables drawn for the estimated risk of a sample.
        time_limit: seconds for each search for a protection, and for each audit; the best found by then is judged, and
            what is not finished is said and never called safe. None lets all of it take its time.
        workers: threads.
        progress: told how far the work is.
        reading: how a file or frame is read: ``by``, ``value``, ``contributor``, ``holding``, ``count`` and others of
            :func:`discreet.tabulate` and :func:`discreet.read_table`.

    >>> import discreet
    >>> found = assess(discreet.datasets.religion(), seed=1, trial=True)
    >>> found.verdict, found.release.method
    ('protect', 'random-rounding')
    """
    from discreet.core.random import release_seed

    asked = Policy.load(policy)
    if isinstance(protection, Release) and not trial:
        protection.refuse_trial("judged for publication")
    chosen = release_seed(seed, trial=trial)
    how = Reading.of({"top": asked.top, "response": response, **reading})
    source = open_original(original, how, name=name)
    request = Request(asked, protection, chosen, draws, population, time_limit, trial)
    return assess_subject(Subject.opened(source), request, source=source, workers=workers, progress=progress)


@dataclass(frozen=True)
class Request:
    """What is asked of an assessment, apart from the table."""

    policy: Policy
    protection: Protect
    seed: int
    draws: int = 1000
    population: int | None = None
    time_limit: float | None = 60.0
    trial: bool = False


def assess_subject(
    subject: Subject,
    request: Request,
    *,
    source: Any = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Run the sequence on an original that is laid out."""
    if request.population is not None:
        from discreet.decide.sample import assess_sample

        def assessed(asked: Request) -> Assessment:
            return _Run(subject, asked, workers, progress).assessed()

        made = assess_sample(subject, request, assessed, workers=workers, progress=progress)
    else:
        made = _Run(subject, request, workers, progress).assessed()
    made = replace(made, trial=request.trial)
    return replace(made, record=make_record(made, _asked(request, made.subject), source), source=source)


def _asked(request: Request, subject: Subject) -> dict[str, Any]:
    """Return what was asked of an assessment as plain data."""
    return {
        "protection": _protection_data(request.protection, subject),
        "seed": request.seed,
        "trial": request.trial,
        "draws": request.draws,
        "population": request.population,
        "time_limit": request.time_limit,
    }


def _protection_data(protection: Any, subject: Subject) -> Any:
    """Return how the protection was asked for, as plain data."""
    if isinstance(protection, Release):
        data = release_data(subject, protection)
        kind = protection.parts()[0].kinds[0].to_dict()
        return {"release_sha256": digest(data), "kind": kind}
    if isinstance(protection, str):
        return protection
    if isinstance(protection, Mapping):
        return plain(dict(protection))
    return {"name": protection.name, **plain(dict(protection.parameters))}


@dataclass(frozen=True)
class _Judged:
    """A release with all that was found about it."""

    evidence: Evidence
    checks: tuple[Check, ...]
    protected: Protected | None
    method: Method | None

    @property
    def meets(self) -> bool:
        return not failed(self.checks)


class _Run:
    """One assessment of a whole table."""

    def __init__(self, subject: Subject, request: Request, workers: int | None, progress: Progress | None) -> None:
        self.subject, self.request, self.workers, self.progress = subject, request, workers, progress
        self.policy = request.policy

    def assessed(self) -> Assessment:
        """Go the whole path."""
        subject, protection = self.subject, self.request.protection
        found = sensitive_cells(subject, self.policy)
        before = None
        if subject.table is not None and subject.table.total and subject.table.possible > 1:
            before = risk(subject.table, weights=self.policy.weights)
        tried: list[Candidate] = []
        verdict: Verdict
        if isinstance(protection, Release):
            judged = self._judge(subject.marked(protection, self.policy.zeros), found, None, None)
            verdict = "release" if judged.meets else "withhold"
        elif isinstance(protection, str) and protection in ("propose", "none"):
            judged = self._judge(subject.as_is(), found, None, None)
            as_is = protection == "none" or self.policy.as_is == "if safe"
            verdict = "release" if judged.meets and as_is else "withhold"
            if verdict == "withhold" and protection == "propose":
                # A table that is protected in any case tells nothing by it.
                best, tried = self._proposed(found, protected=as_is)
                if best is not None:
                    judged, verdict = best, "protect" if best.meets else "withhold"
        else:
            judged = self._protected(_method_of(protection, found, self.request.time_limit), found)
            verdict = "protect" if judged.meets else "withhold"
        return Assessment(
            subject, self.policy, verdict, judged.checks, found, before, judged.evidence, judged.protected, tuple(tried)
        )

    def _judge(
        self,
        release: Release,
        found: Sensitivity | None,
        protected: Protected | None,
        method: Method | None,
        choice: Choice = ASKED,
    ) -> _Judged:
        evidence = gather(
            self.subject,
            self.policy,
            release,
            found,
            candidates=None if protected is None else protected.candidates,
            time_limit=self.request.time_limit,
            workers=self.workers,
            progress=self.progress,
            choice=choice,
        )
        return _Judged(evidence, check(self.subject, self.policy, found, evidence), protected, method)

    def _protected(self, method: Method, found: Sensitivity | None, choice: Choice = ASKED) -> _Judged:
        protected = method.apply(self.subject.original, self.request.seed, progress=self.progress)
        return self._judge(protected.release, found, protected, method, choice)

    def _proposed(self, found: Sensitivity | None, protected: bool) -> tuple[_Judged | None, list[Candidate]]:
        """Try the policy's protections in their order, and return the first that meets it, or failing that, the first.

        Neither the draw nor its utility decides: what is taken depends on the policy. That those before it do not meet
        it depends on the true counts, so that nothing is claimed of a later one to readers who know the method.
        """
        tried: list[Candidate] = []
        best: _Judged | None = None
        suitable = [one for one in self.policy.protections if one.suits(self.subject.magnitudes)]
        for number, allowed in enumerate(suitable):
            if self.progress is not None:
                self.progress(number, len(suitable), "trying protections")
            text = make_text(allowed.name, allowed.parameters)
            if best is not None and best.meets:
                why = "not tried: one that the policy lists before it meets the policy"
                tried.append(Candidate(allowed.name, allowed.parameters, text, False, None, None, why))
                continue
            try:
                method = make_method(allowed.name, allowed.parameters, found, self.request.time_limit)
                judged = self._protected(method, found, Choice(protected, later=bool(tried)))
            except DiscreetError as error:
                tried.append(Candidate(allowed.name, allowed.parameters, text, False, None, None, str(error)))
                continue
            wrong = failed(judged.checks)
            told = "; ".join(one.text for one in wrong) or "meets the policy"
            after = judged.evidence.risk.value if judged.evidence.risk is not None else None
            utility = judged.evidence.utility
            tried.append(Candidate(allowed.name, allowed.parameters, text, judged.meets, utility, after, told))
            if best is None or judged.meets:
                best = judged
        for other in self.policy.protections:
            if not other.suits(self.subject.magnitudes):
                text = make_text(other.name, other.parameters)
                why = f"not tried: the policy lists it for {other.only} only"
                tried.append(Candidate(other.name, other.parameters, text, False, None, None, why))
        return best, tried


def _method_of(protection: Any, found: Sensitivity | None, time_limit: float | None) -> Method:
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
    raise RequestError(f"a {type(protection).__name__} is no protection; give a method, its name, or a release")
