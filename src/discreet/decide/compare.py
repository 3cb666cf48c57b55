"""The comparison: many protections on one table, their efficient frontier, and the one to take."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from discreet.core.effort import EACH, Effort, WorkOptions
from discreet.core.errors import RequestError, with_arguments
from discreet.core.files import remove_orphans, write_text
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.random import drawn_seed
from discreet.core.text import columns, figure, many
from discreet.decide.choice import Choice
from discreet.decide.compared_methods import (
    BESIDE,
    ERRORS,
    NONE,
    ComparisonPlan,
    GridPoint,
    Measured,
    grid_of,
    measure,
    with_alternatives,
)
from discreet.decide.json_data import plain, sensitive_data
from discreet.decide.policy import Policy
from discreet.decide.provenance import SCHEMA, Recorded, canonical, digest, versions
from discreet.decide.subject import Case, Subject
from discreet.reading.opened import Opened
from discreet.reading.original import open_original
from discreet.reading.reading import Reading, SearchOptions
from discreet.rules.sensitivity import Sensitivity
from discreet.table.statistic_reader import definitions_of


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Recorded):
    """Methods side by side: risk against utility, the efficient frontier, and a recommendation.

    ``points`` are in the order of the grid, the unprotected table first. ``frontier`` holds the points that no other
    one beats in risk and utility together. ``proposed`` is the first protection in the policy's order that meets it,
    which an assessment proposes: its number, and how it fares if readers know why it was taken. ``record``
    is what is needed to repeat the comparison of an original that came from ``source``.
    """

    subject: Subject
    policy: Policy
    sensitivity: Sensitivity | None
    points: tuple[Measured, ...]
    seed: int
    proposed: tuple[int, Measured] | None = None
    seconds: float = field(default=0.0, compare=False)
    record: Mapping[str, Json] = field(default_factory=dict)
    source: Opened | None = None

    @property
    def frontier(self) -> tuple[int, ...]:
        """The numbers of the efficient points, from low to high utility."""
        return efficient([(self._risk(p), p.figure("utility")) for p in self.points])

    def _risk(self, point: Measured) -> float | None:
        """Return the value on the risk axis: R2 for counts, the share of known sensitive cells for magnitudes."""
        return point.figure("determined" if self.subject.magnitudes else "r2")

    @property
    def recommended(self) -> int | None:
        """The point that an assessment takes: the unprotected table, or the policy's first protection that meets it.

        If what an assessment takes is not compared, it is the one with the highest utility that meets the policy.
        """
        if self.policy.as_is == "if safe" and not self.points[0].faults:
            return 0
        if self.proposed is not None:
            return self.proposed[0]
        suitable = [one for one in self.policy.protections if one.suits(self.subject.magnitudes)]
        compared = sum(self._listed(point.point) for point in self.points)
        return self._best if compared < len(suitable) else None

    def _listed(self, point: GridPoint) -> bool:
        return self.policy.proposes(point.name, dict(point.parameters), self.subject.magnitudes)

    @property
    def _best(self) -> int | None:
        """The number of the protection with the highest utility that meets the policy."""
        fit = [i for i, point in enumerate(self.points) if i and not point.faults]
        best = {i: (self.points[i].figure("utility") or 0.0, -(self._risk(self.points[i]) or 0.0)) for i in fit}
        return max(fit, key=lambda i: best[i]) if fit else None

    @property
    def _at_times(self) -> str:
        """What becomes of draws that do not meet the policy, if there are any."""
        if self.proposed is None or (judged := self.proposed[1]).met == judged.audits:
            return ""
        some = f" {judged.met} of {judged.audits} of its draws meet it once readers know why it was taken"
        return f"{some}; if an assessment withholds one, assess it again."

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        return with_arguments(self._sentence())

    def _sentence(self) -> str:
        # The table as it is stands beside the protections, and is none of them.
        fit = sum(not point.faults for point in self.points[1:])
        meet = f"{fit:,} {'meets' if fit == 1 else 'meet'}" if fit else "none of them meets"
        head = f"{many(len(self.points) - 1, 'protection')} compared; {meet} the policy {self.policy.name!r}."
        if self.recommended is None:
            none = (
                " The policy proposes none of them: readers who know why one was taken would learn more." if fit else ""
            )
            return f"{head}{none}{self._unlisted}"
        best = self.points[self.recommended]
        utility = f"utility {figure(best.figure('utility'))}"
        if best.point == NONE:
            return f"{head} Take the table as it is, which {'does too' if fit else 'does'}."
        if self.proposed is not None:
            first = f"the first in the policy's order that does ({utility})"
            return f"{head} Take {best.point.title}, {first}.{self._at_times}{self._unlisted}"
        return f"{head} Take {best.point.title}: of those that do, it keeps most of the table ({utility})."

    @property
    def _unlisted(self) -> str:
        """Name the protection with the highest utility, if the policy does not propose it."""
        best = self._best
        if best is None or best == self.recommended or self._listed(self.points[best].point):
            return ""
        point = self.points[best]
        return (
            f" {point.point.title} also meets the policy and keeps most of the table (utility "
            f"{figure(point.figure('utility'))}), but the policy does not list it; to apply it, name it "
            "(protection=, --method)."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data."""
        frontier, best = set(self.frontier), self.recommended
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "name": self.subject.name,
            "sentence": self._sentence(),
            "headline": self.subject.headline,
            "magnitudes": self.subject.magnitudes,
            "policy": self.policy.to_dict(),
            "rules": sensitive_data(self.sensitivity),
            "points": [
                {
                    **point.to_dict(),
                    "meets": not point.faults,
                    "faults": list(point.faults),
                    "efficient": i in frontier,
                    "recommended": i == best,
                }
                for i, point in enumerate(self.points)
            ],
            "frontier": list(self.frontier),
            "recommended": best,
            "record": dict(self.record),
        }

    def header(self) -> list[str]:
        """Return the titles of the columns of :meth:`rows`."""
        beside = ["statistics", "their error"] if self._beside else []
        return ["method", "R2", "± MC", "worst DR", "known", "utility", "± MC", "error", "policy", "", *beside]

    @property
    def _beside(self) -> bool:
        """Whether statistics are wanted beside the figures."""
        return any("statistics" in point.figures for point in self.points)

    def rows(self) -> list[list[str]]:
        """Return the points as rows of text, those that meet the policy first, by falling utility."""
        frontier, best = set(self.frontier), self.recommended
        order = sorted(
            range(len(self.points)),
            key=lambda i: (bool(self.points[i].faults), -(self.points[i].figure("utility") or -1.0)),
        )
        rows = []
        for i in order:
            point = self.points[i]
            rows.append(
                [
                    point.point.title,
                    *point.texts("r2"),
                    point.worst_dr,
                    figure(point.figure("determined"), 3),
                    *point.texts("utility"),
                    figure(point.figure("mean_absolute_error"), 2),
                    point.faults[0] if point.faults else "meets",
                    "take this" if i == best else "efficient" if i in frontier else "",
                    *([figure(point.figure(name), 2) for name in BESIDE] if self._beside else []),
                ]
            )
        return rows

    def to_csv(self) -> str:
        """Return one line per method."""
        names = ["r2", "worst_dr", "determined", "known", "utility", *ERRORS, *(BESIDE if self._beside else ())]
        heads = [head for name in names for head in (name, f"{name}_mc_error")]
        header = ["method", "parameters", *heads, "meets", "efficient", "recommended", "error"]
        rows: list[list[object]] = []
        frontier, best = self.frontier, self.recommended
        for i, one in enumerate(self.points):
            found = [one.figures.get(name) for name in names]
            cells = [cell for f in found for cell in (("", "") if f is None else f.to_dict().values())]
            state = [not one.faults, i in frontier, i == best, one.error]
            rows.append([one.point.name, json.dumps(one.point.to_dict()["parameters"]), *cells, *state])
        return csv_text(header, rows)

    def __str__(self) -> str:
        """Return the recommendation and all methods."""
        return with_arguments(f"{self.sentence}\n{columns(self.header(), self.rows())}")


