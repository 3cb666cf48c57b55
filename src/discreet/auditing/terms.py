"""The terms of an audit: what else is known, how far it goes, and how much work it may take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.effort import WorkOptions
from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.candidates import Candidates
from discreet.rules.sensitivity import Sensitivity
from discreet.table.attacker import Fact
from discreet.table.equations import Layout

PROOFS = 200
"""How many figures get a written proof by default, the worst first: a round choice, more than anybody reads."""


class AuditOptions(WorkOptions, total=False):
    """The attributes of :class:`Terms` as options of :func:`discreet.audit`, which says what they are."""

    response: str | None
    knows: Sequence[Fact]
    original: object
    protection: float | None
    sensitivity: Sensitivity | None
    verdict_only: bool
    candidates: Candidates | None
    apart: Sequence[Sequence[str]]
    layout: Layout | None
    least: float
    most: float | None
    relaxed: bool
    proofs: int | None
    precision: float
    seed: Seed


@dataclass(frozen=True, eq=False)
class Terms:
    """The defaults of an audit."""

    response: str | None = None
    knows: Sequence[Fact] = ()
    original: object = None
    protection: float | None = None
    sensitivity: Sensitivity | None = None
    verdict_only: bool = False
    candidates: Candidates | None = None
    apart: Sequence[Sequence[str]] = ()
    layout: Layout | None = None
    least: float = 0
    most: float | None = None
    relaxed: bool = False
    time_limit: float | None = None
    proofs: int | None = PROOFS
    precision: float = 0.02
    seed: Seed = None
    workers: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Refuse NaN, which is neither above nor below anything, infinity, and levels on the wrong side of a value."""
        for name in ("least", "most", "protection", "precision"):
            if (given := getattr(self, name)) is not None and not math.isfinite(given):
                both = f"{name}=, --{name}"
                raise RequestError(f"{name} is {given}; give a number ({both})")
        if self.protection is not None and self.protection < 0:
            raise RequestError(f"protection is {self.protection:g}; give 0 or more (protection=, --protection)")
