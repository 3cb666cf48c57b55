"""Bayes test for each sample unique: is it alone in the population as well?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result, brief
from discreet.uniques.exact_posterior import Posterior


@dataclass(frozen=True, eq=False, repr=False)
class BayesTest(Result):
    """Decisions on H: F_k = 1 ("the person is alone in the population") for every sample unique.

    H is rejected when Q_k < c/(b+c), where b is the loss of rejecting a true H (a population unique is taken for safe
    and released) and c the loss of accepting a false one (somebody is protected for nothing); cohen2009, section 2. The
    rule minimises the expected loss: accepting costs c·(1−Q_k), rejecting costs b·Q_k.
    """

    prior: str
    b: float
    c: float
    threshold: float
    cells: IntArray
    q: FloatArray
    unique: npt.NDArray[np.bool_]

    @property
    def accepted(self) -> int:
        """The number of sample uniques that are taken for population uniques."""
        return int(self.unique.sum())

    @property
    def expected_loss(self) -> FloatArray:
        """The expected loss of each decision."""
        return np.where(self.unique, self.c * (1.0 - self.q), self.b * self.q)

    def reason(self, index: int) -> str:
        """Explain the decision about the sample unique at this index of ``cells``."""
        q = float(self.q[index])
        accept, reject = self.c * (1.0 - q), self.b * q
        if self.unique[index]:
            return (
                f"taken for a population unique: Q {_equal(q)} is not below c/(b+c) = {self.threshold:.4g}; taking it "
                f"for one costs {brief(accept)} on average, taking it for safe {brief(reject)}"
            )
        return (
            f"not taken for a population unique: Q {_equal(q)} is below c/(b+c) = {self.threshold:.4g}; taking it for "
            f"safe costs {brief(reject)} on average, taking it for a population unique {brief(accept)}"
        )

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        decisions = zip(self.cells.tolist(), self.q.tolist(), self.unique.tolist(), strict=True)
        return {
            **{name: getattr(self, name) for name in ("prior", "b", "c", "threshold")},
            "tested": int(self.cells.size),
            "unique": self.accepted,
            "decisions": [{"cell": cell, "q": q, "unique": unique} for cell, q, unique in decisions],
        }

    def face(self, most: int) -> Face:
        """Return the rule and the number of decisions each way."""
        rows = [
            ["losses", f"b = {self.b:g} (missing a unique), c = {self.c:g} (protecting for nothing)"],
            ["reject F = 1 when Q is below", f"{self.threshold:.4g}"],
            ["sample uniques tested", f"{self.cells.size:,}"],
            ["taken for population uniques", f"{self.accepted:,}"],
            ["not taken for population uniques", f"{self.cells.size - self.accepted:,}"],
        ]
        return Face(["Bayes test", f"{self.prior} prior"], rows)


def bayes_test(posterior: Posterior, *, b: float = 1.0, c: float = 1.0) -> BayesTest:
    """Decide for every sample unique whether it is taken for a population unique.

    Args:
        posterior: what is believed after the sample.
        b: loss when H is rejected although it is true: somebody who is alone is taken for safe.
        c: loss when H is accepted although it is false: somebody is protected who need not be.

    >>> from discreet.uniques import Sample, Uniform, posterior
    >>> known = posterior(Sample.from_counts([1] * 108 + [8291], 46228, possible=1108), Uniform())
    >>> bayes_test(known, b=30, c=1).accepted
    108
    >>> print(bayes_test(known, b=1, c=1).reason(0))
    not taken for a population unique: Q = 0.04033 is below c/(b+c) = 0.5; taking it for safe costs 0.04033 on
    average, taking it for a population unique 0.9597
    """
    for name, loss in (("b", b), ("c", c)):
        if not (np.isfinite(loss) and loss >= 0):
            raise RequestError(f"the loss {name} is {loss}; losses are finite and not negative")
    if b + c == 0:
        raise RequestError("both losses are 0; then no decision is better than another: give one a positive loss")
    threshold = c / (b + c)
    cells, q = posterior.sample.unique_cells, posterior.q
    return BayesTest(posterior.prior.name, float(b), float(c), threshold, cells, q, ~(q < threshold))


def _equal(value: float) -> str:
    """Return what a value equals, or is below."""
    told = brief(value)
    return told if told.startswith("<") else f"= {told}"
