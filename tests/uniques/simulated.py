"""Sparse population tables with and without interactions, for tests of the log-linear estimators."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from discreet.core.numerics import FloatArray, IntArray

SHAPE = (8, 7, 6, 6)
PEOPLE = 20_000
FRACTION = 0.1


def rates(rng: np.random.Generator, interactions: bool, strength: float = 0.6) -> FloatArray:
    """Expected population counts with main effects, and all two-way interactions if wanted."""
    log = np.zeros(SHAPE)
    axes = range(len(SHAPE))
    for axis in axes:
        effect = rng.normal(0.0, 0.7, SHAPE[axis])
        log = log + effect.reshape([-1 if other == axis else 1 for other in axes])
    for pair in combinations(axes, 2) if interactions else ():
        effect = rng.normal(0.0, strength, [SHAPE[axis] for axis in pair])
        log = log + effect.reshape([SHAPE[axis] if axis in pair else 1 for axis in axes])
    rate = np.exp(log)
    result: FloatArray = rate * (PEOPLE / rate.sum())
    return result


def draw(rate: FloatArray, fraction: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """A population and a sample of it."""
    population = rng.poisson(rate)
    return population, rng.binomial(population, fraction)
