"""The expected risk and information loss of a random method over its draws; antal2014 section 3.3.3.

One rounding of a table may be lucky. What an agency chooses is the method, so its risk is the mean of R2 over
every release G that it can make, weighted with their probabilities T(G): by enumeration where they are few, by
draws with a stated Monte Carlo error otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray, sorted_union
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.core.random import Seed, spawn
from discreet.core.statistics import Moments
from discreet.evaluate.result import Aggregate, Expected, ExpectedRisk, ExpectedSlice
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
from discreet.protect.base import EnumerableMethod, RandomMethod
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table import Table

ENUMERATION_LIMIT = 2**20
"""The largest number of releases that are enumerated."""
FEWEST = 100
"""Fewer draws do not tell their own error."""
BLOCK_CELLS = 2_000_000
"""Draws are made in blocks of about this many figures; the blocks do not depend on the workers."""


@dataclass(frozen=True)
class _View:
    """One way to look at the table: the whole, or its slices along a dimension."""

    groups: Grouping
    cells: IntArray


def expected_risk(
    table: Any,
    method: RandomMethod,
    *,
    draws: int = 1000,
    precision: float | None = None,
    exact: bool = False,
    aggregate: Aggregate = "measure",
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
    form: Form = "2015",
    slices: Sequence[str] | None = None,
    seed: Seed = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> ExpectedRisk:
    """Return the expected R2 and information loss of a random method on a table.

    Args:
        table: the original: a table, a tabulation, a file or a frame.
        method: a random protection, such as ``discreet.protect.RandomRounding(3)``.
        draws: how many releases are drawn; the largest number when a precision is asked for is 1,000 times it.
        precision: draw until the Monte Carlo error of the whole table's R2 is at most this.
        exact: enumerate every release and weight it with its probability T(G).
        aggregate: ``"measure"`` for the mean of R2; ``"transition"`` for the R2 whose conditional entropy is that
            of Theorem 6's averaged transition matrix (whole table only).
        weights: as for :func:`discreet.risk`.
        form: as for :func:`discreet.risk`.
        slices: dimensions whose slices are judged too; by default all.
        seed: makes the draws reproducible, whatever the number of workers.
        workers: threads; by default one per core.
        progress: told how far the work is.
        reading: how a file or frame is read, as for :func:`discreet.assess`.

    >>> import discreet
    >>> from discreet.protect import RandomRounding
    >>> result = expected_risk(discreet.datasets.sex(), RandomRounding(3), exact=True, slices=[])
    >>> result.draws, round(result.risk.mean, 4)
    (8192, 0.0149)
    """
    w = check_weights(weights)
    check_form(form)
    table = open_original(table, Reading.of(reading)).table()
    check_measurable(table)
    method.check(table)
    if aggregate not in ("measure", "transition"):
        raise RequestError(f"aggregate is {aggregate!r}; it is 'measure' or 'transition'")
    if draws < 2:
        raise RequestError(f"draws is {draws}; a Monte Carlo error needs 2 or more")
    if precision is not None and not precision > 0:
        raise RequestError(f"precision is {precision}; give a Monte Carlo error above 0")
    if exact and precision is not None:
        raise RequestError("an exact value has no Monte Carlo error; give either precision or exact")
    if precision is not None and aggregate == "transition":
        raise RequestError("the entropy of an averaged matrix has no Monte Carlo error; give draws, not a precision")
    along = tuple(table.names if slices is None else slices) if len(table.shape) > 1 else ()
    if aggregate == "transition":
        along = ()
    support = method.support(table)
    cells = sorted_union(table.cells, support)
    views = [_View(WHOLE, np.array([table.possible]))]
    for name in along:
        length = len(table.dimensions[table.axis(name)])
        views.append(_View(Grouping(table.codes(name, cells), length), table.slice_cells(name)))
    judge = _Judge(table, cells, table.at(cells), views, w, form, aggregate == "transition", support)
    if exact:
        summary = _enumerate(table, method, judge, progress)
    else:
        summary = _draw(table, method, judge, draws, precision, seed, workers, progress)
    return _result(table, method, judge, summary, along, aggregate, form, exact)


@dataclass(frozen=True, eq=False)
class _Summary:
    """Moments of every figure, and the averaged transition matrix when it is asked for."""

    moments: Moments
    matrix: FloatArray | None
    exact: bool = False


@dataclass(frozen=True)
class _Judge:
    """Turns a block of released counts into one row of figures per release.

    The columns are, view after view and group after group: R2, HD; then the whole table's mean absolute and squared
    error, and its three terms.
    """

    table: Table
    cells: IntArray
    F: IntArray
    views: list[_View]
    w: FloatArray
    form: Form
    with_matrix: bool
    support: IntArray

    def placed(self, G: IntArray) -> IntArray:
        """Return counts of all cells, given those of the support; the others are released as empty."""
        if self.support.size == self.cells.size:
            return G
        wide = np.zeros((G.shape[0], self.cells.size), np.int64)
        wide[:, np.searchsorted(self.cells, self.support)] = G
        return wide

    def figures(self, G: IntArray) -> FloatArray:
        F = self.F
        parts: list[FloatArray] = []
        whole: FloatArray | None = None
        apart = 0.5 * np.square(np.sqrt(F) - np.sqrt(G))
        for view in self.views:
            terms = self.w * r2_terms(F[None], G, view.cells, view.groups, self.form)
            whole = terms[:, 0] if whole is None else whole
            parts += [terms.sum(axis=-1), np.sqrt(view.groups.sum(apart))]
        assert whole is not None
        away = np.abs(F - G).astype(np.float64)
        errors = np.stack([away.sum(axis=1), np.square(away).sum(axis=1)], axis=1) / self.table.possible
        return np.concatenate([*parts, errors, whole], axis=1)

    def matrix(self, G: IntArray, chance: FloatArray) -> FloatArray | None:
        """Return Σ T(G)·E(Z^G) over the block; antal2014 Theorem 6. G = F gives the identity, as it says."""
        if not self.with_matrix:
            return None
        F = self.F
        if F.size > MATRIX_LIMIT:
            raise LimitError(f"{F.size:,} cells need a square matrix; at most {MATRIX_LIMIT:,} are laid out")
        p = F / F.sum()
        # Nobody leaves a cell in which nobody is.
        filled = np.where(p > 0, p, 1.0)
        M = G.sum(axis=1, keepdims=True)
        # An empty release teaches nothing: it leaves everybody anywhere, in proportion to the original.
        q = np.where(M > 0, G / np.maximum(M, 1), p)
        m = np.minimum(p, q)
        R = (p - m).sum(axis=1, keepdims=True)
        moved = ((p - m) / filled * (chance[:, None] / np.where(R > 0, R, 1.0))).T @ (q - m)
        kept = chance @ (m / filled)
        nothing = float(chance[M[:, 0] == 0].sum())
        averaged: FloatArray = moved + np.diag(kept - nothing * (p > 0)) + nothing * p[None, :]
        return averaged


def _enumerate(table: Table, method: RandomMethod, judge: _Judge, progress: Progress | None) -> _Summary:
    if not isinstance(method, EnumerableMethod):
        raise RequestError(f"the releases of {method.name} are not enumerated; use draws")
    count = method.outcomes(table)
    if count > ENUMERATION_LIMIT:
        raise LimitError(
            f"{method.name} has {_roughly(count)} different releases of this table, more than the "
            f"{ENUMERATION_LIMIT:,} that are enumerated; use draws, or a slice of the table"
        )
    weight, total, squares = 0.0, np.zeros(1), np.zeros(1)
    matrix: FloatArray | None = None
    done = 0
    for chance, G in method.law(table):
        G = judge.placed(G)
        figures = judge.figures(G)
        weight += float(chance.sum())
        total = total + chance @ figures
        squares = squares + chance @ np.square(figures)
        part = judge.matrix(G, chance)
        matrix = part if matrix is None or part is None else matrix + part
        done += chance.size
        if progress is not None:
            progress(done, count, "enumerating releases")
    mean = total / weight
    variance = np.maximum(squares / weight - np.square(mean), 0.0)
    return _Summary(Moments(done, mean, variance * max(done - 1, 1)), matrix, exact=True)


def _roughly(count: int) -> str:
    """Return a whole number of any size, short."""
    return f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"


def _draw(
    table: Table,
    method: RandomMethod,
    judge: _Judge,
    draws: int,
    precision: float | None,
    seed: Seed,
    workers: int | None,
    progress: Progress | None,
) -> _Summary:
    block = max(1, min(draws, BLOCK_CELLS // max(judge.cells.size, 1)))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]

    def work(item: tuple[np.random.Generator, int]) -> tuple[Moments, FloatArray | None]:
        rng, size = item
        G = judge.placed(method.draws(table, rng, size))
        return Moments.of(judge.figures(G)), judge.matrix(G, np.full(size, 1.0))

    moments: Moments | None = None
    matrix: FloatArray | None = None
    most = 1000 if precision is not None else 1
    # Rounds of the same number of draws, each with streams of its own, until the precision is reached.
    for round_seed in spawn(seed, most):
        streams = round_seed.spawn(len(sizes))
        results = run(
            work,
            zip(streams, sizes, strict=True),
            workers=workers,
            progress=progress,
            label="drawing releases",
        )
        for part, block_matrix in results:
            moments = part if moments is None else moments.join(part)
            matrix = block_matrix if matrix is None or block_matrix is None else matrix + block_matrix
        assert moments is not None
        if precision is None or (moments.n >= FEWEST and moments.error[0] <= precision):
            return _Summary(moments, None if matrix is None else matrix / moments.n)
    assert moments is not None
    raise LimitError(
        f"after {moments.n:,} draws the Monte Carlo error is {moments.error[0]:.3g}, above the precision "
        f"{precision:.3g} asked for; ask for less precision or more draws a round"
    )


def _result(
    table: Table,
    method: RandomMethod,
    judge: _Judge,
    summary: _Summary,
    along: tuple[str, ...],
    aggregate: Aggregate,
    form: Form,
    exact: bool,
) -> ExpectedRisk:
    moments = summary.moments
    error = np.zeros_like(moments.mean) if exact else moments.error
    expected = [
        Expected(*values) for values in zip(moments.mean.tolist(), moments.sd.tolist(), error.tolist(), strict=True)
    ]
    terms = moments.mean[-3:]
    whole = expected[0]
    if summary.matrix is not None:
        F = judge.F
        H = entropy(F)
        share = float(np.clip(transition_entropy(F, summary.matrix) / H[0], 0.0, 1.0)) if H[0] > 0 else 0.0
        people, filled = np.array([float(table.total)]), np.array([float(np.count_nonzero(F))])
        concentration = r1_terms(people, H, filled, np.array([table.possible]))[0, 1]
        terms[1] = judge.w[1] * concentration * (1 - share if form == "2015" else share)
        # The entropy of an average has no deviation of its own over draws.
        whole = Expected(float(terms.sum()), float("nan"), float("nan"))
    slices = []
    column = 2
    for name in along:
        categories = table.dimensions[table.axis(name)].categories
        for i, category in enumerate(categories):
            slices.append(ExpectedSlice(name, category, expected[column + i], expected[column + len(categories) + i]))
        column += 2 * len(categories)
    root = np.sqrt(table.total)
    hellinger = expected[1]
    return ExpectedRisk(
        method=method.name,
        parameters=method.parameters,
        risk=whole,
        terms=dict(zip(("zeros", "concentration", "size"), terms.tolist(), strict=True)),
        hellinger=hellinger,
        utility=Expected(1 - hellinger.mean / root, hellinger.sd / root, hellinger.mc_error / root),
        mean_absolute_error=expected[-5],
        mean_squared_error=expected[-4],
        before=risk(table, weights=tuple(judge.w.tolist()), slices=()).value,
        draws=moments.n,
        exact=exact,
        form=form,
        aggregate=aggregate,
        slices=tuple(slices),
    )
