"""The points of a comparison: methods with their parameters, and what each does to a table, with Monte Carlo errors."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np

from discreet.auditing.limits import Limits
from discreet.core.effort import Effort
from discreet.core.errors import DiscreetError, RequestError, require
from discreet.core.json_types import Json, JsonObject
from discreet.core.text import figure, finite
from discreet.decide.choice import ASKED, Choice
from discreet.decide.evidence import Evidence, gather
from discreet.decide.json_data import plain
from discreet.decide.known_cells import Known
from discreet.decide.policy import Policy, make_text
from discreet.decide.protections import make_method, parse_method
from discreet.decide.provenance import digest
from discreet.decide.released_statistics import NOTHING, ReleasedStatistics
from discreet.decide.safe_statistics import ALTERNATIVES, SafeStatistics, alternative, apply_beside
from discreet.decide.subject import Case
from discreet.decide.verdict import Check, check, failed
from discreet.protect.base import Method, RandomMethod, is_random


@dataclass(frozen=True)
class GridPoint:
    """One method with its parameters."""

    name: str
    parameters: JsonObject = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The method in readable form."""
        return make_text(self.name, dict(self.parameters)) if self.name != "none" else "none (as it is)"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {"method": self.name, "parameters": plain(dict(self.parameters)), "title": self.title}


NONE = GridPoint("none")
"""The unprotected table, the baseline of every comparison."""


def grid_of(given: object, policy: Policy, magnitudes: bool) -> tuple[GridPoint, ...]:
    """Return the points of a grid: those given, or the policy's protections and the usual ones for such a table.

    A grid is a TOML file with ``[[methods]]``, or a list of ``"name:key=value"`` and of ``{"name": …}``, in which a
    parameter that is a list means each of its values.

    >>> [point.title for point in grid_of([{"name": "random-rounding", "base": [3, 5]}], Policy(), False)]
    ['random-rounding, base 3', 'random-rounding, base 5']
    """
    if given is None:
        listed: Iterable[object] = [
            *(GridPoint(one.name, one.parameters) for one in policy.protections if one.suits(magnitudes)),
            *(USUAL_MAGNITUDES if magnitudes else USUAL_COUNTS),
        ]
    elif isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        listed = _from_file(Path(given))
    else:
        listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str | Mapping) else [given]
    points: dict[str, GridPoint] = {}
    for item in listed:
        for point in _expanded(item):
            if point.name != "none":
                make_method(point.name, point.parameters, policy.judges(magnitudes))
            points.setdefault(point.title, point)
    if not points:
        raise RequestError("the grid is empty; name at least one method")
    return tuple(points.values())


def _expanded(item: object) -> list[GridPoint]:
    if isinstance(item, GridPoint):
        return [item]
    if isinstance(item, str):
        return [GridPoint(*parse_method(item))]
    if isinstance(item, Mapping):
        given = dict(item)
        if "name" not in given:
            raise RequestError(f"{given} names no method; give it as {{'name': 'random-rounding', 'base': [3, 5]}}")
        name = str(given.pop("name"))
        choices = [value if isinstance(value, list) else [value] for value in given.values()]
        return [GridPoint(name, dict(zip(given, picked, strict=True))) for picked in product(*choices)]
    if isinstance(item, Method) and item.name == "suppress":
        raise RequestError(
            "a comparison takes its rules from the policy, not from a Suppression; name the method, as 'suppress' or "
            "{'name': 'suppress', 'method': 'optimal'}, and give the rules in a policy (policy=)"
        )
    if isinstance(item, Method) and not isinstance(item, type):
        return [GridPoint(item.name, dict(item.parameters))]
    raise RequestError(f"a {type(item).__name__} is not a method; give names, as random-rounding:base=3")


