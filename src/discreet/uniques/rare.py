"""The exact law of untouched cells by inclusion and exclusion, which is stable when untouched cells are rare."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import LimitError
from discreet.uniques.convolution import CellGroup, UntouchedLaw
from discreet.uniques.urn import Urn

_MOST_TERMS = 400


def rare_law(urn: Urn, group: CellGroup) -> UntouchedLaw:
    """Return P(U = u) = Σ_{j≥u} (−1)^{j−u}·C(j,u)·C(s,j)·P(j given cells stay untouched).

    It serves populations that are huge beside a handful of cells, where convolution needs too many frequencies
    and where, for the same reason, hardly any cell stays untouched.

    Raises:
        LimitError: when the alternating terms are so large that fewer than twelve digits would be left.

    >>> law = rare_law(Urn(10**9, 12.0, True), CellGroup(3, 2.0, unique=True))
    >>> law.start, law.pmf.round(12).tolist()
    (0, [1.0, 0.0])
    """
    from scipy.special import gammaln

    s = group.count
    # A set of cells that is everything there is cannot stay untouched once a ball falls; the urn knows.
    j = np.arange(min(s, _MOST_TERMS) + 1)
    choose = gammaln(s + 1.0) - gammaln(j + 1.0) - gammaln(s - j + 1.0)
    logs = choose + urn.log_miss(np.minimum(j * group.weight, urn.total))
    size = float(np.exp(np.logaddexp.reduce(logs + j * np.log(2.0))))
    if size > 1e4 or (s > _MOST_TERMS and logs[-1] + _MOST_TERMS * np.log(2.0) > -44.0):
        raise LimitError(f"the law of {s:,} cells has alternating terms of size {size:.3g}; draw it instead")
    last = int(np.flatnonzero(logs + j * np.log(2.0) > -60.0)[-1]) if s else 0
    u, k = np.arange(last + 1)[:, None], np.arange(last + 1)[None, :]
    above = k >= u
    ways = gammaln(k + 1.0) - gammaln(np.where(above, u, 0) + 1.0) - gammaln(np.where(above, k - u, 0) + 1.0)
    terms = np.where(above, np.exp(ways + logs[: last + 1]) * np.where((k - u) % 2 == 0, 1.0, -1.0), 0.0)
    pmf = np.maximum(terms.sum(axis=1), 0.0)
    return UntouchedLaw(0.0, 0, pmf / pmf.sum())
