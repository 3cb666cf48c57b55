"""Array kernels of the entropy risk: H(X), H(X|Y) and the three terms of R1 and R2.

Kernels take counts on the last axis, in any number of draws before it, and group cells by code: one kernel serves whole
tables, slices, and thousands of perturbed tables at once. Cells that are empty in both tables matter by their number
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray, NumberArray, xlogx, xlogy
from discreet.core.text import listed

Form: TypeAlias = Literal["2014", "2015"]
DEFAULT_WEIGHTS = (0.1, 0.8, 0.1)
"""w1, w2 and w3 of both papers."""
MATRIX_LIMIT = 5_000
"""The largest number of cells for which a square matrix is laid out: a round choice, 200 MB."""


@dataclass(frozen=True)
class Grouping:
    """Cells sorted into groups: the slices along a dimension, or one group for the whole table."""

    codes: IntArray | None = None
    groups: int = 1

    def sum(self, values: NumberArray | npt.NDArray[np.bool_]) -> FloatArray:
        """Add up the last axis by group."""
        figures = values.astype(np.float64, copy=False)
        if self.codes is None:
            return np.asarray(figures.sum(axis=-1, keepdims=True))
        if figures.ndim == 1:
            return np.bincount(self.codes, weights=figures, minlength=self.groups).astype(np.float64)
        flat = figures.reshape(-1, figures.shape[-1])
        # One bincount over (draw, group) pairs adds every draw at once.
        pairs = self.codes + self.groups * np.arange(flat.shape[0])[:, None]
        sums = np.bincount(pairs.ravel(), weights=flat.ravel(), minlength=self.groups * flat.shape[0])
        return sums.astype(np.float64).reshape(*figures.shape[:-1], self.groups)

    def spread(self, values: FloatArray) -> FloatArray:
        """Give every cell the value of its group."""
        return values if self.codes is None else values[..., self.codes]


WHOLE = Grouping()


def check_weights(weights: tuple[float, float, float]) -> FloatArray:
    """Return the weights w1, w2, w3, checked.

    >>> check_weights((0.1, 0.8, 0.1)).tolist()
    [0.1, 0.8, 0.1]
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (3,):
        raise RequestError(f"the weights are {listed(list(weights))}; give three: zeros, concentration, size")
    if not np.isfinite(w).all() or (w < 0).any():
        raise RequestError(f"the weights are {listed(w.tolist())}; every one must be 0 or more")
    if abs(w.sum() - 1) > 1e-9:
        raise RequestError(f"the weights {listed(w.tolist())} sum to {w.sum():.6g}, not to 1; scale them")
    return w


def check_form(form: str) -> None:
    """Refuse a form of R2 that neither paper has."""
    if form not in ("2014", "2015"):
        raise RequestError(f"form is {form!r}; R2 has the forms '2015' (default) and '2014'")


