"""The posterior: exact where that is feasible, drawn with a stated error where it is not."""

from __future__ import annotations

from typing import Literal, TypedDict

from discreet.core.errors import LimitError, RequestError
from discreet.core.random import Seed
from discreet.uniques.drawn_posterior import DrawnPosterior
from discreet.uniques.exact_posterior import Posterior, exact_posterior
from discreet.uniques.priors import Prior
from discreet.uniques.sample import Sample

Method = Literal["auto", "exact", "draw"]


class Drawing(TypedDict, total=False):
    """Whether populations are drawn, how many, and from which seed; as for :func:`posterior`."""

    method: Method
    draws: int
    seed: Seed


def posterior(
    sample: Sample, prior: Prior, *, method: Method = "auto", draws: int = 2000, seed: Seed = None
) -> Posterior:
    """Return what is believed about the population after the sample.

    The method is ``"exact"``, ``"draw"`` (Monte Carlo), or ``"auto"``: exact unless that takes too long.

    >>> from discreet.uniques.priors import Multinomial
    >>> sample = Sample.from_counts([1, 4, 0, 1], population=12)
    >>> posterior(sample, Multinomial()).probability(1, [0]).round(4).tolist()
    [0.178]
    """
    if method not in ("auto", "exact", "draw"):
        raise RequestError(f"method is {method!r}; choose 'auto', 'exact' or 'draw'")
    if method != "draw":
        try:
            return exact_posterior(sample, prior)
        except LimitError:
            if method == "exact":
                raise
    return DrawnPosterior.of(sample, prior, draws=draws, seed=seed)
