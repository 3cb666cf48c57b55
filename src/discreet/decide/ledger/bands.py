"""Bands of integers, such as ages: what «0-4», «85+» and «17» mean, and the pieces that several splits share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

END = 10**9
"""Stands for no upper end."""
_RANGE = re.compile(r"(\d{1,6})\s*(?:-|–|—|to|\.\.)\s*(\d{1,6})")
_OVER = re.compile(r"(\d{1,6})\s*(?:\+|and over|and more|or more|or older|plus)")
_UNDER = re.compile(r"(?:<|under|below|less than)\s*(\d{1,6})")
_SINGLE = re.compile(r"\d{1,6}")
_WORDS = re.compile(r"^(?:aged?|ages)\s+|\s+(?:years?|employees|persons)(?:\s+old)?$")
Band = tuple[int, int]


def band(label: str) -> Band | None:
    """Return the first and the last number of a band, None where a label is not a band.

    >>> band("15-24"), band("85+"), band("under 5"), band("7"), band("north")
    ((15, 24), (85, 1000000000), (0, 4), (7, 7), None)
    """
    text = _WORDS.sub("", label.strip().lower()).strip()
    if match := _RANGE.fullmatch(text):
        low, high = int(match[1]), int(match[2])
        return (low, high) if low <= high else None
    if match := _OVER.fullmatch(text):
        return int(match[1]), END
    if match := _UNDER.fullmatch(text):
        return (0, int(match[1]) - 1) if int(match[1]) else None
    return (int(text), int(text)) if _SINGLE.fullmatch(text) else None


def bands(labels: Iterable[str]) -> dict[str, Band] | None:
    """Return the bands of all labels; None unless all are bands, some have more than one number, and none overlap.

    >>> bands(["0-4", "5-9", "10+"])["5-9"]
    (5, 9)
    >>> bands(["1", "2"]) is None
    True
    """
    found: dict[str, Band] = {}
    for label in labels:
        one = band(label)
        if one is None:
            return None
        found[label] = one
    ends = sorted(found.values())
    apart = all(before[1] < after[0] for before, after in pairwise(ends))
    # Plain numbers are codes as often as they are ages.
    return found if apart and any(low < high for low, high in ends) else None


def pieces(splits: Sequence[Mapping[str, Band]]) -> list[Band]:
    """Return the smallest bands of which every band of every split is made up.

    >>> pieces([{"0-4": (0, 4), "5-9": (5, 9)}, {"0-5": (0, 5), "6-9": (6, 9)}])
    [(0, 4), (5, 5), (6, 9)]
    """
    all_bands = [one for split in splits for one in split.values()]
    cuts = sorted({low for low, _ in all_bands} | {high + 1 for _, high in all_bands})
    found = [(low, after - 1) for low, after in pairwise(cuts)]
    return [piece for piece in found if any(low <= piece[0] and piece[1] <= high for low, high in all_bands)]


def name_of(one: Band) -> str:
    """Return a band in the usual notation.

    >>> name_of((5, 5)), name_of((5, 9)), name_of((85, END))
    ('5', '5-9', '85+')
    """
    low, high = one
    if high >= END - 1:
        return f"{low}+"
    return str(low) if low == high else f"{low}-{high}"
