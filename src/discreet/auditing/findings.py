"""What attackers work out, in columns: one entry per attacker and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from discreet.auditing.limits import FAULTS, Limits, determined
from discreet.core.numerics import BoolArray, FloatArray, IntArray, disclosure_risk
from discreet.table.equations import Equations

Verdict: TypeAlias = Literal["safe", "unsafe", "incomplete"]
VERDICTS: tuple[Verdict, ...] = ("unsafe", "incomplete", "safe")
"""The worst first."""
SUBJECTS = ("value", "largest other contributor", "only contributor", "values of respondents")
"""What an interval can be about."""
RANK: dict[str, int] = {name: rank for rank, name in enumerate(VERDICTS)}


@dataclass(frozen=True, eq=False)
class Findings:
    """Columns over all judged figures; intervals are in the published unit.

    ``prior_bits`` are the bits of any figure before publication, as far as figures in print give a bound. ``at`` is the
    position in ``equations`` and ``who`` the attacker. ``faults`` has a column for each of FAULTS.
    ``subject`` says what the interval is about, as an index into SUBJECTS, and ``alone`` holds in two rows what a
    single table leaves (NaN where that was not asked). ``bound`` is true where the bits are a lower bound. ``off`` is
    how far at most an end is beyond the last possible value, where that is not finished.
    """

    equations: Equations
    limits: Limits
    attackers: tuple[str, ...]
    prior_bits: float
    at: IntArray
    who: IntArray
    lower: FloatArray
    upper: FloatArray
    values: FloatArray
    bits: FloatArray
    error: FloatArray
    faults: BoolArray
    finished: BoolArray
    subject: IntArray
    alone: FloatArray
    bound: BoolArray
    off: FloatArray

    def taken(self, rows: IntArray) -> Findings:
        """Return some entries, in the order given."""
        kept = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, value in kept.items():
            if isinstance(value, np.ndarray):
                kept[name] = value[:, rows] if name == "alone" else value[rows]
        return Findings(**kept)

    def __len__(self) -> int:
        """Return the number of entries."""
        return int(self.at.size)

    @cached_property
    def dr(self) -> FloatArray:
        """The disclosure risk 1/H(X | Y = y) of every entry, domingo2002 (2)."""
        return disclosure_risk(self.bits)

    @cached_property
    def determined(self) -> BoolArray:
        """For every entry, whether a single value is left, sensitive or not."""
        return determined(self.values)

    @cached_property
    def prior(self) -> FloatArray:
        """Bits of every entry before anything about it was published, domingo2002 (1).

        A sum can exceed every figure in print; its prior bits are at least those that are left now.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.fmax(self.prior_bits, np.log2(self.values))

    @cached_property
    def rank(self) -> IntArray:
        """The verdict on every entry, as an index into VERDICTS."""
        return np.where(self.faults.any(axis=1), 0, np.where(self.finished, 2, 1))

    @cached_property
    def order(self) -> IntArray:
        """The entries, the worst first."""
        width = np.nan_to_num(self.upper - self.lower, nan=np.inf, posinf=np.inf)
        bits = np.nan_to_num(self.bits, nan=np.inf, posinf=np.inf)
        return np.lexsort((self.at, self.who, width, bits, self.rank))


def faults(size: int, **wrong: BoolArray) -> BoolArray:
    """Return a column for each of FAULTS from those that occur."""
    table = np.zeros((size, len(FAULTS)), bool)
    for name, mask in wrong.items():
        table[:, FAULTS.index(name)] = mask
    return table


def joined(parts: Sequence[Findings]) -> Findings:
    """Concatenate the findings of several attackers."""
    first = parts[0]
    kept = {item.name: getattr(first, item.name) for item in fields(first)}
    for name, value in kept.items():
        if isinstance(value, np.ndarray):
            kept[name] = np.concatenate([getattr(part, name) for part in parts], axis=1 if name == "alone" else 0)
    return Findings(**kept)
