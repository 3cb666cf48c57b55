"""How much work is done: draws, seconds and threads, the seed, and progress reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from discreet.core.clock import Clock
from discreet.core.progress import Progress
from discreet.core.random import Seed


class Unsaid(float):
    """A default number of seconds: a search, unlike a judgement, may take longer."""


EACH = Unsaid(60.0)
"""The default seconds of each search and each audit."""


class WorkOptions(TypedDict, total=False):
    """Options of functions that search."""

    time_limit: float | None
    workers: int | None
    progress: Progress | None


class DrawOptions(TypedDict, total=False):
    """Options of functions that draw."""

    draws: int
    seed: Seed
    workers: int | None
    progress: Progress | None


@dataclass(frozen=True)
class Effort:
    """How much work may be done, and who gets progress reports.

    Attributes:
        time_limit: seconds for each search; None sets no limit.
        workers: threads; by default one per core.
        progress: called as the work advances.
        draws: the number of draws.
        seed: makes draws reproducible, whatever the number of workers.
        clock: the deadline of all searches together.
    """

    time_limit: float | None = None
    workers: int | None = None
    progress: Progress | None = None
    draws: int = 1000
    seed: Seed = None
    clock: Clock = field(default_factory=Clock)

    @property
    def seconds(self) -> float | None:
        """The time limit of a search that starts now.

        >>> Effort(60.0, clock=Clock.within(0.0)).seconds
        0.0
        """
        limits = [limit for limit in (self.time_limit, self.clock.left) if limit is not None]
        return min(limits, default=None)

    def searching(self) -> WorkOptions:
        """Return the options of functions that search."""
        return {"time_limit": self.seconds, "workers": self.workers, "progress": self.progress}

    def among(self, options: Mapping[str, Any], kind: type) -> tuple[Effort, dict[str, Any]]:
        """Return the effort that options of a kind ask for, this one where they are silent, and all other options.

        >>> effort, rest = Effort(time_limit=60).among({"workers": 2, "draws": 9}, WorkOptions)
        >>> effort.time_limit, effort.workers, rest
        (60, 2, {'draws': 9})
        """
        own = kind.__annotations__.keys() & options.keys()
        rest = {name: value for name, value in options.items() if name not in own}
        return replace(self, **{name: options[name] for name in own}), rest
