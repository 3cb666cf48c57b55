"""Checks of parameters that several methods have."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import RequestError


def check_integer(value: object, what: str, least: int = 1, ask: str = "give") -> None:
    """Refuse what is not an integer, or is below the least.

    >>> check_integer(3, "base", 2)
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise RequestError(f"{what} is {value!r}; {ask} an integer of {least} or more")


def check_share(share: object, what: str, *, above: bool = False) -> None:
    """Refuse a share that does not lie between 0 and 1, or with ``above`` one of 0.

    >>> check_share(0.5, "the rate")
    """
    number = float(share) if isinstance(share, int | float | np.number) and not isinstance(share, bool) else -1.0
    if not 0 <= number <= 1 or (above and number == 0):
        ends = "above 0 and at most 1" if above else "between 0 and 1"
        raise RequestError(f"{what} is {share!r}; give a number {ends}")


def check_seconds(limit: float) -> None:
    """Refuse a time limit that leaves no time."""
    if not limit > 0:
        raise RequestError(f"the time limit is {limit!r}; give seconds above 0")