def _ratio(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return x / y, and 0 where y is 0."""
    return x / np.where(y > 0, y, 1.0)


def entropy(F: NumberArray, groups: Grouping = WHOLE) -> FloatArray:
    """Return H(X) in nats, the uncertainty about the cell of a person drawn at random; antal2014 (3.1).

    H(X) = −Σ pᵢ log pᵢ with pᵢ = Fᵢ/N.

    >>> round(float(entropy(np.array([1, 1, 0]))[0]), 6)
    0.693147
    """
    people = groups.spread(np.maximum(groups.sum(F), 1.0))
    p, others = F / people, (people - F) / people
    # Close to 1, log p loses digits that the share of the others keeps; H(X|Y)/H(X) needs them.
    log = np.where(p > 0.5, np.log1p(-np.minimum(others, 0.5)), np.log(np.where(p > 0, p, 1.0)))
    H: FloatArray = -groups.sum(p * log)
    return np.maximum(H, 0.0)


def conditional_entropy(F: NumberArray, G: NumberArray, groups: Grouping = WHOLE) -> FloatArray:
    """Return H(X|Y) in nats, what stays uncertain once the released table is seen; antal2014 (3.5), (3.6).

    With p = F/N, q = G/M, m = min(p, q) and R = Σ(p − m), which is (3.6) divided by N·M:
    H(X|Y) = −Σ m log(m/q) − Σ (p−m) log((p−m)/R) − Σ (q−m) log((q−m)/q).
    It is 0 for G = F and NaN where either table is empty.

    >>> float(conditional_entropy(np.array([3, 1]), np.array([3, 1]))[0])
    0.0
    """
    N, M = groups.sum(F), groups.sum(G)
    p = F / groups.spread(np.where(N > 0, N, 1.0))
    q = G / groups.spread(np.where(M > 0, M, 1.0))
    m = np.minimum(p, q)
    out, into = p - m, q - m
    R = groups.sum(out)
    safe = np.where(q > 0, q, 1.0)
    parts = xlogy(m, m / safe) + xlogx(out) + xlogy(into, into / safe)
    H = np.maximum(xlogx(R) - groups.sum(parts), 0.0)
    return np.where((N > 0) & (M > 0), H, np.nan)


def size_term(N: FloatArray) -> FloatArray:
    """Return (1/√N)·(1 + ½·log N), which falls from 1 for one person towards 0; antal2014 section 3.2."""
    people = np.where(N > 0, N, 1.0)
    return (1 + 0.5 * np.log(people)) / np.sqrt(people)


def r1_terms(N: FloatArray, H: FloatArray, filled: FloatArray, K: NumberArray) -> FloatArray:
    """Return the three unweighted terms of R1 on a new last axis: zeros, concentration, size.

    antal2014 section 3.2: |D|/K, 1 − H(X)/log K, and the size term. NaN where a group has nobody in it or
    fewer than two cells.
    """
    cells = K.astype(np.float64)
    defined = (N > 0) & (cells > 1)
    safe = np.where(cells > 1, cells, 2.0)
    zeros = (safe - filled) / safe
    concentration = np.clip(1 - H / np.log(safe), 0.0, 1.0)
    terms = np.stack(np.broadcast_arrays(zeros, concentration, size_term(N)), axis=-1)
    return np.where(defined[..., None], terms, np.nan)


def r2_terms(
    F: NumberArray, G: NumberArray, K: NumberArray, groups: Grouping = WHOLE, form: Form = "2015"
) -> FloatArray:
    """Return the three unweighted terms of R2 on a new last axis; antal2014 section 3.3, antal2015 (4).

    Zeros: (|D|/K)^(|D∪E|/|D∩E|), 0 when D∩E is empty. Concentration: that of R1 times 1 − H(X|Y)/H(X) in the form of
    2015, times H(X|Y)/H(X) in that of 2014. If the release is empty the term is 0, since nothing is learned; if
    H(X) = 0 the ratio is 0, which makes R2(F, F) = R1(F) in the form of 2015. The size term is that of R1.
    """
    N, M, H = groups.sum(F), groups.sum(G), entropy(F, groups)
    filled = groups.sum(F > 0)
    terms = r1_terms(N, H, filled, K)
    cells = K.astype(np.float64)
    both_zero = cells - groups.sum((F > 0) | (G > 0))
    one_zero = cells - groups.sum((F > 0) & (G > 0))
    remaining = conditional_entropy(F, G, groups)
    zeros, concentration, size = np.moveaxis(terms, -1, 0)
    exponent = _ratio(one_zero, both_zero)
    base = np.where(zeros > 0, zeros, 1.0)
    first = np.where((both_zero > 0) & (zeros > 0), np.power(base, exponent), 0.0)
    share = np.where(M > 0, np.clip(_ratio(remaining, H), 0.0, 1.0), 1.0 if form == "2015" else 0.0)
    share = np.where((H <= 0) & (M > 0), 0.0, share)
    second = concentration * (1 - share if form == "2015" else share)
    result = np.stack(np.broadcast_arrays(first, second, size), axis=-1)
    return np.where(np.isnan(terms), np.nan, result)


def expected_transition(
    F: npt.ArrayLike, G: npt.ArrayLike, choice: Literal["closest", "uniform"] = "closest"
) -> FloatArray:
    """Return E(Z_ij), the expected share of the people of cell i that the released table shows in cell j.

    The released figures do not say who moved: Z is averaged over every assignment of people to cells that fits them.
    With ``choice="closest"`` every assignment that leaves as many people as possible where they are is equally
    likely; antal2014 Theorem 2, and Theorem 4 for N ≠ M. With p = F/N, q = G/M, m = min(p, q), R = Σ(p − m):
    E(Z_ii) = m_i/p_i and E(Z_ij) = (p_i − m_i)(q_j − m_j)/(p_i·R). With ``choice="uniform"`` every assignment is
    equally likely, E(Z_ij) = G_j/M (Theorems 1 and 3), and the release says nothing. Rows of empty cells are 0.

    >>> expected_transition([3, 1], [2, 2]).round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    """
    p, q = _shares(F, "original"), _shares(G, "released")
    if p.shape != q.shape:
        raise DataError(f"the original has {p.size} cells, the released table {q.size}; give the same cells")
    if p.size > MATRIX_LIMIT:
        raise LimitError(
            f"{p.size:,} cells need a matrix of {p.size:,} × {p.size:,}; at most {MATRIX_LIMIT:,} are laid out"
        )
    if choice == "uniform":
        return np.where(p[:, None] > 0, q[None, :], 0.0)
    if choice != "closest":
        raise RequestError(f"choice is {choice!r}; give 'closest' or 'uniform'")
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
