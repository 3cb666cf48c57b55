"""Slow and obvious twins of the samplers: exact laws by enumeration, and tests of fit against them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.special import chdtrc

from discreet.core.numerics import FloatArray, IntArray

Law = Mapping[tuple[int, ...], float]


def urn_law(base: Sequence[int], empty: Sequence[int], theta: Fraction, draws: int) -> Law:
    """Enumerate the urn ball by ball; a black ball counts as a coloured one when no empty cell is left."""
    states: dict[tuple[int, ...], Fraction] = {tuple(base): Fraction(1)}
    for _ in range(draws):
        after: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for state, probability in states.items():
            free = [cell for cell in empty if state[cell] == 0]
            black = theta if free else Fraction(0)
            weight = sum(state) + black
            for cell, count in enumerate(state):
                share = Fraction(count) if count else black / len(free) if cell in free else Fraction(0)
                if share:
                    grown = (*state[:cell], count + 1, *state[cell + 1 :])
                    after[grown] += probability * share / weight
        states = after
    assert sum(states.values()) == 1
    return {state: float(probability) for state, probability in states.items()}


def multinomial_law(base: Sequence[int], p: Sequence[float], draws: int) -> Law:
    """Enumerate base + Multinomial(draws; p) trial by trial."""
    states: dict[tuple[int, ...], float] = {tuple(base): 1.0}
    for _ in range(draws):
        after: dict[tuple[int, ...], float] = defaultdict(float)
        for state, probability in states.items():
            for cell, share in enumerate(p):
                if share:
                    after[(*state[:cell], state[cell] + 1, *state[cell + 1 :])] += probability * share
        states = after
    return states


def new_colours_law(n: int, theta: float, draws: int) -> FloatArray:
    """Return the law of the number of new colours without a cap: independent draws of black balls."""
    law = np.ones(1)
    for z in range(draws):
        black = theta / (n + theta + z)
        law = np.append(law * (1 - black), 0.0) + np.append(0.0, law * black)
    return law


def beta_binomial_law(draws: int, a: float, b: float) -> FloatArray:
    """Return the law of the balls added to a colour with a balls against b others."""

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return np.array(
        [
            math.exp(
                math.lgamma(draws + 1)
                - math.lgamma(k + 1)
                - math.lgamma(draws - k + 1)
                + log_beta(k + a, draws - k + b)
                - log_beta(a, b)
            )
            for k in range(draws + 1)
        ]
    )


def fit_of_rows(rows: IntArray, law: Law) -> float:
    """Return the p-value of Pearson's test that rows follow a law; 0 when a row is impossible."""
    seen = Counter(map(tuple, rows.tolist()))
    if not seen.keys() <= law.keys():
        return 0.0
    outcomes = sorted(law, key=lambda outcome: law[outcome])
    return fit([seen[outcome] for outcome in outcomes], [law[outcome] for outcome in outcomes])


def fit_of_values(values: IntArray, law: FloatArray) -> float:
    """Return the p-value of Pearson's test that numbers follow a law on 0, 1, …"""
    if values.max() >= law.size:
        return 0.0
    return fit(np.bincount(values, minlength=law.size).tolist(), law.tolist())


def fit(seen: Sequence[int], law: Sequence[float]) -> float:
    """Return the p-value of Pearson's test; neighbours are pooled until 8 are expected."""
    total = sum(seen)
    pooled: list[tuple[float, float]] = []
    observed = expected = 0.0
    for count, probability in zip(seen, law, strict=True):
        observed += count
        expected += total * probability
        if expected >= 8:
            pooled.append((observed, expected))
            observed = expected = 0.0
    if expected and pooled:
        last = pooled.pop()
        pooled.append((last[0] + observed, last[1] + expected))
    assert len(pooled) > 1, "the test has nothing to tell apart"
    statistic = sum((o - e) ** 2 / e for o, e in pooled)
    return float(chdtrc(len(pooled) - 1, statistic))