def efficient(points: Sequence[tuple[float | None, float | None]]) -> tuple[int, ...]:
    """Return the numbers of the points (risk, utility) that no other point beats in both, by rising utility.

    >>> efficient([(0.3, 1.0), (0.2, 0.9), (0.25, 0.8), (0.1, 0.5)])
    (3, 1, 0)
    """
    known = [(r, -u, i) for i, (r, u) in enumerate(points) if r is not None and u is not None]
    found: list[int] = []
    best = float("inf")
    for _, minus_utility, i in sorted(known):
        if minus_utility < best:
            best = minus_utility
            found.append(i)
    return tuple(found)


def compare(
    original: object,
    grid: object = None,
    *,
    policy: str | Policy = "default",
    draws: int = 1000,
    audits: int = 10,
    seed: int | None = None,
    resume: str | Path | None = None,
    name: str | None = None,
    **options: Unpack[SearchOptions],
) -> Comparison:
    """Compare protections on one table: risk, what can be worked out, utility and errors of each.

    Args:
        original: a table, a tabulation, a file or a frame, as for :func:`discreet.assess`.
        grid: methods with parameters: a list of ``"random-rounding:base=3"`` or ``{"name": "random-rounding", "base":
            [3, 5]}``, or a TOML file; by default the policy's protections and the usual ones.
        policy: rules and limits that decide what is sensitive, and which methods meet it.
        draws: releases drawn of every random method.
        audits: how many of them are audited.
        seed: makes the result reproducible, and may be short, since no draw is published; by default 128 bits are
            drawn. A method's figures do not depend on which others are compared.
        resume: a folder that keeps every finished point; an interrupted comparison resumes from there.
        name: what the table is called.
        options: those below.

    Keyword Args:
        statistics: statistics wanted beside the figures, as for :func:`discreet.assess`; the share that each method
            keeps is measured, and suppression is tried with statistics dropped, kept where safe, coarsened, and as
            ranges.
        time_limit: seconds for each search and each audit (60; 600 for a pattern of suppression); a method that is
            unfinished by then does not meet the policy.
        workers: threads.
        progress: called as the work advances.
        by, value, contributor, …: how a file or frame is read, as for :func:`discreet.assess`.

    >>> import discreet
    >>> found = compare(discreet.datasets.sex(), ["random-rounding:base=3"], draws=100, audits=1, seed=1)
    >>> found.points[found.recommended].point.title
    'none (as it is)'
    """
    if draws < 2 or audits < 1:
        raise RequestError(f"draws is {draws} and audits {audits}; give 2 or more draws and 1 or more audits")
    rules = Policy.load(policy)
    wanted = {key: one.to_dict() for key, one in definitions_of(options.pop("statistics", None)).items()}
    effort, reading = Effort(time_limit=EACH).among(options, WorkOptions)
    source = open_original(original, Reading.of({"top": rules.top, **reading}, compare, WorkOptions), name=name)
    points = with_alternatives(grid_of(grid, rules, Subject.opened(source).magnitudes), wanted)
    plan = ComparisonPlan(draws, audits, drawn_seed() if seed is None else seed, effort.time_limit, wanted)
    return compare_points(source, rules, points, plan, resume=resume, workers=effort.workers, progress=effort.progress)


