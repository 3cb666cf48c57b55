"""The grace period after a time limit, by which all work is over.

Work in progress takes a moment to notice that the limit has passed, and its results must be audited.
"""

SHARE, SECONDS = 0.15, 1.5
"""The grace is this share of the limit, or these seconds: whichever is more."""


def grace(seconds: float) -> float:
    """Return how many seconds after a given time limit all work is over.

    >>> grace(5.0), grace(100.0)
    (1.5, 15.0)
    """
    return max(SHARE * seconds, SECONDS)
