"""The expected risk and information loss of a random method over its draws; antal2014 section 3.3.3.

One rounding of a table may be lucky. An agency chooses the method, so its risk is the mean of R2 over every release G
that it can make, weighted by their probabilities T(G): enumerated where they are few, drawn with a stated Monte Carlo
error otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack

import numpy as np

from discreet.core.effort import DrawOptions, Effort
from discreet.core.errors import LimitError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray, sorted_union
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.random import spawn
from discreet.core.statistics import Moments
from discreet.core.text import Face, Result, figure
from discreet.measures.entropy import (
    DEFAULT_WEIGHTS,
    MATRIX_LIMIT,
    WHOLE,
    Form,
    Grouping,
    check_form,
    check_weights,
    entropy,
    r1_terms,
    r2_terms,
    transition_entropy,
)
from discreet.measures.risk import check_measurable, risk
from discreet.measures.risk_result import change
from discreet.protect.base import EnumerableMethod, RandomMethod
from discreet.reading.original import open_original
from discreet.reading.reading import EstimateOptions, Reading
from discreet.table import Table

Aggregate: TypeAlias = Literal["measure", "transition"]
HEADER = ["", "risk", "deviation", "MC error", "Hellinger"]
ENUMERATION_LIMIT = 2**20
"""The largest number of releases that are enumerated: a few minutes of work on a small table."""
FEWEST = 100
"""The fewest draws for which a standard error is reported: the usual rule of thumb."""
BLOCK_CELLS = 2_000_000
"""Draws are made in blocks of about this many figures, 16 MB each; the blocks do not depend on the workers."""


@dataclass(frozen=True)
class Expected:
    """A mean over draws, the deviation of one draw, and the Monte Carlo error of the mean (0 when exact)."""

    mean: float
    sd: float
    mc_error: float

    def to_dict(self) -> dict[str, float | None]:
        """Return plain data; undefined figures are None."""
        return {name: None if np.isnan(value) else float(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class ExpectedSlice:
    """Expected risk and Hellinger distance of one slice."""

    dimension: str
    category: str
    risk: Expected
    hellinger: Expected


@dataclass(frozen=True, repr=False)
class ExpectedRisk(Result):
    """Expected R2 and information loss of a random method, for the whole table and every slice.

    Attributes:
        method: the method's name, with its parameters in ``parameters``.
        risk: R2 over the draws.
        terms: the means of R2's three weighted terms.
        hellinger: HD on counts over the draws.
        utility: 1 − HD/√N over the draws.
        mean_absolute_error: the mean of |F − G| over the cells, over the draws; ``mean_squared_error`` likewise.
        before: R1 of the original.
        draws: the number of draws, or of enumerated releases when ``exact``.
        exact: whether every release was weighted with its probability.
        aggregate: ``"measure"`` averages R2 over draws; ``"transition"`` takes the entropy of the averaged
            transition matrix (Theorem 6).
        slices: the same figures for every slice.
    """

    method: str
    parameters: dict[str, object]
    risk: Expected
    terms: dict[str, float]
    hellinger: Expected
    utility: Expected
    mean_absolute_error: Expected
    mean_squared_error: Expected
    before: float
    draws: int
    exact: bool
    form: Form
    aggregate: Aggregate
    slices: tuple[ExpectedSlice, ...]

    @property
    def sentence(self) -> str:
        """What the method does to risk and information, in words."""
        how = f"all {self.draws:,} releases" if self.exact else f"{self.draws:,} draws"
        down = "" if self.form == "2014" else f" ({change(self.before, self.risk.mean)})"
        rising = " The form of 2014 rises with protection." if self.form == "2014" else ""
        return (
            f"Over {how}, {self.method} takes the risk from {self.before:.4f} to {self.risk.mean:.4f} "
            f"on average{down}, at a utility of {self.utility.mean:.4f}; a figure is off by "
            f"{self.mean_absolute_error.mean:.2f} on average.{rising}"
        )

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        own = {name: value.to_dict() if isinstance(value, Expected) else value for name, value in vars(self).items()}
        del own["slices"]
        slices = [
            {
                "dimension": item.dimension,
                "category": item.category,
                "value": item.risk.to_dict()["mean"],
                "risk": item.risk.to_dict(),
                "hellinger": item.hellinger.to_dict(),
            }
            for item in self.slices
        ]
        about = {name: own.pop(name) for name in ("method", "parameters")}
        told: dict[str, Json] = {"measure": "R2", "expected": True, **about, "value": self.risk.mean}
        return {**told, **own, "sentence": self.sentence, "slices": slices}

    def rows(self) -> list[list[str]]:
        """Return whole table and slices, worst first, as rows of text."""
        worst = sorted(self.slices, key=lambda item: -np.nan_to_num(item.risk.mean, nan=-1.0))
        lines = [("whole table", self.risk, self.hellinger)]
        lines += [(f"{item.dimension}={item.category}", item.risk, item.hellinger) for item in worst]
        return [[name, figure(r.mean), figure(r.sd), figure(r.mc_error, 5), figure(h.mean)] for name, r, h in lines]

    def face(self, most: int) -> Face:
        """Return the sentence and the worst slices."""
        return Face(HEADER, self.rows()[: most + 1], self.sentence)


def expected_risk(
    table: object,
    method: RandomMethod,
    *,
    precision: float | None = None,
    exact: bool = False,
    aggregate: Aggregate = "measure",
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
    form: Form = "2015",
    slices: Sequence[str] | None = None,
    **options: Unpack[EstimateOptions],
) -> ExpectedRisk:
    """Return the expected R2 and information loss of a random method on a table.

    Args:
        table: the original: a table, a tabulation, a file or a frame.
        method: a random protection, such as ``discreet.protect.RandomRounding(3)``.
        precision: draw until the Monte Carlo error of the whole table's R2 is at most this.
        exact: enumerate every release and weight it with its probability T(G).
        aggregate: ``"measure"`` for the mean of R2; ``"transition"`` for the R2 whose conditional entropy is that
            of Theorem 6's averaged transition matrix (whole table only).
        weights: as for :func:`discreet.risk`.
        form: as for :func:`discreet.risk`.
        slices: dimensions whose slices are judged too; by default all.
        options: those below.

    Keyword Args:
        draws: how many releases are drawn (1,000); the largest number when a precision is asked for is 1,000 times it.
        seed: makes the draws reproducible, whatever the number of workers.
        workers: threads; by default one per core.
        progress: called as the work advances.
        by, value, contributor, …: how a file or frame is read, as for :func:`discreet.assess`.

    >>> import discreet
    >>> from discreet.protect import RandomRounding
    >>> result = expected_risk(discreet.datasets.sex(), RandomRounding(3), exact=True, slices=[])
    >>> result.draws, round(result.risk.mean, 4)
    (8192, 0.0149)
    """
    w = check_weights(weights)
    check_form(form)
    _check_method(method)
    effort, reading = Effort().among(options, DrawOptions)
    table = open_original(table, Reading.of(reading, expected_risk, DrawOptions)).table()
    check_measurable(table)
    method.check(table)
    if aggregate not in ("measure", "transition"):
        raise RequestError(f"aggregate is {aggregate!r}; give 'measure' or 'transition'")
    if effort.draws < 2:
        raise RequestError(f"draws is {effort.draws}; a Monte Carlo error needs 2 or more")
    if precision is not None and not precision > 0:
        raise RequestError(f"precision is {precision}; give a Monte Carlo error above 0")
    if exact and precision is not None:
        raise RequestError("an exact value has no Monte Carlo error; give either precision or exact")
    if precision is not None and aggregate == "transition":
        raise RequestError("the entropy of an averaged matrix has no Monte Carlo error; give draws, not a precision")
    along = tuple(table.names if slices is None else slices)
    if aggregate == "transition" or len(table.shape) == 1:
        along = ()
    judge = _DrawJudge(table, method, along, w, form, aggregate)
    found = judge.enumerated(effort.progress) if exact else judge.drawn(effort, precision)
    return judge.result(*found, exact)


def _check_method(method: object) -> None:
    """Refuse methods that draw nothing, and say how they are measured instead."""
    if isinstance(method, RandomMethod):
        return
    name = getattr(method, "name", None)
    if not isinstance(name, str):
        raise RequestError(
            f"a {type(method).__name__} is not a protection; give one, as discreet.protect.RandomRounding(3)"
        )
    make = "discreet.suppress(table, rules)" if name == "suppress" else "its apply(table)"
    raise RequestError(
        f"{name} leaves nothing to chance, so there are no draws to average over; make its one release with {make}, "
        "and measure that with discreet.risk(table, release) and discreet.information_loss(table, release)"
    )


class _DrawJudge:
    """Turns a block of released counts into one row of figures per release, and rows into expected figures.

    The columns are, view after view and group after group: R2, HD; then the whole table's mean absolute and squared
    error, and its three terms. A view is the whole table or its slices along a dimension: groups, and their cells.
    """

    def __init__(
        self, table: Table, method: RandomMethod, along: Sequence[str], w: FloatArray, form: Form, aggregate: Aggregate
    ) -> None:
        self.table, self.method, self.along = table, method, along
        self.w, self.form, self.aggregate = w, form, aggregate
        self.support = method.support(table)
        self.cells = sorted_union(table.cells, self.support)
        self.F = table.at(self.cells)
        self.views = [(WHOLE, np.array([table.possible]))]
        for name in along:
            groups = Grouping(table.codes(name, self.cells), len(table.dimensions[table.axis(name)]))
            self.views.append((groups, table.slice_cells(name)))

    def placed(self, G: IntArray) -> IntArray:
        """Return counts of all cells, given those of the support; the others are released as empty."""
        if self.support.size == self.cells.size:
            return G
        wide = np.zeros((G.shape[0], self.cells.size), np.int64)
        wide[:, np.searchsorted(self.cells, self.support)] = G
        return wide

    def figures(self, G: IntArray) -> FloatArray:
        """Return the figures of a block of releases."""
        F = self.F
        apart = 0.5 * np.square(np.sqrt(F) - np.sqrt(G))
        terms = [self.w * r2_terms(F[None], G, cells, groups, self.form) for groups, cells in self.views]
        distances = [np.sqrt(groups.sum(apart)) for groups, _ in self.views]
        parts = [side for one, far in zip(terms, distances, strict=True) for side in (one.sum(axis=-1), far)]
        away = np.abs(F - G).astype(np.float64)
        errors = np.stack([away.sum(axis=1), np.square(away).sum(axis=1)], axis=1) / self.table.possible
        return np.concatenate([*parts, errors, terms[0][:, 0]], axis=1)

    def matrix(self, G: IntArray, chance: FloatArray) -> FloatArray | None:
        """Return Σ T(G)·E(Z^G) over the block; antal2014 Theorem 6. G = F gives the identity, as it says."""
        if self.aggregate != "transition":
            return None
        F = self.F
        if F.size > MATRIX_LIMIT:
            raise LimitError(f"{F.size:,} cells need a square matrix; at most {MATRIX_LIMIT:,} are laid out")
        p = F / F.sum()
        # Nobody leaves an empty cell.
        filled = np.where(p > 0, p, 1.0)
        M = G.sum(axis=1, keepdims=True)
        # An empty release reveals nothing: it leaves everybody anywhere, in proportion to the original.
        q = np.where(M > 0, G / np.maximum(M, 1), p)
        m = np.minimum(p, q)
        R = (p - m).sum(axis=1, keepdims=True)
        moved = ((p - m) / filled * (chance[:, None] / np.where(R > 0, R, 1.0))).T @ (q - m)
        kept = chance @ (m / filled)
        nothing = float(chance[M[:, 0] == 0].sum())
        averaged: FloatArray = moved + np.diag(kept - nothing * (p > 0)) + nothing * p[None, :]
        return averaged

    def enumerated(self, progress: Progress | None) -> tuple[Moments, FloatArray | None]:
        """Return the moments of the figures over all releases, and the averaged matrix on request."""
        method = self.method
        if not isinstance(method, EnumerableMethod):
            raise RequestError(f"the releases of {method.name} are not enumerated; use draws")
        count = method.outcomes(self.table)
        if count > ENUMERATION_LIMIT:
            shown = f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"
            raise LimitError(
                f"{method.name} has {shown} different releases of this table, more than the "
                f"{ENUMERATION_LIMIT:,} that are enumerated; use draws, or a slice of the table"
            )
        weight, total, squares = 0.0, np.zeros(1), np.zeros(1)
        matrix: FloatArray | None = None
        done = 0
        for chance, G in method.law(self.table):
            G = self.placed(G)
            figures = self.figures(G)
            weight += float(chance.sum())
            total = total + chance @ figures
            squares = squares + chance @ np.square(figures)
            matrix = _added(matrix, self.matrix(G, chance))
            done += chance.size
            if progress is not None:
                progress(done, count, "enumerating releases")
        mean = total / weight
        variance = np.maximum(squares / weight - np.square(mean), 0.0)
        return Moments(done, mean, variance * max(done - 1, 1)), matrix

    def drawn(self, effort: Effort, precision: float | None) -> tuple[Moments, FloatArray | None]:
        """Return the moments of the figures over draws, and the averaged matrix on request."""
        draws = effort.draws
        block = max(1, min(draws, BLOCK_CELLS // max(self.cells.size, 1)))
        sizes = [min(block, draws - start) for start in range(0, draws, block)]

        def work(item: tuple[np.random.Generator, int]) -> tuple[Moments, FloatArray | None]:
            rng, size = item
            G = self.placed(self.method.draws(self.table, rng, size))
            return Moments.of(self.figures(G)), self.matrix(G, np.full(size, 1.0))

        moments: Moments | None = None
        matrix: FloatArray | None = None
        # Rounds of the same number of draws, each with streams of its own, until the precision is reached.
        for round_seed in spawn(effort.seed, 1000 if precision is not None else 1):
            items = zip(round_seed.spawn(len(sizes)), sizes, strict=True)
            done = run(work, items, workers=effort.workers, progress=effort.progress, label="drawing releases")
            for part, one in done:
                moments = part if moments is None else moments.join(part)
                matrix = _added(matrix, one)
            assert moments is not None
            if precision is None or (moments.n >= FEWEST and moments.error[0] <= precision):
                return moments, None if matrix is None else matrix / moments.n
        assert moments is not None
        raise LimitError(
            f"after {moments.n:,} draws the Monte Carlo error is {moments.error[0]:.3g}, above the precision "
            f"{precision:.3g} asked for; ask for less precision or more draws a round"
        )

    def result(self, moments: Moments, matrix: FloatArray | None, exact: bool) -> ExpectedRisk:
        """Return the method's result from the moments of the figures."""
        table = self.table
        error = np.zeros_like(moments.mean) if exact else moments.error
        figures = (moments.mean.tolist(), moments.sd.tolist(), error.tolist())
        expected = [Expected(*values) for values in zip(*figures, strict=True)]
        terms, whole, hellinger = moments.mean[-3:], expected[0], expected[1]
        if matrix is not None:
            H = entropy(self.F)
            share = float(np.clip(transition_entropy(self.F, matrix) / H[0], 0.0, 1.0)) if H[0] > 0 else 0.0
            people, filled = np.array([float(table.total)]), np.array([float(np.count_nonzero(self.F))])
            concentration = r1_terms(people, H, filled, np.array([table.possible]))[0, 1]
            terms[1] = self.w[1] * concentration * (1 - share if self.form == "2015" else share)
            # The entropy of an average has no deviation of its own over draws.
            whole = Expected(float(terms.sum()), float("nan"), float("nan"))
        slices, column = [], 2
        for name in self.along:
            categories = table.dimensions[table.axis(name)].categories
            risks, distances = expected[column:], expected[column + len(categories) :]
            slices += [ExpectedSlice(name, *one) for one in zip(categories, risks, distances, strict=False)]
            column += 2 * len(categories)
        root = np.sqrt(table.total)
        return ExpectedRisk(
            method=self.method.name,
            parameters=self.method.parameters,
            risk=whole,
            terms=dict(zip(("zeros", "concentration", "size"), terms.tolist(), strict=True)),
            hellinger=hellinger,
            utility=Expected(1 - hellinger.mean / root, hellinger.sd / root, hellinger.mc_error / root),
            mean_absolute_error=expected[-5],
            mean_squared_error=expected[-4],
            before=risk(table, weights=tuple(self.w.tolist()), slices=()).value,
            draws=moments.n,
            exact=exact,
            form=self.form,
            aggregate=self.aggregate,
            slices=tuple(slices),
        )


def _added(total: FloatArray | None, part: FloatArray | None) -> FloatArray | None:
    return part if total is None or part is None else total + part
