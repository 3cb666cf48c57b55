"""How much later than a time limit all work is over.

What is under way when the limit passes takes a moment to notice it, and what was found has to be audited.
"""

SHARE, SECONDS = 0.15, 1.5
"""The grace is this share of the limit, or these seconds: whichever is more."""


def grace(seconds: float) -> float:
    """Return how many seconds after a time limit of so many all work is over.

    >>> grace(5.0), grace(100.0)
    (1.5, 15.0)
    """
    return max(SHARE * seconds, SECONDS)