def _from_file(path: Path) -> list[object]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(f"{path} does not exist; name a grid, a TOML file with [[methods]]") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequestError(f"{path} cannot be read as TOML ({error}); correct the file") from None
    strange = next((key for key in data if key != "methods"), None)
    if strange is not None or not isinstance(data.get("methods"), list):
        raise RequestError(f"{path}: a grid has [[methods]] and nothing else; found {strange or 'none'!r}")
    return list(data["methods"])


USUAL_COUNTS: tuple[JsonObject, ...] = (
    {"name": "random-rounding", "base": [3, 5, 10]},
    {"name": "conventional-rounding", "base": [3, 5, 10]},
    {"name": "controlled-rounding", "base": [3, 5]},
    {"name": "suppress"},
    {"name": "small-count-rounding", "base": [3, 5]},
    {"name": "cell-key", "bound": [3], "variance": [1.5]},
    {"name": "cell-key", "bound": [5], "variance": [3]},
    {"name": "table-swapping", "rate": [0.05, 0.2]},
    {"name": "bernoulli-sample", "rate": [0.9, 0.5]},
    {"name": "simulation"},
)
"""The usual protections for counts."""
USUAL_MAGNITUDES: tuple[JsonObject, ...] = (
    {"name": "suppress"},
    {"name": "tabular-adjustment", "time_limit": 10.0},
)
"""The usual protections for magnitudes."""


@dataclass(frozen=True)
class Figure:
    """A mean over draws and its Monte Carlo error, 0 for a deterministic method."""

    mean: float
    mc_error: float = 0.0

    @classmethod
    def of(cls, values: list[float]) -> Figure:
        """Summarise draws."""
        some = np.array(values, np.float64)
        if some.size < 2 or not np.isfinite(some).all():
            return cls(float(some.mean()) if np.isfinite(some).all() else math.inf, 0.0)
        return cls(float(some.mean()), float(some.std(ddof=1) / math.sqrt(some.size)))

    def to_dict(self) -> dict[str, Json]:
        """Return plain data; what is infinite is None."""
        return {"mean": finite(self.mean), "mc_error": finite(self.mc_error)}

    @classmethod
    def from_dict(cls, data: JsonObject | None) -> Figure | None:
        """Return what :meth:`to_dict` wrote."""
        if data is None:
            return None
        return cls(math.inf if data["mean"] is None else data["mean"], data["mc_error"] or 0.0)


ERRORS = ("hellinger", "mean_absolute_error", "mean_squared_error")
FIGURES = ("r2", "utility", *ERRORS, "worst_dr", "determined", "known")
BESIDE = ("statistics", "statistic_error")
"""What is measured about statistics beside the figures, if any are wanted."""


