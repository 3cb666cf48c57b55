"""The interface of protections: frozen parameters that turn an original into a release, and say what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, TypeAlias, TypedDict, get_args, get_type_hints, runtime_checkable

import numpy as np

from discreet.core.errors import DataError, RequestError, with_arguments
from discreet.core.json_types import Json, JsonObject
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, is_short
from discreet.core.text import decimal_text, settings_text
from discreet.protect.canonical_order import as_in, by_name
from discreet.table import Release, Table
from discreet.table.release import TRIAL
from discreet.table.tabulation import Tabulation

Original: TypeAlias = Table | Tabulation
"""What can be protected: inner counts, or cells with all their margins, hierarchies and magnitudes."""


Originals: TypeAlias = Original | Sequence[Original]
"""One original, or linked ones that are protected together."""


def check_anybody(original: Original) -> None:
    """Refuse a table that counts nobody, which leaves nothing to protect, and one with weights.

    >>> check_anybody(Table.from_array([0, 1], ["month"]))
    """
    if isinstance(original, Tabulation):
        original.check_publishable()
    total = original.total if isinstance(original, Table) else int(original.records.max(initial=0))
    if total == 0:
        raise DataError("the table counts nobody (every cell is 0); there is nothing to protect")


@dataclass(frozen=True)
class Changes:
    """How far published figures are from the original ones, hidden figures apart.

    ``figures`` counts all cells and totals, empty ones included, or all inner cells if these alone are published
    (``inner``). Distances are in units of the last decimal; ``decimals`` says how many there are.
    """

    figures: int
    changed: int
    hidden: int
    largest: int
    distance: int
    original_total: int
    published_total: int
    decimals: int = 0
    inner: bool = False

    @classmethod
    def between(
        cls,
        old: IntArray,
        new: IntArray,
        hidden: BoolArray | None = None,
        *,
        whole: int,
        total: tuple[int, int],
        decimals: int = 0,
        inner: bool = False,
    ) -> Changes:
        """Compare figures one by one, of ``whole`` in all; ``total`` is the original and the published grand total.

        >>> Changes.between(np.array([1, 5]), np.array([3, 5]), whole=3, total=(6, 8)).sentence
        '1 of 3 cells and totals changed, by 2 at most and 2 in all; the total went from 6 to 8.'
        """
        covered = np.zeros(old.size, bool) if hidden is None else hidden
        moved = np.where(covered, 0, np.abs(new - old))
        changed, unseen = int(np.count_nonzero(moved)), int(np.count_nonzero(covered))
        return cls(whole, changed, unseen, int(moved.max(initial=0)), int(moved.sum()), *total, decimals, inner)

    @classmethod
    def together(cls, several: Sequence[Changes]) -> Changes:
        """Return the changes of several tables protected by the same method, with the totals of the first.

        >>> one = Changes.between(np.array([1, 5]), np.array([3, 5]), whole=3, total=(6, 8))
        >>> Changes.together([one, one]).changed
        2
        """
        sums = {
            name: sum(getattr(one, name) for one in several) for name in ("figures", "changed", "hidden", "distance")
        }
        return replace(several[0], largest=max(one.largest for one in several), **sums)

    @property
    def sentence(self) -> str:
        """What changed, in words."""

        def text(value: int) -> str:
            whole, point, rest = decimal_text(value, self.decimals).partition(".")
            return f"{int(whole):,}{point}{rest}" if int(whole) else f"{whole}{point}{rest}"

        every = f"{self.figures:,} {'inner cells' if self.inner else 'cells and totals'}"
        parts = [f"{self.hidden:,} of {every} {'is' if self.hidden == 1 else 'are'} hidden"] if self.hidden else []
        if self.changed or not self.hidden:
            by = f", by {text(self.largest)} at most and {text(self.distance)} in all" if self.changed else ""
            parts.append(f"{self.changed:,} of {every} changed{by}")
        if self.original_total != self.published_total:
            parts.append(f"the total went from {text(self.original_total)} to {text(self.published_total)}")
        return "; ".join(parts) + "."

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, in the unit that is published."""
        scale = 10**self.decimals
        return {
            "figures": self.figures,
            "inner": self.inner,
            "changed": self.changed,
            "hidden": self.hidden,
            "largest": self.largest / scale if scale > 1 else self.largest,
            "distance": self.distance / scale if scale > 1 else self.distance,
        }


class ReleaseNotes(TypedDict, total=False):
    """What a method reports about its release: findings in words, and its own figures as plain data."""

    notes: tuple[str, ...]
    details: JsonObject


