"""Bars of R1 and R2 by slice: three stacked terms, before and after protection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TERMS = (
    ("zeros", "empty cells", "what empty cells say: nobody is there"),
    ("concentration", "concentration", "people in few cells: where somebody is, is easily guessed"),
    ("size", "small size", "few people in all"),
)
"""The terms of R1 and R2: key, name, meaning."""
SHOWN = 12
"""How many slices of a dimension are drawn at once."""


@dataclass(frozen=True)
class Bar:
    """One stacked bar in per cent of the axis, and its value."""

    parts: tuple[tuple[str, float, float], ...]
    value: float
    terms: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Slice:
    """A category of a dimension with its bars."""

    category: str
    people: int | None
    before: Bar | None
    after: Bar | None

    @property
    def bar(self) -> Bar:
        """The bar that counts: after protection, or before where there is none."""
        bar = self.after or self.before
        assert bar is not None
        return bar


@dataclass(frozen=True)
class Chart:
    """The slices of one dimension, the riskiest first, with the end of their axis."""

    dimension: str
    slices: tuple[Slice, ...]
    top: float
    ticks: tuple[tuple[float, str], ...]


def charts_of(data: Mapping[str, Any]) -> list[Chart]:
    """Return a chart for every dimension of which slices were measured."""
    before, after = data.get("before"), data.get("after")
    if before is None and after is None:
        sample = data.get("sample") or {}
        after = sample.get("risk") if "slices" in (sample.get("risk") or {}) else None
    if before is None and after is None:
        return []
    first = _by_slice(before)
    second = _by_slice(after)
    values = [row[1] for row in [*first.values(), *second.values()] if row[1] is not None]
    top = _nice(max(values, default=1.0))
    charts = []
    for dimension in dict.fromkeys(key[0] for key in [*second, *first]):
        keys = [key for key in dict.fromkeys([*second, *first]) if key[0] == dimension]
        slices = []
        for key in keys:
            found = (second.get(key) or first.get(key) or ({}, None, {}))[0]
            slices.append(Slice(key[1], found.get("people"), _bar(first.get(key), top), _bar(second.get(key), top)))
        kept = tuple(s for s in slices if s.before or s.after)
        kept = tuple(sorted(kept, key=lambda s: -max(bar.value for bar in (s.before, s.after) if bar)))
        if kept:
            charts.append(Chart(dimension, kept, top, _ticks(top)))
    return charts


def whole(data: Mapping[str, Any]) -> list[tuple[str, Bar]]:
    """Return the bars of the whole table: R1 before and R2 after."""
    rows = [(name, data.get(key)) for name, key in (("before, R1", "before"), ("after, R2", "after"))]
    top = _nice(max((float(found["value"]) for _, found in rows if found), default=1.0))
    made = [(name, _bar((found, found["value"], found["terms"]), top)) for name, found in rows if found]
    return [(name, bar) for name, bar in made if bar is not None]


def _by_slice(measured: Mapping[str, Any] | None) -> dict[tuple[str, str], tuple[Mapping[str, Any], Any, Any]]:
    rows = (measured or {}).get("slices", ())
    return {
        (row["dimension"], row["category"]): (row, row.get("value", row.get("mean")), row.get("terms")) for row in rows
    }


def _bar(found: tuple[Mapping[str, Any], Any, Any] | None, top: float) -> Bar | None:
    if found is None or found[1] is None:
        return None
    _, value, terms = found
    shares = [(key, float((terms or {}).get(key) or 0.0)) for key, _, _ in TERMS]
    if not terms:
        shares = [("concentration", float(value))]
    parts, at = [], 0.0
    for key, size in shares:
        wide = 100 * size / top
        parts.append((key, at, wide))
        at += wide
    return Bar(tuple(parts), float(value), tuple(shares))


def _nice(top: float) -> float:
    """Return a round end of the axis."""
    return next((end for end in (0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.6, 0.8, 1.0) if end >= top), 1.0)


def _ticks(top: float) -> tuple[tuple[float, str], ...]:
    return tuple((25.0 * k, f"{top * k / 4:g}") for k in range(5))
