"""Noise for sums of amounts: a share of the largest contributions, drawn by the cell key.

The sum x of a cell becomes x + Σ_j s·ε_j·x_j·w_j over its largest contributions x_1 ≥ x_2 ≥ …, where s is the largest
share by which a contribution may be moved, ε_1 = 1 ≥ ε_2 ≥ … say how much further contributions count, and w_j lies in
[−1, 1] with mean 0. The largest contribution is hidden by noise in proportion to it, whatever the sum (Giessing and
Tent 2019; cellKey's perturbation of magnitudes is of this form). The noise of a sum of amounts is at most the share s
of the sum itself.
"""

from __future__ import annotations

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.cell_key.max_entropy import max_entropy
from discreet.protect.cell_key.perturbation_table import PTable

GRID = 100
"""Steps from 0 to the largest noise."""


def magnitude_noise(
    top: FloatArray, keys: IntArray, ptable: PTable, *, share: float, weights: tuple[float, ...]
) -> FloatArray:
    """Return the noise of every cell, from its largest contributions and its key.

    w has the largest entropy on a grid of hundredths of [−1, 1] with the variance V/D² of the perturbation table's
    noise of large counts. Every contribution has a key of its own, mixed out of the cell key, which differs from the
    one that moves the count.

    >>> from discreet.protect.cell_key.perturbation_table import design_ptable
    >>> noise = magnitude_noise(np.array([[100.0]]), np.array([7]), design_ptable(5, 3), share=0.1, weights=(1.0,))
    >>> bool(abs(noise[0]) <= 10)
    True
    """
    steps = np.arange(-GRID, GRID + 1)
    spread = float(ptable.moments()[1][-1]) / ptable.bound**2
    below = np.cumsum(max_entropy(steps, spread * GRID**2))
    noise = np.zeros(keys.size)
    for j, weight in enumerate(weights):
        u = (mixed(keys, j + 1) >> np.uint64(11)) * 2.0**-53
        place = np.minimum(np.searchsorted(below, u * below[-1], side="right"), steps.size - 1)
        noise += share * weight * top[:, j] * steps[place] / GRID
    return noise


def mixed(keys: IntArray, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Return 64 bits that a key and a number lead to: the finaliser of splitmix64, which is one to one.

    >>> bool((mixed(np.array([1, 2]), 1) == mixed(np.array([1, 2]), 2)).any())
    False
    """
    z = keys.astype(np.uint64) + np.uint64(number * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
