"""How much work is done: draws, seconds and threads, the seed, and who is told about progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from discreet.core.clock import Clock
from discreet.core.progress import Progress
from discreet.core.random import Seed


class Unsaid(float):
    """Seconds that nobody asked for: what has to be found, and not only judged, may take longer."""


EACH = Unsaid(60.0)
"""The seconds of each search and each audit if nothing else is said."""


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
    """How much work may be done, and who is told how far it is.

    Attributes:
        time_limit: seconds for each search; None lets work take its time.
        workers: threads; by default one per core.
        progress: called as the work advances.
        draws: how often is drawn.
        seed: makes draws reproducible, whatever the number of workers.
        clock: until when all searches together are over.
    """

    time_limit: float | None = None
    workers: int | None = None
    progress: Progress | None = None
    draws: int = 1000
    seed: Seed = None
    clock: Clock = field(default_factory=Clock)

    @property
    def seconds(self) -> float | None:
        """What a search may take that begins now.

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
