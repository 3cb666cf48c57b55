"""What every protection is: frozen parameters that turn an original into a release, and say what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, is_short
from discreet.core.text import html_table
from discreet.table import Release, Table
from discreet.table.figures import decimal_text
from discreet.table.release import TRIAL
from discreet.table.tabulation import Tabulation

Original: TypeAlias = Table | Tabulation
"""What can be protected: inner counts, or cells with all their margins, hierarchies and magnitudes."""


def check_single(original: Any) -> None:
    """Refuse several tables where a method protects them one by one, and would let them contradict each other."""
    if isinstance(original, Sequence):
        raise RequestError(
            "this method protects one table at a time, and tables that share dimensions would contradict each other; "
            "protect them together by rounding, by cell keys or by suppression, or tabulate them as one"
        )


def check_anybody(original: Original) -> None:
    """Refuse a table in which nobody is: no method has anything to protect there; and one with weights beside it.

    >>> check_anybody(Table.from_array([0, 1], ["month"]))
    """
    check_single(original)
    if isinstance(original, Tabulation):
        original.check_publishable()
    total = original.total if isinstance(original, Table) else int(original.records.max(initial=0))
    if total == 0:
        raise DataError("the table counts nobody (every cell is 0); there is nothing to protect")


@dataclass(frozen=True)
class Changes:
    """How far published figures are from the original ones, hidden figures apart.

    Distances are in units of the last decimal; ``decimals`` says how many there are.
    """

    figures: int
    changed: int
    hidden: int
    largest: int
    distance: int
    original_total: int
    published_total: int
    decimals: int = 0

    @classmethod
    def between(
        cls, original: IntArray, published: IntArray, hidden: Any = None, *, total: tuple[int, int], decimals: int = 0
    ) -> Changes:
        """Compare figures one by one; ``total`` is the original and the published grand total.

        >>> Changes.between(np.array([1, 5]), np.array([3, 5]), total=(6, 8)).sentence
        '1 of 2 figures changed, by 2 at most and 2 in all; the total went from 6 to 8.'
        """
        shown = np.ones(original.size, bool) if hidden is None else ~np.asarray(hidden, bool)
        moved = np.abs(published[shown] - original[shown])
        return cls(
            int(original.size),
            int(np.count_nonzero(moved)),
            int(np.count_nonzero(~shown)),
            int(moved.max(initial=0)),
            int(moved.sum()),
            *total,
            decimals,
        )

    @property
    def sentence(self) -> str:
        """What changed, in words."""
        parts = []
        if self.hidden:
            parts.append(f"{self.hidden:,} of {self.figures:,} figures are hidden")
        if self.changed or not self.hidden:
            by = (
                f", by {self._text(self.largest)} at most and {self._text(self.distance)} in all"
                if self.changed
                else ""
            )
            parts.append(f"{self.changed:,} of {self.figures:,} figures changed{by}")
        if self.original_total != self.published_total:
            parts.append(f"the total went from {self._text(self.original_total)} to {self._text(self.published_total)}")
        return "; ".join(parts) + "."

    def _text(self, value: int) -> str:
        return decimal_text(value, self.decimals)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, in the unit that is published."""
        scale = 10**self.decimals
        return {
            "figures": self.figures,
            "changed": self.changed,
            "hidden": self.hidden,
            "largest": self.largest / scale if scale > 1 else self.largest,
            "distance": self.distance / scale if scale > 1 else self.distance,
        }


@dataclass(frozen=True)
class Protected:
    """A release, and what its making did to the original: for the person who signs, not for publication.

    ``notes`` are findings in words, such as a constraint that had to be relaxed; ``details`` are a method's own
    figures as plain data. ``candidates`` are tables by which a method proves what it hides, for an audit to check.
    """

    release: Release
    changes: Changes
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    candidates: Any = field(default=None, repr=False, compare=False)

    def as_trial(self) -> Protected:
        """Return the same with the release marked as one that is not for publication."""
        return replace(self, release=self.release.as_trial())

    def to_dict(self) -> dict[str, Any]:
        """Return how the release was made and what it changed, as ``--json`` prints it."""
        return {
            "method": self.release.method,
            "parameters": dict(self.release.parameters),
            "trial": self.release.trial,
            **self.changes.to_dict(),
            "sentence": self.sentence,
            "notes": list(self.notes),
            **self.details,
        }

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        return " ".join([self.changes.sentence, *self.notes, *([f"{TRIAL}."] if self.release.trial else [])])

    def __str__(self) -> str:
        """Say what was done and how."""
        made = ", ".join(f"{name} {value}" for name, value in self.release.parameters.items())
        return f"{self.release.method}{f' ({made})' if made else ''}: {self.sentence}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[str(name), str(value)] for name, value in self.to_dict().items() if not isinstance(value, list | dict)]
        return html_table(["", ""], rows)


Apply = TypeVar("Apply", bound=Callable[..., Protected])


def drawn(apply: Apply) -> Apply:
    """Mark what a random method makes of a short seed as a trial: who tries all such seeds undoes it."""

    @wraps(apply)
    def marked(method: Any, original: Any, seed: Seed = None, **given: Any) -> Protected:
        done = apply(method, original, seed, **given)
        return done.as_trial() if is_short(seed) else done

    return cast("Apply", marked)


@runtime_checkable
class Method(Protocol):
    """A protection with its parameters: a frozen data class, whose fields are its options."""

    name: ClassVar[str]

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""

    def apply(self, original: Original, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Protect an original."""


@runtime_checkable
class RandomMethod(Protocol):
    """What a random protection offers to be judged over its draws."""

    @property
    def name(self) -> str:
        """The method's name."""

    @property
    def parameters(self) -> dict[str, object]:
        """Its parameters."""

    def check(self, table: Table) -> None:
        """Refuse a table that it cannot protect."""

    def support(self, table: Table) -> IntArray:
        """Return the cells that a release can show as other than empty."""

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the cells of the support, one draw per row."""


@runtime_checkable
class EnumerableMethod(RandomMethod, Protocol):
    """A random method whose releases can be enumerated."""

    def outcomes(self, table: Table) -> int:
        """Return the number of releases."""

    def law(self, table: Table) -> Iterator[tuple[FloatArray, IntArray]]:
        """Return all releases in blocks, with their probabilities."""


@runtime_checkable
class SometimesRandom(Protocol):
    """A method of which a parameter says whether it leaves something to chance."""

    @property
    def random(self) -> bool:
        """Whether a release depends on the seed."""


def is_random(method: object) -> bool:
    """Say whether a method leaves something to chance."""
    return method.random if isinstance(method, SometimesRandom) else isinstance(method, RandomMethod)
