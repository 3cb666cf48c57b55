"""Population uniques at size, and log-linear fits against a generalised linear model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from _tools import best, growing, in_turn, machine
from discreet.core.numerics import FloatArray
from discreet.models import LogLinear
from discreet.table import Dimension, Table
from discreet.uniques import Multinomial, Sample, Uniform, bayes_test, fit_rates, posterior, risk_of, tau_of


def large_sample() -> Sample:
    """A million sample uniques among a hundred million possible cells."""
    rng = np.random.default_rng(1)
    cells = np.unique(rng.integers(0, 10**8, size=1_320_000))[:1_300_000]
    counts = np.ones(cells.size, np.int64)
    counts[rng.permutation(cells.size)[:300_000]] = rng.integers(2, 30, 300_000)
    return Sample(cells, counts, 10**8, 10**8)


def everything(sample: Sample, prior: Uniform | Multinomial) -> None:
    known = posterior(sample, prior)
    tau_of(known)
    bayes_test(known, b=10, c=1)


def sparse_table(shape: tuple[int, ...], people: int) -> Table:
    rng = np.random.default_rng(1)
    dims = tuple(Dimension(f"d{i}", range(length)) for i, length in enumerate(shape))
    shares = [rng.dirichlet(np.full(length, 2.0)) for length in shape]
    codes = [rng.choice(length, people, p=share) for length, share in zip(shape, shares, strict=True)]
    cells, counts = np.unique(np.ravel_multi_index(codes, shape), return_counts=True)
    return Table(dims, cells, counts, np.zeros(0, np.int64))


def design(shape: tuple[int, ...]) -> FloatArray:
    """Dummy columns of all main effects and two-way interactions."""
    codes = np.indices(shape).reshape(len(shape), -1)
    main = [(codes[i][:, None] == np.arange(1, length)).astype(float) for i, length in enumerate(shape)]
    pairs = [
        (main[i][:, :, None] * main[j][:, None, :]).reshape(codes.shape[1], -1)
        for i, j in combinations(range(len(shape)), 2)
    ]
    return np.hstack([np.ones((codes.shape[1], 1)), *main, *pairs])


def at_size() -> Iterator[list[str]]:
    """Yield what large samples and tables take."""
    sample = large_sample()
    for prior in (Uniform(), Multinomial()):
        seconds = best(lambda prior=prior: everything(sample, prior))  # type: ignore[misc]
        what = f"{sample.uniques:,} sample uniques in 10⁸ cells, {prior.name} prior: Q, τ̃ with exact law, test"
        yield [what, f"**{seconds:.2f} s**"]
    million = sparse_table((10,) * 6, 300_000)
    fit = best(lambda: risk_of(fit_rates(million, "two-way", population=3_000_000)))
    yield ["6-way table of 10⁶ cells, all two-way: fit, τ₁, τ₂, B₁, B₂", f"**{fit:.2f} s**"]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    import statsmodels.api as sm

    yield "## Population uniques and log-linear fits\n"
    yield machine("numpy", "scipy", "statsmodels") + "\n"
    yield from growing(["what", "time"], at_size())
    shape = (6, 6, 6, 6)
    small = sparse_table(shape, 20_000)
    model = LogLinear(tuple(combinations(small.names, 2)))
    X, y = design(shape), small.to_array().ravel()

    def glm() -> FloatArray:
        result: FloatArray = sm.GLM(y, X, family=sm.families.Poisson()).fit().mu
        return result

    ours, theirs = in_turn([lambda: model.fit(small), glm], 3)
    apart = float(np.abs(model.fit(small).expected.ravel() - glm()).max())
    yield (
        f"All two-way model of a 6 × 6 × 6 × 6 table: discreet {1e3 * ours:.1f} ms, `statsmodels` GLM Poisson "
        f"{1e3 * theirs:.0f} ms, **{theirs / ours:.0f} times faster**; expected counts differ by at most {apart:.1g}."
    )


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
