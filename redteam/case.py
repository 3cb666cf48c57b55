"""Cases: one release judged for one reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from redteam.enumeration import Belief, TooManyError
from redteam.judge import Failure, wrong


@dataclass(frozen=True)
class Case:
    """One release judged for one reader.

    ``claims`` counts what was judged. ``unclaimed`` is true where the reader works out a sensitive figure, but nothing
    was claimed about that reader; ``skipped`` where there were too many originals to enumerate.
    """

    method: str
    reader: str
    door: str
    original: str
    claims: int = 0
    failures: tuple[Failure, ...] = ()
    skipped: bool = False
    unclaimed: bool = False

    def with_unclaimed(self, worked_out: Sequence[bool]) -> Case:
        """Return a case that says whether a sensitive figure was worked out which no claim protects."""
        return replace(self, unclaimed=not self.failures and not self.skipped and worked_out[-1])


@dataclass
class Bench:
    """Where an attack takes its chance from, and the titles of the methods of counts that it is limited to, if any."""

    random: Random
    methods: tuple[str, ...] = ()

    def seed(self) -> int:
        """Return a seed for discreet."""
        return self.random.getrandbits(130)


class RuledOutError(Exception):
    """What is known rules out the truth: what is said of the figures is not true."""


def sure(belief: Belief, truth: Sequence[int]) -> Belief:
    """Return a belief that does not rule out the truth."""
    if not belief.allows(truth):
        raise RuledOutError
    return belief


def judged_case(
    method: str, reader: str, door: str, original: object, judge: Callable[[], tuple[int, Sequence[Failure]]]
) -> Case:
    """Judge one case, unless there are too many originals."""
    try:
        count, failures = judge()
    except TooManyError:
        return Case(method, reader, door, repr(original), skipped=True)
    except RuledOutError:
        count, failures = 1, [wrong("truth", "what is said of the figures rules out the true ones")]
    return Case(method, reader, door, repr(original), count, tuple(failures))