@dataclass(frozen=True)
class Protected:
    """A release, and how it changed the original: for the person who signs, not for publication.

    ``notes`` are findings in words, such as a constraint that had to be relaxed; ``details`` are a method's own
    figures as plain data. ``candidates`` are tables by which a method proves what it hides, for an audit to check.
    """

    release: Release
    changes: Changes
    notes: tuple[str, ...] = ()
    details: JsonObject = field(default_factory=dict)
    candidates: Any = field(default=None, repr=False, compare=False)

    def as_trial(self) -> Protected:
        """Return the same with the release marked as one that is not for publication."""
        return replace(self, release=self.release.as_trial())

    def to_dict(self) -> dict[str, Json]:
        """Return how the release was made and what it changed, as ``--json`` prints it."""
        return {
            "method": self.release.method,
            "parameters": dict(self.release.parameters),
            "trial": self.release.trial,
            **self.changes.to_dict(),
            "sentence": self._sentence(),
            "notes": list(self.notes),
            **self.details,
        }

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        return with_arguments(self._sentence())

    def _sentence(self) -> str:
        said = [self.changes.sentence, *self.notes, *([f"{TRIAL}."] if self.release.trial else [])]
        return " ".join(said)

    def __str__(self) -> str:
        made = settings_text(self.release.parameters)
        return f"{self.release.method}{f' ({made})' if made else ''}: {self.sentence}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(str(self))}</p>{self.release._repr_html_()}"


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
    """What a random protection provides to be judged over its draws."""

    @property
    def name(self) -> str:
        """The method's name."""

    @property
    def parameters(self) -> dict[str, object]:
        """Its parameters."""

    def check(self, table: Table) -> None:
        """Refuse a table that the method cannot protect."""

    def support(self, table: Table) -> IntArray:
        """Return the cells that a release can show as non-empty."""

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the cells of the support, one draw per row."""


@runtime_checkable
class EnumerableMethod(RandomMethod, Protocol):
    """A random method whose releases can be enumerated."""

    def outcomes(self, table: Table) -> int:
        """Return the number of releases."""

    def law(self, table: Table) -> Iterator[tuple[FloatArray, IntArray]]:
        """Return all releases in blocks, with their probabilities."""


def is_random(method: object) -> bool:
    """Say whether a method draws anything."""
    return method.random if isinstance(method, MethodBase) else isinstance(method, RandomMethod)


@dataclass(frozen=True)
class MethodBase:
    """What protections have in common: derive a frozen data class, name it, and say how it protects one original.

    Its fields are its parameters. Its docstring is the help of its command, which says how it is used.

    Attributes:
        told: the fields that a release states, where it does not state all of them.
        seeded: whether it takes a seed.
        any_order: whether it processes a table by name, so that its draws do not depend on the order of categories.
        examples: what follows the command on command lines, and what they do.
    """

    name: ClassVar[str]
    told: ClassVar[tuple[str, ...] | None] = None
    any_order: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    examples: ClassVar[Mapping[str, str]] = {}

    @property
    def random(self) -> bool:
        """Whether a release depends on the seed."""
        return isinstance(self, RandomMethod)

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        hints = get_type_hints(type(self))
        told = [one.name for one in fields(self)] if self.told is None else self.told
        return {name: _plain(value, hints[name]) for name in told if (value := getattr(self, name)) is not None}

    def apply(self, original: Originals, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Protect an original, or linked ones together where the method can."""
        if isinstance(original, Table | Tabulation):
            self.check_original(original)
            laid = by_name(original) if self.any_order else original
            done = self.protected(laid, seed, progress)
            if laid is not original:
                done = replace(done, release=as_in(done.release, original))
        else:
            done = self.linked(original, seed, progress)
        # Anybody can try all short seeds, and so undo what was drawn with one.
        return done.as_trial() if is_short(seed) and self.random else done

    def check_original(self, original: Original) -> None:
        """Refuse what this method cannot protect."""
        check_anybody(original)

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Protect one original, which is checked."""
        raise NotImplementedError

    def linked(self, originals: Sequence[Original], seed: Seed, progress: Progress | None) -> Protected:
        """Refuse several tables: protected one by one, they would contradict each other."""
        raise RequestError(
            "this method protects one table at a time, and tables that share dimensions would contradict each other; "
            "protect them together by rounding, by cell keys or by suppression, or tabulate them as one"
        )


def _plain(value: Any, hint: object) -> object:
    """Return the value of a field as plain data, numbers of the type that the field has."""
    kinds = get_args(hint) or (hint,)
    for number in (bool, int, float):
        if number in kinds:
            return number(value)
    if isinstance(value, Mapping):
        return {str(key): int(one) for key, one in value.items()}
    return list(value) if isinstance(value, tuple) else value