@dataclass(frozen=True)
class Measured:
    """The effect of a method: risk, utility and errors over its draws; what can be worked out, over audited releases.

    Attributes:
        r2: R2 over the draws; None for magnitudes.
        utility: 1 − HD/√N over the draws; for magnitudes, the share of the amounts that is kept.
        worst_dr: the largest 1/H of a sensitive cell to a reader who knows the method, in any audited release; infinite
            where one is known, or where it is not shown.
        determined: the share of the sensitive cells that are known exactly.
        known: the share of all figures of the table that are known exactly.
        statistics: the share of the statistics wanted beside it that are published, and how far they are from the true
            ones on average (``statistic_error``), where some are wanted.
        extremes: the worst of every audited release: most known cells, least width, largest DR, levels missed.
        faults: what the policy objects to in one of them or in their mean; empty if it is met.
        met: how many audited releases meet the policy, their R2 apart.
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
    met: int = 0

    def figure(self, name: str) -> float | None:
        """Return the mean of a figure."""
        found = self.figures.get(name)
        return None if found is None else found.mean

    def texts(self, name: str) -> tuple[str, str]:
        """Return the mean of a figure and its Monte Carlo error as people read them."""
        found = self.figures.get(name)
        return ("–", "–") if found is None else (figure(found.mean), figure(found.mc_error, 5))

    @property
    def worst_dr(self) -> str:
        """The largest 1/H as people read it: a dash where it is not shown, as it is infinite only of what is known."""
        found = self.figure("worst_dr")
        shown = found is not None and (math.isfinite(found) or self.extremes["known"])
        return figure(found, 3) if shown else "–"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            **self.point.to_dict(),
            **{
                name: None if (f := self.figures.get(name)) is None else f.to_dict()
                for name in (*FIGURES, *BESIDE)
                if name in FIGURES or name in self.figures
            },
            "extremes": {name: finite(value) for name, value in self.extremes.items()},
            "draws": self.draws,
            "audits": self.audits,
            "faults": list(self.faults),
            "error": self.error or None,
        }

    @classmethod
    def from_dict(cls, data: JsonObject) -> Measured:
        """Return what :meth:`to_dict` wrote."""
        return cls(
            GridPoint(data["method"], data["parameters"]),
            {name: Figure.from_dict(data[name]) for name in (*FIGURES, *(name for name in BESIDE if name in data))},
            {name: math.inf if value is None else value for name, value in data["extremes"].items()},
            data["draws"],
            data["audits"],
            0.0,
            tuple(data["faults"]),
            data["error"] or "",
        )


@dataclass(frozen=True)
class ComparisonPlan:
    """How methods are compared: the draws of each, how many are audited, the seed, and the seconds of each audit."""

    draws: int
    audits: int
    seed: int
    time_limit: float | None = None
    statistics: JsonObject = field(default_factory=dict)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, with statistics where there are any."""
        return {name: plain(value) for name, value in vars(self).items() if name != "statistics" or value}


def measure(case: Case, point: GridPoint, plan: ComparisonPlan, choice: Choice = ASKED) -> Measured:
    """Measure one method on one table; if it cannot be applied, say why.

    ``choice`` is what readers know about why it was taken; by default it was requested regardless of the table.
    """
    try:
        case, parameters = _with_alternative(case, point, plan)
        if point.name == "none":
            return _released(case, point, None, replace(plan, draws=1, audits=1), choice)
        method = make_method(point.name, parameters, case.found, plan.time_limit)
        return _released(case, point, method, plan if is_random(method) else replace(plan, draws=1, audits=1), choice)
    except DiscreetError as error:
        return Measured(point, faults=(str(error),), error=str(error))


def _with_alternative(case: Case, point: GridPoint, plan: ComparisonPlan) -> tuple[Case, dict[str, Json]]:
    """Return the unusual treatment of statistics beside a method's figures, if any, and the method's parameters."""
    parameters = dict(point.parameters)
    way = parameters.pop("statistics", None)
    if way is None or case.beside is None:
        return case, parameters
    require([way], ALTERNATIVES, "statistics are not")
    if way == "dropped":
        return replace(case, beside=replace(case.beside, wanted={}, both=NOTHING)), parameters
    wanted = {name: alternative(way, one) for name, one in case.beside.wanted.items()}
    limits = Limits(case.policy.limits.width, levels=case.levels())
    before = case.beside
    plain = ReleasedStatistics.of(case.subject.figures(), wanted, before.both)
    beside = SafeStatistics(wanted, plain.truth, before.both, limits, Effort(plan.time_limit), before.truth)
    return replace(case, beside=beside), parameters


def with_alternatives(points: Sequence[GridPoint], statistics: Mapping[str, object]) -> tuple[GridPoint, ...]:
    """Return the points with every treatment of statistics beside suppressed figures, if any are wanted."""
    found: list[GridPoint] = []
    for point in points:
        ways = ALTERNATIVES if statistics and point.name == "suppress" and "statistics" not in point.parameters else ()
        found += [point, *(replace(point, parameters={**point.parameters, "statistics": way}) for way in ways)]
    return tuple(found)


