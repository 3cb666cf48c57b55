"""Choosing a log-linear model by whether it would overestimate the risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Unpack

from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.text import Face, Result, figure
from discreet.table import Table
from discreet.uniques.loglinear_tau import LogLinearRisk, Margins, Scale, loglinear_risk, margins_of, name_of

Name = Literal["b1", "b2"]


@dataclass(frozen=True)
class Selection(Result):
    """The models that were tried, in the order of trying, and the one that was chosen.

    A model is chosen when its criterion no longer shows underfitting, B/√v ≤ ``limit``. ``fits`` says whether
    the chosen one passes; when no model does, the one that comes closest is chosen.
    """

    chosen: LogLinearRisk
    path: tuple[LogLinearRisk, ...]
    criterion: Name
    limit: float
    fits: bool

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        said = {name: getattr(self, name) for name in ("criterion", "limit", "fits")}
        return {**self.chosen.to_dict(), **said, "path": [step.to_dict() for step in self.path]}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per model, as text."""
        body = [
            [
                name_of(step.model),
                *(figure(tau) for tau in (step.tau1, step.tau2)),
                *(figure(b.z, 2) for b in (step.b1, step.b2)),
                "chosen" if step is self.chosen else "",
            ]
            for step in self.path
        ]
        return ["model", "τ₁", "τ₂", "B₁/√v", "B₂/√v", ""], body

    def face(self, most: int) -> Face:
        """Return one line per model."""
        return Face(*self.rows())


def _z(risk: LogLinearRisk, name: Name) -> float:
    return (risk.b1 if name == "b1" else risk.b2).z


def _check(criterion: str, limit: float) -> None:
    if criterion not in ("b1", "b2"):
        raise RequestError(f"the criterion is {criterion!r}; choose 'b1' (for τ₁) or 'b2' (for τ₂)")
    if not limit > 0:
        raise RequestError(f"the limit is {limit}; give a positive number of standard deviations, such as 1.96")


def choose(
    table: Table,
    models: Sequence[Margins] = ("main", "two-way"),
    *,
    criterion: Name = "b2",
    limit: float = 1.96,
    **scale: Unpack[Scale],
) -> Selection:
    """Fit models from the simplest to the richest and take the first that does not underfit.

    >>> table = Table.from_array([[5, 1, 2], [1, 6, 1], [2, 1, 4]], ["area", "trade"])
    >>> name_of(choose(table, population=230).chosen.model)
    '[area] [trade]'
    """
    _check(criterion, limit)
    if not models:
        raise RequestError("no model is given; name at least one, such as 'main'")
    path: list[LogLinearRisk] = []
    for margins in models:
        path.append(loglinear_risk(table, margins, **scale))
        if _z(path[-1], criterion) <= limit:
            return Selection(path[-1], tuple(path), criterion, limit, True)
    closest = min(path, key=lambda risk: _z(risk, criterion))
    return Selection(closest, tuple(path), criterion, limit, False)


def forward_selection(
    table: Table,
    *,
    criterion: Name = "b2",
    limit: float = 1.96,
    workers: int | None = None,
    progress: Progress | None = None,
    **scale: Unpack[Scale],
) -> Selection:
    """Start from main effects and add two-way interactions until the criterion shows no underfitting.

    Skinner and Shlomo (2008) advise forward selection, because the criteria show underfitting (B > 0) clearly and
    overfitting less so. At each step every interaction that is not yet in the model is tried, and the one that
    leaves B/√v closest to 0 is added. Interactions whose fit does not converge are passed over.

    Args:
        table: the sample table.
        criterion: ``"b2"`` (about τ₂, the more powerful of the two) or ``"b1"`` (about τ₁).
        limit: the largest B/√v of a model that passes.
        workers: threads; the result does not depend on them.
        progress: called with the number of interactions in the model.
        scale: the population's size, the sampling fractions or the weighted counts, as for ``fit_rates``.

    >>> table = Table.from_array([[9, 1, 0], [0, 8, 1], [1, 0, 7]], ["area", "trade"])
    >>> name_of(forward_selection(table, population=270).chosen.model)
    '[area × trade]'
    """
    _check(criterion, limit)

    def attempt(margins: tuple[tuple[str, ...], ...]) -> LogLinearRisk | None:
        try:
            return loglinear_risk(table, margins, **scale)
        except LimitError:
            # The fit lies on the boundary and is not reached in time; such a model is too rich for the sample.
            return None

    model = margins_of(table, "main")
    path = [loglinear_risk(table, model, **scale)]
    left = list(combinations(table.names, 2))
    total = len(left)
    while _z(path[-1], criterion) > limit and left:
        tried = run(attempt, [(*model, pair) for pair in left], workers=workers, apart=True)
        fitted = {i: risk for i, risk in enumerate(tried) if risk is not None}
        if not fitted:
            break
        best = min(fitted, key=lambda i: abs(_z(fitted[i], criterion)))
        path.append(fitted[best])
        model = (*model, left.pop(best))
        if progress is not None:
            progress(total - len(left), total, "interactions")
    return Selection(path[-1], tuple(path), criterion, limit, _z(path[-1], criterion) <= limit)
