"""The scale of the heat maps: how much is left to guess about a cell, in six steps with names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.json_types import JsonObject


@dataclass(frozen=True)
class Step:
    """One step of the scale: how many values are possible, and what that means."""

    name: str
    meaning: str


STEPS = (
    Step("as it is", "published as it is, and no rule objects"),
    Step("over 16", "more than 16 values are possible"),
    Step("5 to 16", "5 to 16 values are possible"),
    Step("3 or 4", "3 or 4 values are possible"),
    Step("2", "2 values are possible"),
    Step("known", "a reader knows the value"),
)
"""From unremarkable to known; :mod:`discreet.plots.figure` has a colour for each."""
KNOWN = len(STEPS) - 1


def step_of(bits: float | None, known: bool) -> int:
    """Return the step of a cell about which H(X | Y = y) bits are left to guess; None means no bound.

    >>> step_of(0.0, False), step_of(1.0, False), step_of(1.585, False), step_of(4.0, False), step_of(None, False)
    (5, 4, 3, 2, 1)
    """
    if known or (bits is not None and bits <= 0):
        return KNOWN
    if bits is None:
        return 1
    # A hair of slack keeps log2 of an integer on its own side.
    return 4 if bits <= 1 + 1e-9 else 3 if bits <= 2 + 1e-9 else 2 if bits <= 4 + 1e-9 else 1


def knowledge(row: Mapping[str, object]) -> int:
    """Return the step of a row of the worst cells, or of an audit."""
    if row.get("state") == "unpublished":
        return 1
    known = row["state"] in ("exact", "determined") if "state" in row else bool(row["determined"])
    return step_of(bits_of(row), known)


def is_shown(row: Mapping[str, object]) -> bool:
    """Say whether it is known how many bits are left; they may be without bound."""
    return row.get("basis") != "not shown"


def bits_of(row: JsonObject) -> float | None:
    """Return how many bits are left, None for no bound; where that is not shown, at most those of the interval.

    >>> bits_of({"bits": None, "basis": "not shown", "lower": 1, "upper": 4})
    2.0
    """
    if is_shown(row) or row["lower"] is None or row["upper"] is None:
        bits: float | None = row["bits"]
        return bits
    return math.log2(row["upper"] - row["lower"] + 1)