def _released(case: Case, point: GridPoint, method: Method | None, plan: ComparisonPlan, choice: Choice) -> Measured:
    # A stream of its own for every point: its result does not depend on which others are compared.
    root = np.random.SeedSequence([plan.seed, int(digest(point.to_dict())[:15], 16)])
    *streams, last = root.spawn(plan.audits + 1)
    evidences, effort = [], Effort(plan.time_limit, workers=1)
    for stream in streams:
        made = None if method is None else apply_beside(case, method, case.subject.original, stream)
        release, proof = (case.as_is(), None) if made is None else (made.release, made.candidates)
        evidences.append(gather(case, release, effort, candidates=proof, proofs=0, choice=choice))
    figures = _drawn(case, method, plan, last, evidences)
    some = case.cells.size > 0
    figures["worst_dr"] = Figure.of([max(_worst_dr(e.known) for e in evidences)]) if some else None
    n = max(case.cells.size, 1)
    figures["determined"] = Figure.of([e.known.count("exact", "determined") / n for e in evidences])
    figures["known"] = Figure.of([e.exact for e in evidences])
    if case.beside is not None:
        kept = [[one.kept for one in e.statistics] for e in evidences]
        errors = [[one.error for one in e.statistics if one.error is not None] for e in evidences]
        figures["statistics"] = Figure.of([float(np.mean(one)) if one else 0.0 for one in kept])
        figures["statistic_error"] = Figure.of([float(np.mean(one)) for one in errors]) if all(errors) else None
    # R2 is held against its mean over the draws.
    wrong = [{one.name: one for one in failed(check(case, e)) if one.name != "r2"} for e in evidences]
    worst_of: dict[str, Check] = {}
    for name, one in (item for found in wrong for item in found.items()):
        if name not in worst_of or one.beyond > worst_of[name].beyond:
            worst_of[name] = one
    faults = {name: one.brief for name, one in worst_of.items()}
    r2, limits = figures["r2"], case.policy.limits
    if r2 is not None and not limits.met("r2", r2.mean):
        faults["r2"] = f"R2 of {r2.mean:.4f} is above {limits.r2:g}"
    worst = _extremes([e.known for e in evidences] if some else [])
    return Measured(point, figures, worst, plan.draws, plan.audits, faults=tuple(faults.values()), met=wrong.count({}))


def _drawn(
    case: Case, method: Method | None, plan: ComparisonPlan, seed: np.random.SeedSequence, evidences: list[Evidence]
) -> dict[str, Figure | None]:
    """Return risk, utility and errors; over many draws if the method is random."""
    table = case.subject.table
    if isinstance(method, RandomMethod) and table is not None and plan.draws > 1:
        from discreet.evaluate.expected import expected_risk

        found = expected_risk(
            table, method, draws=plan.draws, weights=case.policy.weights, slices=(), seed=seed, workers=1
        )
        means = {"r2": found.risk, **{name: getattr(found, name) for name in ("utility", *ERRORS)}}
        return {name: Figure(one.mean, one.mc_error) for name, one in means.items()}
    risks = [e.risk.value for e in evidences if e.risk is not None]
    losses = [e.loss for e in evidences if e.loss is not None]
    return {
        "r2": Figure.of(risks) if risks else None,
        "utility": Figure.of([e.utility for e in evidences]),
        **{name: Figure.of([float(getattr(x, name)) for x in losses]) if losses else None for name in ERRORS},
    }


def _extremes(audited: list[Known]) -> dict[str, float]:
    """Return the worst that any audited release shows of a sensitive cell; a risk that is not shown is infinite."""
    return {
        "known": float(max((known.count("exact", "determined") for known in audited), default=0)),
        "unfinished": float(max((known.count("unfinished") for known in audited), default=0)),
        "dr": max((_worst_dr(known) for known in audited), default=0.0),
        "width": min((float(known.width.min()) for known in audited), default=math.inf),
        "levels": float(max((int(known.wrong("lower", "upper", "sliding").sum()) for known in audited), default=0)),
    }


def _worst_dr(known: Known) -> float:
    return float(np.nan_to_num(known.dr, nan=np.inf, posinf=np.inf).max())
