"""How well Markov chains have mixed: split R̂ and effective sample sizes.

Gelman and others, Bayesian Data Analysis, section 11.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.numerics import FloatArray
from discreet.core.text import at_least, at_most


@dataclass(frozen=True)
class Diagnostics:
    """How well the chains have mixed, and why they reach every table.

    ``split_rhat`` is the largest over all cells, ``effective`` the smallest effective sample size of the inspected
    tables, ``draws`` their number, ``steps`` those of each chain, ``apart`` the steps between two draws.
    """

    chains: int
    steps: int
    draws: int
    apart: int
    split_rhat: float
    effective: float
    connected: str

    @property
    def sentence(self) -> str:
        """The diagnostics in words."""
        return (
            f"{self.chains} chains of {self.steps:,} steps agree: split R̂ is {at_most(self.split_rhat, 3)} at most, "
            f"the effective sample size {at_least(self.effective, 0)} of {self.draws:,} at least. {self.connected}"
        )


def diagnose(kept: FloatArray) -> tuple[float, float]:
    """Return the largest split R̂ and the smallest effective sample size over cells of chains [chain, draw, cell].

    >>> rhat, effective = diagnose(np.random.default_rng(1).normal(size=(4, 500, 1)))
    >>> rhat < 1.02, 1000 < effective < 3000
    (True, True)
    """
    chains, draws, cells = kept.shape
    half = draws // 2
    parts = kept[:, : 2 * half].reshape(2 * chains, half, cells)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    moving = (within > 0) | (between > 0)
    if not moving.any():
        return 1.0, float(chains * draws)
    stuck = moving & (within == 0)
    if stuck.any():
        return math.inf, 1.0
    parts, within, between = parts[..., moving], within[moving], between[moving]
    total = (half - 1) / half * within + between / half
    rhat = float(np.sqrt(total / within).max())
    # Geyer's initial monotone sequence over autocorrelations, of all cells at once by fast Fourier transforms.
    centred = parts - parts.mean(axis=1, keepdims=True)
    length = 1 << (2 * half - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, length, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, length, axis=1)[:, :half].mean(axis=0) / half
    rho = 1 - (within - covariance * half / (half - 1)) / total
    pairs = rho[: half - half % 2].reshape(-1, 2, rho.shape[1]).sum(axis=1)
    positive = np.cumprod(pairs > 0, axis=0).astype(bool)
    pairs = np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0)
    time = np.maximum(2 * pairs.sum(axis=0) - 1, 1 / math.log10(2 * chains * half))
    return rhat, float((2 * chains * half / time).min())
