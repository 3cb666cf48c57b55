"""A deadline that compiled code can see.

A kernel cannot read a clock, and one call of it can take minutes. So a timer in a separate thread sets a flag when time
is up, and kernels check that flag in every iteration. Without a deadline it is never set, and results depend on the
input alone.
"""

from __future__ import annotations

import time
from threading import Timer

import numpy as np

from discreet.core.errors import LateError, RequestError

SHARE, SECONDS = 0.15, 1.5
"""The grace after a time limit is this share of the limit, or these seconds: whichever is more."""


def grace(seconds: float) -> float:
    """Return how many seconds after a given time limit all work is over.

    Work in progress takes a moment to notice that the limit has passed, and its results must be audited.

    >>> grace(5.0), grace(100.0)
    (1.5, 15.0)
    """
    return max(SHARE * seconds, SECONDS)


class Clock:
    """Time until a deadline, a moment on the monotonic clock; ``rung[0]`` is 1 once it has passed.

    >>> with Clock(None) as clock:
    ...     clock.late, clock.left, int(clock.rung[0])
    (False, None, 0)
    >>> with Clock(time.monotonic()) as clock:
    ...     clock.late, clock.left, int(clock.rung[0])
    (True, 0.0, 1)
    """

    def __init__(self, deadline: float | None = None, seconds: float | None = None) -> None:
        self.deadline, self.seconds = deadline, seconds
        self._bell = np.zeros(1, np.int64)
        # Kernels only look at it, and what is put back of their arguments never undoes it.
        self.rung = self._bell.view()
        self.rung.flags.writeable = False
        self._timer: Timer | None = None

    @classmethod
    def within(cls, seconds: float | None) -> Clock:
        """Return a clock that rings after this many seconds, or never; refuse anything but a time."""
        if seconds is not None and not seconds >= 0:
            raise RequestError(f"the time limit is {seconds!r}; give seconds of 0 or more (time_limit=, --time-limit)")
        return cls(None if seconds is None else time.monotonic() + seconds, seconds)

    @property
    def left(self) -> float | None:
        """Seconds that remain."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def late(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    def refuse_late(self, failure: str) -> None:
        """Refuse to continue once time is up; ``failure`` says what was not found."""
        if self.late:
            given = "the time that was given" if self.seconds is None else f"{self.seconds:g} seconds"
            raise LateError(f"{failure} in {given}; give more time (time_limit=, --time-limit)")

    def __enter__(self) -> Clock:
        """Start the timer."""
        left = self.left
        if left == 0.0:
            self.ring()
        elif left is not None:
            # A wait of more than a year is more than some systems can do.
            self._timer = Timer(min(left, 3e7), self.ring)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def ring(self) -> None:
        """Tell kernels that time is up."""
        self._bell[0] = 1
