"""What counts as safe: limits on intervals and risk, the verdict on figures, and what "safe" then means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import RequestError, with_arguments
from discreet.core.json_types import Json
from discreet.core.numerics import BoolArray, FloatArray, IntArray, disclosure_risk
from discreet.core.text import at_most

Level = tuple[float, float] | tuple[float, float, float]
Asked = tuple[FloatArray, FloatArray, FloatArray]
FAULTS = ("exact", "shown", "width", "dr", "lower", "upper", "sliding", "within")
"""What can be wrong with a figure, in the order of reporting."""


@dataclass(frozen=True)
class Limits:
    """The least uncertainty that must remain about every figure that is not published.

    Args:
        width: the feasibility interval must be at least this wide (largest minus smallest value).
        dr: the disclosure risk 1/H must be at most this.
        levels: for cells, values that the interval must reach on either side: the true value less and plus its
            protection levels, and, as a third number, how wide it must be (the sliding level). Keys are cells as
            sorted tuples of (dimension, label). With ``verdict_only``, an empty mapping says that no cell needs
            protection.
        within: nobody who contributes to a cell may know the largest other contribution to within this many per cent;
            judged where the contributions are given.

    A hidden figure that can be worked out exactly is never safe.
    """

    width: float | None = None
    dr: float | None = None
    levels: Mapping[tuple[tuple[str, str], ...], Level] | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        if self.width is not None and (isinstance(self.width, bool) or not self.width >= 0):
            raise RequestError(f"the least width is {self.width}; it is 0 or more")
        if self.dr is not None and (isinstance(self.dr, bool) or not self.dr > 0):
            raise RequestError(f"the largest risk is {self.dr}; it is above 0")
        if self.within is not None and not 0 < self.within <= 100:
            raise RequestError(f"within is {self.within}; give a percentage above 0, up to 100")
        for cell, level in (self.levels or {}).items():
            if len(level) not in (2, 3) or not level[0] <= level[1] or any(not width >= 0 for width in level[2:]):
                raise RequestError(
                    f"the levels of {dict(cell)} are {level}; give the lower, then the upper one, then, if at all, the "
                    "least width, which is 0 or more"
                )

    def broken(
        self,
        lower: FloatArray,
        upper: FloatArray,
        values: FloatArray,
        bits: FloatArray,
        asked: Asked,
        *,
        scale: float = 1.0,
    ) -> dict[str, BoolArray]:
        """Say which figures break which limits: the one place where that is decided.

        ``values`` counts the values that a figure can have, between ``lower`` and ``upper``. Bits are NaN where the
        remaining uncertainty is unknown, which breaks nothing and shows nothing. Intervals must reach the values
        ``asked``, and be as wide, where these are not NaN; ``width`` is stated in units of ``scale`` of theirs.

        >>> one = [np.array([number]) for number in (1.0, 3.0, 3.0, 1.0)]
        >>> found = Limits(width=5, dr=0.7).broken(*one, (np.array([1.0]), np.array([4.0]), np.array([np.nan])))
        >>> [name for name, wrong in found.items() if wrong.any()]
        ['upper', 'width', 'dr']
        """
        low, high, sliding = asked
        slack = 1e-9 * np.maximum(np.abs(np.nan_to_num(high)), 1.0)
        with np.errstate(invalid="ignore"):
            wide = upper - lower
            wrong = {"exact": determined(values), "lower": lower > low + slack, "upper": upper < high - slack}
            wrong["sliding"] = wide < sliding - slack
            if self.width is not None:
                wrong["width"] = wide / scale < self.width
            if self.dr is not None:
                wrong["dr"] = disclosure_risk(bits) > self.dr
        return wrong

    def shown(self, bits: FloatArray, error: FloatArray | float = 0.0) -> BoolArray:
        """Say which figures are shown to keep the limit on 1/H; the others are never safe.

        Bits are NaN where the remaining uncertainty is unknown; twice their Monte Carlo error is subtracted.

        >>> Limits(dr=0.7).shown(np.array([1.6, 1.44, np.nan]), 0.01).tolist()
        [True, False, False]
        """
        if self.dr is None:
            return np.ones(bits.shape, bool)
        with np.errstate(invalid="ignore"):
            kept: BoolArray = disclosure_risk(bits - 2 * np.asarray(error)) <= self.dr
        return kept

    def phrases(self, broken: BoolArray, lower: float, upper: float, dr: float) -> tuple[str, ...]:
        """Say what is wrong with a figure; `broken` has an entry for each of FAULTS.

        >>> Limits(width=5).phrases(np.array([name == "width" for name in FAULTS]), 3, 6, 0.5)
        ('interval 3 wide, less than 5',)
        """
        texts = {
            "exact": "can be worked out exactly",
            "shown": "sensitive, but published exactly",
            "width": f"interval {upper - lower:g} wide, less than {self.width or 0:g}",
            "dr": f"risk {at_most(dr)}, more than {self.dr or 0:g}",
            "lower": "lower protection level not reached",
            "upper": "upper protection level not reached",
            "sliding": "interval narrower than the sliding protection level",
            "within": f"known to within less than {self.within or 0:g}% by another contributor",
        }
        return tuple(texts[name] for name, wrong in zip(FAULTS, broken.tolist(), strict=True) if wrong)


def determined(values: FloatArray) -> BoolArray:
    """Say which figures are known exactly, by how many values each can have."""
    found: BoolArray = values <= 1
    return found


@dataclass(frozen=True, eq=False)
class Reach:
    """What the intervals of positions must reach, in units of the last decimal; NaN where nothing is asked.

    ``sensitive`` is true for the cells that rules call sensitive, None where no rules were given: then every figure
    that is not published counts. ``unseen`` counts sensitive cells that are in no published table.
    """

    low: FloatArray
    high: FloatArray
    sliding: FloatArray
    sensitive: BoolArray | None = None
    unseen: int = 0

    @classmethod
    def nothing(cls, size: int) -> Reach:
        """Return the levels of positions that have none to reach."""
        return cls(np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan))

    def at(self, positions: IntArray) -> Asked:
        """Return what some positions must reach, in units."""
        return self.low[positions], self.high[positions], self.sliding[positions]


@dataclass(frozen=True)
class AuditCriterion:
    """What every hidden figure had to meet to be called safe.

    Without limits, "safe" says only that a figure is not determined: an interval of two values passes.

    >>> print(AuditCriterion())
    Safe means here only: not worked out exactly; ask for more (limits=).
    >>> print(AuditCriterion(Limits(width=5)))
    Safe means here: not worked out exactly, and an interval at least 5 wide.
    """

    limits: Limits = field(default_factory=Limits)
    protection: float | None = None
    rules: tuple[str, ...] | None = None

    @property
    def stated(self) -> dict[str, tuple[Json, str]]:
        """The limits that were given, by name, each with its words."""
        limits, rules, levels = self.limits, self.rules, len(self.limits.levels or ())
        every: dict[str, tuple[Json, str]] = {
            "min_width": (limits.width, f"an interval at least {limits.width or 0:g} wide"),
            "max_dr": (limits.dr, f"a risk of at most {limits.dr or 0:g}"),
            "within": (limits.within, f"no contributor known to another within {limits.within or 0:g}%"),
            "levels": (levels or None, f"the levels of {levels} cells reached"),
            "protection": (self.protection, f"{self.protection or 0:g}% of the original reached to either side"),
            "rules": (
                None if rules is None else list(rules),
                f"the protection levels of {', '.join(rules or ())} reached by sensitive cells",
            ),
        }
        return {name: limit for name, limit in every.items() if limit[0] is not None}

    @property
    def means(self) -> str:
        """What safe means, as a phrase."""
        first = "not worked out exactly" if self.rules is None else "no sensitive figure worked out exactly"
        found = [text for _, text in self.stated.values()]
        return f"{first}, and {', '.join(found)}" if found else first

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        limits = {name: limit for name, (limit, _) in self.stated.items()}
        return {"safe_means": self.means if limits else "not determined", "limits": limits}

    def __str__(self) -> str:
        """Say what safe means, and what would make it mean more."""
        if self.stated:
            return f"Safe means here: {self.means}."
        more = "ask for more (limits=, --min-width, --max-dr, --protection or --rule)"
        return with_arguments(f"Safe means here only: {self.means}; {more}.")
