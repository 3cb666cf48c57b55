"""Attackers: what somebody knows beyond what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from discreet.core.errors import RequestError


@dataclass(frozen=True)
class Contribution:
    """What one respondent added to a cell, and how many others are in it.

    With ``others`` = 1 the rest of the cell is the one other contributor's value; more others leave it spread over
    them. With 0 the respondent is alone, and knows the cell.
    """

    cell: Mapping[str, str]
    value: float
    others: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", MappingProxyType({str(k): str(v) for k, v in self.cell.items()}))
        if not self.value >= 0:
            raise RequestError(f"a contribution of {self.value} is not an amount; give 0 or more")
        if self.others < 0:
            raise RequestError(f"the number of other contributors is {self.others}; it is 0 or more")


@dataclass(frozen=True)
class Fact:
    """Prior knowledge about a cell: it is at least ``lower`` and at most ``upper``; None for no limit.

    >>> known = Fact.within({"size": "4"}, about=200, percent=50)
    >>> known.lower, known.upper
    (100.0, 300.0)
    """

    cell: Mapping[str, str]
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", MappingProxyType({str(k): str(v) for k, v in self.cell.items()}))
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise RequestError(f"a cell cannot lie between {self.lower} and {self.upper}; swap the limits")

    @classmethod
    def within(cls, cell: Mapping[str, str], about: float, percent: float) -> Fact:
        """Return the knowledge of a cell within ±percent of a value."""
        return cls(cell, about * (1 - percent / 100), about * (1 + percent / 100))

    @classmethod
    def nonzero(cls, cell: Mapping[str, str]) -> Fact:
        """Return the knowledge that a cell is not empty."""
        return cls(cell, lower=1)


@dataclass(frozen=True)
class Attacker:
    """Somebody with contributions of their own, or of a coalition or holding, and with prior knowledge."""

    name: str = "outsider"
    contributions: tuple[Contribution, ...] = ()
    knows: tuple[Fact, ...] = ()

    @classmethod
    def insider(cls, cell: Mapping[str, str], value: float, *, others: int = 1, name: str = "insider") -> Attacker:
        """Return a respondent who knows their own contribution to one cell."""
        return cls(name, (Contribution(cell, value, others),))

    @classmethod
    def coalition(cls, members: Sequence[Attacker], name: str = "coalition") -> Attacker:
        """Return several respondents, or those of a holding, who pool what they know.

        >>> two = [Attacker.insider({"size": "4"}, v, others=2) for v in (10, 5)]
        >>> Attacker.coalition(two).contributions
        (Contribution(cell=mappingproxy({'size': '4'}), value=15, others=1),)
        """
        joined: dict[tuple[tuple[str, str], ...], list[Contribution]] = {}
        for contribution in (c for member in members for c in member.contributions):
            joined.setdefault(tuple(sorted(contribution.cell.items())), []).append(contribution)
        contributions = tuple(
            Contribution(same[0].cell, sum(c.value for c in same), max(min(c.others for c in same) - len(same) + 1, 0))
            for same in joined.values()
        )
        return cls(name, contributions, tuple(fact for member in members for fact in member.knows))
