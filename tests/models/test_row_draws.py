"""Small draws in calls of NumPy give the bytes of the compiled kernels, and leave the generator in the same state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.core.compiled import Kernel
from discreet.core.numerics import IntArray
from discreet.models import draws, row_draws, samplers

KERNELS = [kernel for kernel in vars(samplers).values() if isinstance(kernel, Kernel)]


def drawn(draw: Callable[[np.random.Generator], IntArray], seed: int, mode: str) -> tuple[bytes, float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KERNELS", mode)
        if mode == "interpreted":
            for kernel in KERNELS:
                patch.setattr(kernel, "_machine_code", None)
        rng = np.random.Generator(np.random.SFC64(seed))
        return draw(rng).tobytes(), rng.random()


def same(draw: Callable[[np.random.Generator], IntArray], seed: int) -> None:
    assert drawn(draw, seed, "interpreted") == drawn(draw, seed, "compiled")


@pytest.mark.parametrize("seed", range(60))
def test_the_same_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(2, 30)), int(rng.integers(1, 300))
    base = rng.negative_binomial(1, 0.3, K)
    base[0] += 1
    p = rng.dirichlet(np.full(K, 0.3)) * (rng.random(K) > 0.2)
    p[0] += 0.01
    p /= p.sum()
    for mean in (draws.tables_mean(p[p > 0], N), 0.8 * N):
        if mean is not None:
            same(lambda g, mean=mean: draws.multinomial_by_tables(base, p, N, mean, 20, g), seed)  # type: ignore[misc]
    empty = np.flatnonzero(base == 0)
    # Many new colours for few cells: some have to be given up.
    theta = float(rng.choice([0.0, 0.5, 3.0, 30.0])) if empty.size else 0.0
    for ratio in (0.0, 0.5):
        same(lambda g, ratio=ratio: draws.urn_by_kernel(base, empty, theta, N, ratio, 10, g), seed)  # type: ignore[misc]


def test_numbers_put_back_are_drawn_again() -> None:
    words = np.array([1, 2, 3, 4], np.uint64)
    expected = words.copy()
    stream = row_draws.Uniforms(words)
    stream.take(row_draws.CHUNK + 5)
    stream.back(5)
    stream.take(2)
    stream.stop()
    for _ in range(row_draws.CHUNK + 2):
        samplers.uniform(expected)
    assert words.tolist() == expected.tolist()
