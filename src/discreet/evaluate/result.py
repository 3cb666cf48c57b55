"""What the expected risk of a random method is made of: means over its draws, with their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.core.text import columns, figure, html_table
from discreet.measures.entropy import Form
from discreet.measures.result import change

Aggregate: TypeAlias = Literal["measure", "transition"]
HEADER = ["", "risk", "deviation", "MC error", "Hellinger"]


@dataclass(frozen=True)
class Expected:
    """A mean over draws, the deviation of one draw, and the Monte Carlo error of the mean (0 when exact)."""

    mean: float
    sd: float
    mc_error: float

    def to_dict(self) -> dict[str, float | None]:
        """Return plain data; undefined figures are None."""
        return {name: _plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class ExpectedSlice:
    """Expected risk and Hellinger distance of one slice."""

    dimension: str
    category: str
    risk: Expected
    hellinger: Expected


@dataclass(frozen=True, repr=False)
class ExpectedRisk:
    """Expected R2 and information loss of a random method, for the whole table and every slice.

    Attributes:
        method: the method's name, with its parameters in ``parameters``.
        risk: R2 over the draws.
        terms: the means of R2's three weighted terms.
        hellinger: HD on counts over the draws.
        utility: 1 − HD/√N over the draws.
        mean_absolute_error: the mean of |F − G| over the cells, over the draws; ``mean_squared_error`` likewise.
        before: R1 of the original.
        draws: the number of draws, or of enumerated releases when ``exact``.
        exact: whether every release was weighted with its probability.
        aggregate: ``"measure"`` averages R2 over draws; ``"transition"`` takes the entropy of the averaged
            transition matrix (Theorem 6).
        slices: the same figures for every slice.
    """

    method: str
    parameters: dict[str, object]
    risk: Expected
    terms: dict[str, float]
    hellinger: Expected
    utility: Expected
    mean_absolute_error: Expected
    mean_squared_error: Expected
    before: float
    draws: int
    exact: bool
    form: Form
    aggregate: Aggregate
    slices: tuple[ExpectedSlice, ...]

    @property
    def sentence(self) -> str:
        """What the method does to risk and information, in words."""
        how = f"all {self.draws:,} releases" if self.exact else f"{self.draws:,} draws"
        down = "" if self.form == "2014" else f" ({change(self.before, self.risk.mean)})"
        rising = " The form of 2014 rises with protection." if self.form == "2014" else ""
        return (
            f"Over {how}, {self.method} takes the risk from {self.before:.4f} to {self.risk.mean:.4f} "
            f"on average{down}, at a utility of {self.utility.mean:.4f}; a figure is off by "
            f"{self.mean_absolute_error.mean:.2f} on average.{rising}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``--json`` prints it."""
        own = {name: value.to_dict() if isinstance(value, Expected) else value for name, value in vars(self).items()}
        slices = [
            {
                "dimension": item.dimension,
                "category": item.category,
                "value": _plain(item.risk.mean),
                "risk": item.risk.to_dict(),
                "hellinger": item.hellinger.to_dict(),
            }
            for item in own.pop("slices")
        ]
        about = {name: own.pop(name) for name in ("method", "parameters")}
        value, words = {"value": self.risk.mean}, {"sentence": self.sentence, "slices": slices}
        return {"measure": "R2", "expected": True, **about, **value, **own, **words}

    def rows(self) -> list[list[str]]:
        """Return whole table and slices, worst first, as rows of text."""
        worst = sorted(self.slices, key=lambda item: -np.nan_to_num(item.risk.mean, nan=-1.0))
        lines = [("whole table", self.risk, self.hellinger)]
        lines += [(f"{item.dimension}={item.category}", item.risk, item.hellinger) for item in worst]
        return [[name, figure(r.mean), figure(r.sd), figure(r.mc_error, 5), figure(h.mean)] for name, r, h in lines]

    def __str__(self) -> str:
        """Return the sentence and the worst slices."""
        return f"{self.sentence}\n{columns(HEADER, self.rows()[:11])}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(HEADER, self.rows()[:21], caption=self.sentence)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