def compare_points(
    source: Opened,
    policy: Policy,
    points: Sequence[GridPoint],
    plan: ComparisonPlan,
    *,
    resume: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the points of a grid, the unprotected table first, on an opened original."""
    subject, start = Subject.opened(source), time.monotonic()
    policy.refuse_silence(magnitudes=subject.magnitudes)
    case = Case.of(subject, policy, plan.statistics)
    points = (NONE, *(point for point in points if point != NONE))
    kept = None if resume is None else _Kept(Path(resume), case, plan)

    def work(point: GridPoint) -> Measured:
        known = None if kept is None else kept.load(point)
        if known is not None:
            return known
        begun = time.monotonic()
        made = measure(case, point, plan)
        if kept is not None:
            kept.save(made)
        return replace(made, seconds=time.monotonic() - begun)

    # What is kept on the way lies on this machine.
    apart = kept is None
    measured = run(work, points, workers=workers, progress=progress, label="comparing protections", apart=apart)
    proposed = _proposed(case, measured, plan)
    made = Comparison(case.subject, policy, case.found, tuple(measured), plan.seed, proposed, time.monotonic() - start)
    listed = [{"name": one.name, "parameters": plain(dict(one.parameters))} for one in points]
    request = {"points": listed, "seed": plan.seed, **plan.to_dict()}
    return replace(made, record=made.made_by(request, source), source=source)


def _proposed(case: Case, measured: Sequence[Measured], plan: ComparisonPlan) -> tuple[int, Measured] | None:
    """Return the first protection in the policy's order that meets it, its number and how assessments judge it.

    An assessment judges one draw. Of a random method it is enough that most draws meet the policy.
    """
    listed = [one for one in case.policy.protections if one.suits(case.subject.magnitudes)]
    places = {(point.point.name, canonical(plain(dict(point.point.parameters)))): i for i, point in enumerate(measured)}
    for number, one in enumerate(listed):
        place = places.get((one.name, canonical(plain(dict(one.parameters)))))
        if place is None:
            return None
        # What meets the policy if somebody asks for it need not do so once readers know why it was taken.
        choice = Choice(protected=case.policy.as_is == "if safe", later=number > 0)
        judged = measure(case, measured[place].point, plan, choice)
        if not measured[place].faults and 2 * judged.met > judged.audits:
            return place, judged
    return None


class _Kept:
    """Finished points in a folder, one file each, named by the hash of all that the point depends on."""

    def __init__(self, folder: Path, case: Case, plan: ComparisonPlan) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            remove_orphans(folder)
        except OSError as error:
            raise RequestError(f"{folder} cannot be used to keep results ({error.strerror}); name a folder") from None
        self.folder = folder
        stated = case.policy.to_dict()
        self.about: Mapping[str, object] = {
            "original": case.subject.sha256(),
            "policy": {key: value for key, value in stated.items() if key not in ("name", "title")},
            **plan.to_dict(),
            "version": versions()["discreet"],
        }

    def _file(self, point: GridPoint) -> Path:
        return self.folder / f"{point.name}-{digest({**self.about, **point.to_dict()})[:32]}.json"

    def load(self, point: GridPoint) -> Measured | None:
        """Return a finished point; one that cannot be read is measured again."""
        file = self._file(point)
        if not os.path.exists(file):
            return None
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return replace(Measured.from_dict(data), point=point)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, made: Measured) -> None:
        """Keep a finished point, atomically; points that failed are tried again next time."""
        if not made.error:
            write_text(self._file(made.point), json.dumps(made.to_dict(), allow_nan=False) + "\n", private=True)
