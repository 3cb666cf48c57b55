"""E(Z), the expected transition matrix between the cells of an original and a released table.

Z_ij is the share of the people of cell i that the released table shows in cell j. The released figures do not
say who moved, so Z is averaged over every assignment of people to released cells that fits them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.numerics import FloatArray, xlogx

LIMIT = 5_000
"""The largest number of cells for which a square matrix is laid out."""


def expected_transition(
    F: npt.ArrayLike, G: npt.ArrayLike, choice: Literal["closest", "uniform"] = "closest"
) -> FloatArray:
    """Return E(Z_ij), the expected probability that a person of cell i is released in cell j.

    With ``choice="closest"`` every assignment that leaves as many people as possible where they are is equally
    likely; antal2014 Theorem 2, and Theorem 4 for N ≠ M. With p = F/N, q = G/M, m = min(p, q), R = Σ(p − m):
    E(Z_ii) = m_i/p_i and E(Z_ij) = (p_i − m_i)(q_j − m_j)/(p_i·R). With ``choice="uniform"`` every assignment is
    equally likely, E(Z_ij) = G_j/M (Theorems 1 and 3), and the release tells nothing. Rows of empty cells are 0.

    >>> expected_transition([3, 1], [2, 2]).round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    """
    p, q = _shares(F, "original"), _shares(G, "released")
    if p.shape != q.shape:
        raise DataError(f"the original has {p.size} cells, the released table {q.size}; give the same cells")
    if p.size > LIMIT:
        raise LimitError(f"{p.size:,} cells need a matrix of {p.size:,} × {p.size:,}; at most {LIMIT:,} are laid out")
    if choice == "uniform":
        return np.where(p[:, None] > 0, q[None, :], 0.0)
    if choice != "closest":
        raise RequestError(f"choice is {choice!r}; it is 'closest' or 'uniform'")
    m = np.minimum(p, q)
    R = (p - m).sum()
    filled = np.where(p > 0, p, 1.0)
    moved = np.outer((p - m) / filled, (q - m) / (R if R > 0 else 1.0))
    return moved + np.diag(m / filled)


def transition_entropy(F: npt.ArrayLike, Z: FloatArray) -> float:
    """Return H(X|Y) in nats from a transition matrix; antal2014 (3.2).

    >>> round(transition_entropy([1, 1], np.full((2, 2), 0.5)), 6)
    0.693147
    """
    joint = _shares(F, "original")[:, None] * Z
    return float(xlogx(joint.sum(axis=0)).sum() - xlogx(joint).sum())


def _shares(counts: npt.ArrayLike, which: str) -> FloatArray:
    figures = np.asarray(counts, dtype=np.float64).ravel()
    if not np.isfinite(figures).all() or (figures < 0).any() or figures.sum() <= 0:
        raise DataError(f"the {which} table has negative, missing or no counts; give counts of 0 or more, not all 0")
    return np.asarray(figures / figures.sum())
