"""Bars of R1 and R2 by slice: three stacked terms, before and after protection."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.json_types import JsonObject

TERMS = (
    ("zeros", "empty cells", "what empty cells say: nobody is there"),
    ("concentration", "concentration", "people in few cells: where somebody is, is easily guessed"),
    ("size", "small size", "few people in all"),
)
"""The terms of R1 and R2: key, name, meaning."""
SHOWN = 12
"""How many slices of a dimension are drawn at once: about a screen; a button shows the others."""


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


def charts_of(data: JsonObject) -> list[Chart]:
    """Return a chart for every dimension of which slices were measured."""
    before, after = data.get("before"), data.get("after")
    if before is None and after is None:
        after = (data.get("sample") or {}).get("risk")
    first, second = _by_slice(before), _by_slice(after)
    values = [value for row in [*first.values(), *second.values()] if (value := _value(row)) is not None]
    top = _nice(max(values, default=1.0))
    keys = list(dict.fromkeys([*second, *first]))
    charts = []
    for dimension in dict.fromkeys(name for name, _ in keys):
        slices = []
        for key in (key for key in keys if key[0] == dimension):
            bars = _bar(first.get(key), top), _bar(second.get(key), top)
            if any(bars):
                slices.append(Slice(key[1], (second.get(key) or first[key]).get("people"), *bars))
        if slices:
            slices.sort(key=lambda s: -max(bar.value for bar in (s.before, s.after) if bar))
            ticks = tuple((25.0 * k, f"{top * k / 4:g}") for k in range(5))
            charts.append(Chart(dimension, tuple(slices), top, ticks))
    return charts


def whole(data: JsonObject) -> list[tuple[str, Bar]]:
    """Return the bars of the whole table: R1 before and R2 after."""
    measured = {"before, R1": data.get("before"), "after, R2": data.get("after")}
    rows = [(name, found) for name, found in measured.items() if found]
    top = _nice(max((float(found["value"]) for _, found in rows), default=1.0))
    return [(name, bar) for name, found in rows if (bar := _bar(found, top)) is not None]


def _by_slice(measured: JsonObject | None) -> dict[tuple[str, str], JsonObject]:
    return {(row["dimension"], row["category"]): row for row in (measured or {}).get("slices", ())}


def _value(row: JsonObject) -> float | None:
    value = row.get("value", row.get("mean"))
    return None if value is None else float(value)


def _bar(row: JsonObject | None, top: float) -> Bar | None:
    value = None if row is None else _value(row)
    if row is None or value is None:
        return None
    terms = row.get("terms")
    shares = [(key, float(terms.get(key) or 0.0)) for key, _, _ in TERMS] if terms else [("concentration", value)]
    parts, at = [], 0.0
    for key, size in shares:
        wide = 100 * size / top
        parts.append((key, at, wide))
        at += wide
    return Bar(tuple(parts), value, tuple(shares))


def _nice(top: float) -> float:
    """Return a round end of the axis."""
    return next((end for end in (0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.6, 0.8, 1.0) if end >= top), 1.0)
