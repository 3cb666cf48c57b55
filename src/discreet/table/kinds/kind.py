"""The interface of kinds: what a reader who knows how a figure was made knows about its true value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet.core.errors import DataError, RequestError, require
from discreet.core.json_types import Json, JsonObject
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.registry import Registry

UNBOUNDED = 2**60
"""A bound that nothing sets; every true bound is smaller in size."""


def is_whole(number: object) -> bool:
    """Say whether a parameter is an integer."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def unbounded(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the range of figures that reveal nothing."""
    return np.full(values.shape, -UNBOUNDED), np.full(values.shape, UNBOUNDED)


def check_ends(least: int | None, most: int | None) -> None:
    """Refuse a least value above the largest."""
    if least is not None and most is not None and least > most:
        raise RequestError(f"hidden figures are said to lie between {least} and {most}; swap the two")


def within(lower: IntArray, upper: IntArray, least: int | None, most: int | None) -> tuple[IntArray, IntArray]:
    """Return ranges cut to the bounds known for all figures."""
    lower = lower if least is None else np.maximum(lower, least)
    return lower, upper if most is None else np.minimum(upper, most)


class _Named(type):
    """Metaclass that lets ``Kind(name, …)`` return the kind of that name; its classes are called as usual."""

    def __call__(cls, *given: Any, **parameters: Any) -> Any:
        if cls is not Kind:
            return super().__call__(*given, **parameters)
        name, *rest = given or (parameters.pop("name", "exact"),)
        kind = KINDS[name]
        require(parameters, [item.name for item in fields(kind)], f"figures of the kind {name!r} have no")
        return kind(*rest, **parameters)


