"""Figures made in several steps: the input of the last one is the output of the one before it, and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import IntArray
from discreet.table.kinds.exact_hidden import Exact
from discreet.table.kinds.kind import UNBOUNDED, Kind
from discreet.table.kinds.sampled_swapped import Sampled, Swapped

EARLIER = (Exact, Sampled, Swapped)
"""Kinds of earlier steps: the larger the figure, the larger both ends of what can be behind it."""


@dataclass(frozen=True)
class Chained(Kind):
    """Counts after a sample or swap that were then rounded or perturbed, as ``kinds`` say in the order of the steps.

    The range of a figure is that of the last step, and for its ends that of the step before. The law of the whole is
    not stated: people who move leave one cell for another, so cells are not changed each on its own. For the same
    reason a reader who considers all steps jointly may narrow ranges, and an audit calls none of them safe.

    >>> both = Chained((Swapped(bound=2), Kind("conventional", base=5)))
    >>> both.range(np.array([10, 0]))
    (array([6, 0]), array([14,  4]))
    """

    name = "chain"
    signed = True
    tied = True

    kinds: tuple[Kind, ...] = field(default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        made = tuple(Kind.from_dict(one) if isinstance(one, Mapping) else one for one in self.kinds)
        object.__setattr__(self, "kinds", made)
        if len(made) < 2 or not all(isinstance(one, EARLIER) for one in made[:-1]):
            raise RequestError("figures of a chain are sampled or swapped first, and changed further after that")
        if made[-1].hidden or made[-1].spans or isinstance(made[-1], Chained):
            raise RequestError(f"figures that are {made[-1].phrase} cannot end a chain; round or perturb counts last")

    def bounds(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the ends of what can be behind a figure, step by step from the last; counts are 0 or more."""
        lower, upper = values, values
        for kind in reversed(self.kinds):
            lower, upper = behind(kind, lower, upper)
        return lower, upper

    @property
    def step(self) -> int:
        """That of the last step."""
        return self.kinds[-1].step

    @property
    def keyed(self) -> bool:
        """If the noise of the last step is picked by keys."""
        return self.kinds[-1].keyed

    @property
    def told(self) -> str:
        """Say what was done, in order."""
        return ", then ".join(kind.phrase for kind in self.kinds)

    def scaled(self, scale: int) -> Self:
        """Return the same in smaller units."""
        return replace(self, kinds=tuple(kind.scaled(scale) for kind in self.kinds))

    def to_dict(self) -> dict[str, Json]:
        """Return the kinds as plain data."""
        return {"name": self.name, "kinds": [kind.to_dict() for kind in self.kinds]}


def behind(kind: Kind, lower: IntArray, upper: IntArray) -> tuple[IntArray, IntArray]:
    """Return the range of counts that can become something between two ends, both of them possible.

    >>> behind(Swapped(bound=2), np.array([1]), np.array([4]))
    (array([0]), array([6]))
    """
    low, high = kind.range(lower)[0], kind.range(upper)[1]
    return np.maximum(low, 0), np.minimum(high, UNBOUNDED)