@dataclass(frozen=True, init=False)
class Kind(metaclass=_Named):
    """How figures were published, and therefore where the true value can lie.

    Each kind is a frozen class of its own parameters, registered under its name; ``Kind("random", base=3)`` makes one
    by name. If counts from 1 to ``hides`` are hidden, none of them is behind a figure that is shown. Parameters
    that are ``units`` are in units of the last decimal published.

    A new kind states :meth:`bounds` and :attr:`words`, and if its law is known :meth:`likelihood`,
    :attr:`weighs` and :attr:`stated`.

    >>> Kind("conventional", base=5).range(np.array([10, 0]))[0].tolist()
    [8, -2]
    >>> Kind("conventional", base=5, hides=3).range(np.array([5]))
    (array([4]), array([7]))
    >>> Kind("suppressed", least=1, most=7).phrase
    'suppressed, 1 to 7'
    """

    name: ClassVar[str]
    """The name in files and in the registry."""
    words: ClassVar[str] = "{name}"
    """What a reader is told, with parameters in braces."""
    units: ClassVar[tuple[str, ...]] = ()
    """The parameters that are in units of the last decimal."""
    exact: ClassVar[bool] = False
    """Whether the figure is the true value."""
    hidden: ClassVar[bool] = False
    """Whether a mark replaces the figure."""
    spans: ClassVar[bool] = False
    """Whether the least and the largest value are published, beside the figure."""
    summed: ClassVar[bool] = False
    """Whether the figure is a sum of published ones, and adds nothing to them."""
    signed: ClassVar[bool] = False
    """Whether a published count can be negative."""
    drawn: ClassVar[bool] = True
    """Whether the figure may be a random draw, so that another draw reveals more."""
    tied: ClassVar[bool] = False
    """Whether a reader who uses all figures jointly may narrow the ranges: no interval is then called safe."""

    hides: int = field(default=0, kw_only=True, repr=False)

    if TYPE_CHECKING:

        def __init__(self, name: str = "exact", *given: object, **parameters: object) -> None: ...

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            if isinstance(number, int | float) and not abs(number) <= UNBOUNDED:
                raise RequestError(f"{name} of figures that are {self.name} is {number}; give at most {UNBOUNDED:,}")
        if not is_whole(self.hides) or self.hides < 0:
            raise RequestError(f"counts from 1 to {self.hides!r} are said to be hidden; give an integer")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value behind each published one, hidden counts not left out."""
        raise NotImplementedError

    @property
    def told(self) -> str:
        """What a reader is told, hidden counts aside."""
        return self.words.format(name=self.name, **vars(self))

    @property
    def step(self) -> int:
        """What every published figure is a multiple of."""
        return 1

    @property
    def keyed(self) -> bool:
        """Whether figures of the same people share their noise: their likelihoods cannot be multiplied."""
        return False

    @property
    def unsaid(self) -> bool:
        """Whether nothing says if a figure behind this mark can be 0."""
        return False

    @property
    def said(self) -> tuple[int | None, int | None]:
        """What a mark says hidden values are at least and at most; None if it says nothing."""
        return None, None

    def saying(self, least: int) -> Kind:
        """Return the kind if it is known whether zeros are hidden: a mark that says nothing of them says this."""
        return self

    def plainly(self, values: IntArray) -> list[Kind]:
        """Return for each figure a kind with a few numbers for parameters that admits the same values."""
        return [self] * values.size

    @property
    def weighs(self) -> bool:
        """Whether some true values lead to a figure more often than others; :meth:`likelihood` says how often."""
        return self.hides > 0

    @property
    def stated(self) -> bool:
        """Whether p(y | x) is known exactly and each figure is made from its own value alone.

        Only then does :meth:`likelihood` say all that a reader who knows the method learns from a figure. Controlled
        rounding and suppression, for example, look at all cells together; what their choice reveals is not stated here.
        """
        return False

    def likelihood(self, published: int, true: IntArray) -> FloatArray:
        """Return p(y | x) of the published value for each true value, as the method draws it.

        If the method is not random, or its law is not known, all values that can lead to y are equally likely to.
        """
        return self.inside(published, true).astype(np.float64)

    def range(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest true value behind each published one."""
        lower, upper = self.bounds(values)
        if self.hides:
            lower = np.where((lower > 0) & (lower <= self.hides), self.hides + 1, lower)
            upper = np.where((upper > 0) & (upper <= self.hides), 0, upper)
        wrong = np.flatnonzero(lower > upper)
        if wrong.size:
            raise DataError(
                f"nothing can be behind the figure {values.ravel()[wrong[0]]}, which is said to be {self.phrase}; "
                "correct the figure, or how it is said to be made"
            )
        return lower, upper

    def inside(self, published: int, true: IntArray) -> BoolArray:
        """Say which true values can lead to the published one."""
        lower, upper = self.range(np.array([published]))
        found: BoolArray = (true >= lower[0]) & (true <= upper[0]) & ((true < 1) | (true > self.hides))
        return found

    @property
    def phrase(self) -> str:
        """What a reader is told."""
        return f"{self.told}, 1 to {self.hides} being hidden" if self.hides else self.told

    def scaled(self, scale: int) -> Self:
        """Return the kind of the same figures in units that are smaller by a factor."""
        given = {name: getattr(self, name) for name in (*self.units, "hides")}
        return replace(self, **{name: value * scale for name, value in given.items() if value is not None})

    def to_dict(self) -> dict[str, Json]:
        """Return the name and the parameters that are set, as plain data.

        >>> Kind("random", base=3).to_dict()
        {'name': 'random', 'base': 3}
        """
        own = sorted(fields(self), key=lambda item: (item.name == "hides", item.name))
        given = {item.name: getattr(self, item.name) for item in own if getattr(self, item.name) != item.default}
        return {"name": self.name, **given}

    @staticmethod
    def from_dict(data: JsonObject) -> Kind:
        """Return the kind that :meth:`to_dict` wrote; lists become tuples."""
        given = {key: tuples(value) for key, value in data.items()}
        return Kind(given.pop("name"), **given)


_HERE = "discreet.table.kinds"
KINDS: Registry[type[Kind]] = Registry(
    "discreet.kinds",
    "kind of figure",
    {
        "exact": f"{_HERE}.exact_hidden:Exact",
        "suppressed": f"{_HERE}.exact_hidden:Marked",
        "interval": f"{_HERE}.exact_hidden:Interval",
        "conventional": f"{_HERE}.rounded:Conventional",
        "random": f"{_HERE}.rounded:Random",
        "controlled": f"{_HERE}.rounded:Controlled",
        "small": f"{_HERE}.rounded:Small",
        "perturbed": f"{_HERE}.perturbed:Perturbed",
        "relative": f"{_HERE}.perturbed:Relative",
        "sample": f"{_HERE}.sampled_swapped:Sampled",
        "swapped": f"{_HERE}.sampled_swapped:Swapped",
        "simulated": f"{_HERE}.exact_hidden:Simulated",
        "added": f"{_HERE}.exact_hidden:Added",
        "chain": f"{_HERE}.chained:Chained",
    },
)
"""The kinds by name; other packages add theirs through the entry points ``discreet.kinds``."""


def tuples(value: object) -> Any:
    """Return what JSON wrote as lists as tuples, at every depth."""
    return tuple(tuples(item) for item in value) if isinstance(value, list) else value
