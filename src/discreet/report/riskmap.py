"""The risk–utility map: every method as a point, the efficient frontier, and the limits of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.json_types import JsonObject
from discreet.report.numbers import measure, share

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 24, 52
"""The drawing in its own units, and its margins."""
NAMED = 8
"""Up to this many methods are named in the drawing, which leaves room for titles; more are numbered."""
MEETS = "meets the policy"
"""The note on a method without faults."""


@dataclass(frozen=True)
class Point:
    """One method: its place, what to call it, and whether it meets the policy."""

    number: int
    title: str
    utility: float
    risk: float
    error: tuple[float, float]
    meets: bool
    efficient: bool
    recommended: bool
    note: str


@dataclass(frozen=True)
class Dot:
    """A point in the drawing, with its bars of error and its label: text, place and anchor."""

    point: Point
    x: float
    y: float
    bars: tuple[float, float]
    label: tuple[str, float, float, str]


@dataclass(frozen=True)
class Map:
    """The drawing: dots, frontier, limit and axes."""

    dots: tuple[Dot, ...]
    frontier: str
    limit: float | None
    limit_text: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    risk_name: str
    width, height = WIDTH, HEIGHT
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM


def points_of(data: JsonObject) -> list[Point]:
    """Return the methods that were compared, or the protections that an assessment tried."""
    found = []
    if data["kind"] == "comparison":
        for number, row in enumerate(data["points"], 1):
            utility, risk = row.get("utility") or {}, row.get("determined" if data["magnitudes"] else "r2") or {}
            if utility.get("mean") is None or risk.get("mean") is None:
                continue
            error = (2 * float(utility["mc_error"] or 0), 2 * float(risk["mc_error"] or 0))
            meets, best, taken = (bool(row[key]) for key in ("meets", "efficient", "recommended"))
            figures = (float(utility["mean"]), float(risk["mean"]), error)
            note = "; ".join(row["faults"]) or MEETS
            found.append(Point(number, row["title"], *figures, meets, best, taken, note))
        return found
    chosen = taken_of(data)
    for number, row in enumerate(data.get("candidates", ()), 1):
        if row["r2"] is not None and row["utility"] is not None:
            figures = (row["utility"], row["r2"], (0.0, 0.0))
            found.append(Point(number, row["title"], *figures, row["meets"], True, number == chosen, row["text"]))
    return found


def taken_of(data: JsonObject) -> int | None:
    """Return the number of the protection that was taken among those that were tried, from 1.

    The policy names some parameters of a method; the method that was taken states all of them.
    """
    chosen = data.get("protection") or {}
    stated = (chosen.get("parameters") or {}).items()
    fitting = [
        (number, row)
        for number, row in enumerate(data.get("candidates", ()), 1)
        if row["method"] == chosen.get("method") and row["parameters"].items() <= stated
    ]
    meeting = [number for number, row in fitting if row["meets"]]
    measured = [number for number, row in fitting if row["utility"] is not None]
    return next(iter([*meeting, *measured]), None)


def frontier_of(data: Mapping[str, object], points: Sequence[Point]) -> list[int]:
    """Return the places of the efficient methods of a comparison, by rising utility."""
    efficient = [i for i, p in enumerate(points) if p.efficient and data["kind"] == "comparison"]
    return sorted(efficient, key=lambda i: points[i].utility)


def limit_of(data: JsonObject) -> float | None:
    """Return the policy's limit on the risk that is drawn."""
    limit: float | None = (data.get("policy") or {}).get("limits", {}).get("r2")
    return None if data.get("magnitudes") else limit


def risk_name(data: Mapping[str, object]) -> str:
    """Say which risk is drawn."""
    return "sensitive cells known exactly" if data.get("magnitudes") else "risk R2"


def map_of(data: Mapping[str, object]) -> Map | None:
    """Lay out the map; None where fewer than two methods have both figures."""
    points = points_of(data)
    if len(points) < 2:
        return None
    limit = limit_of(data)
    ys = [p.risk for p in points]
    near = limit is not None and min(ys) * 0.8 <= limit <= max(ys) * 1.35
    x_low, x_high, x_ticks = _axis([p.utility for p in points], 1.0)
    y_low, y_high, y_ticks = _axis([*ys, limit] if near and limit is not None else ys, None)
    x_scale, y_scale = (WIDTH - LEFT - RIGHT) / (x_high - x_low), (HEIGHT - TOP - BOTTOM) / (y_high - y_low)

    def x(value: float) -> float:
        return round(LEFT + (value - x_low) * x_scale, 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - y_low) * y_scale, 1)

    places = [(x(p.utility), y(p.risk)) for p in points]
    bars = [(round(p.error[0] * x_scale, 1), round(p.error[1] * y_scale, 1)) for p in points]
    named = [p.title if len(points) <= NAMED else str(p.number) for p in points]
    frontier = [places[i] for i in frontier_of(data, points)]
    texts = _labels(places, bars, frontier, named, [p.recommended for p in points])
    told = ""
    if limit is not None:
        away = "" if near else " (below this drawing)" if limit < y_low else " (above this drawing)"
        told = f"limit of the policy, R2 = {limit:g}{away}"
    return Map(
        tuple(Dot(p, *places[i], bars[i], (named[i], *texts[i])) for i, p in enumerate(points)),
        " ".join(f"{px},{py}" for px, py in frontier),
        y(limit) if near and limit is not None else None,
        told,
        tuple((x(t), f"{t:g}") for t in x_ticks),
        tuple((y(t), share(t) if data.get("magnitudes") else f"{t:g}") for t in y_ticks),
        risk_name(data),
    )


def _axis(values: Sequence[float], most: float | None) -> tuple[float, float, list[float]]:
    """Return the ends of an axis and round ticks on it."""
    low, high = min(values), max(values)
    pad = max((high - low) * 0.12, 0.004)
    low, high = max(low - pad, 0.0), high + pad
    if most is not None:
        high = min(high, most + (high - low) * 0.05)
    step = 10 ** np.floor(np.log10((high - low) / 3))
    step = next(step * m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= 6)
    first = np.ceil(low / step) * step
    ticks = [round(float(t), 10) for t in np.arange(first, high + step * 1e-6, step)]
    return low, high, [t for t in ticks if most is None or t <= most + 1e-9]


def _labels(
    places: Sequence[tuple[float, float]],
    bars: Sequence[tuple[float, float]],
    frontier: Sequence[tuple[float, float]],
    texts: Sequence[str],
    ringed: Sequence[bool],
) -> list[tuple[float, float, str]]:
    """Put a text beside every dot where it covers least."""
    taken = [(px - 7, py - 7, px + 7, py + 7) for px, py in places]
    taken += [(px - ex, py - 2, px + ex, py + 2) for (px, py), (ex, _) in zip(places, bars, strict=True) if ex > 1]
    taken += [(px - 2, py - ey, px + 2, py + ey) for (px, py), (_, ey) in zip(places, bars, strict=True) if ey > 1]
    taken += [box for start, end in pairwise(frontier) for box in _along(start, end)]
    found = []
    for (px, py), text, ring in zip(places, texts, ringed, strict=True):
        best, least = None, np.inf
        wide, away = 7.0 * len(text) + 2, 17 if ring else 11
        for dx, dy, anchor in (
            (away, 4, "start"), (-away, 4, "end"), (0, -away - 1, "middle"), (0, away + 9, "middle"),
            (away, -8, "start"), (-away, -8, "end"), (away, 16, "start"), (-away, 16, "end"),
        ):  # fmt: skip
            left = px + dx - (0 if anchor == "start" else wide if anchor == "end" else wide / 2)
            box = (left, py + dy - 10, left + wide, py + dy + 3)
            covered = sum(_overlap(box, other) for other in taken)
            outside = 5000 * (box[0] < LEFT or box[2] > WIDTH or box[1] < 2)
            if covered + outside < least:
                best, least = (round(px + dx, 1), round(py + dy, 1), anchor, box), covered + outside
        assert best is not None
        taken.append(best[3])
        found.append(best[:3])
    return found


def _along(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float, float, float]]:
    """Return small boxes along a line, which texts are not to cross.

    >>> len(_along((0, 0), (30, 40)))
    11
    """
    steps = int(np.hypot(end[0] - start[0], end[1] - start[1]) / 5) + 1
    line = zip(np.linspace(start[0], end[0], steps), np.linspace(start[1], end[1], steps), strict=True)
    return [(float(x) - 3, float(y) - 3, float(x) + 3, float(y) + 3) for x, y in line]


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def rows_of(data: JsonObject) -> list[JsonObject]:
    """Return the compared methods as rows of text, those that meet the policy first, by falling utility."""
    rows = []
    for number, point in enumerate(data["points"], 1):
        means = {key: (point.get(key) or {}).get("mean") for key in ("worst_dr", "determined", "mean_absolute_error")}
        known = bool(point["extremes"]["known"]) if point.get("extremes") else False
        rows.append(
            {
                "number": number,
                **{key: point[key] for key in ("title", "meets", "efficient", "recommended")},
                **{key: _with_error(point.get(key)) for key in ("r2", "utility")},
                "worst_dr": "∞" if means["worst_dr"] is None and known else measure(means["worst_dr"], 3),
                "determined": share(means["determined"]),
                "error": measure(means["mean_absolute_error"], 2),
                "note": (point["error"] or "; ".join(point["faults"]) or MEETS) + _beside(point),
                "rank": -((point.get("utility") or {}).get("mean") or -1.0),
            }
        )
    return sorted(rows, key=lambda row: (not row["recommended"], not row["meets"], row["rank"]))


def _beside(point: JsonObject) -> str:
    """Say how much a method keeps of the statistics beside the figures, if any are wanted."""
    kept, error = ((point.get(key) or {}).get("mean") for key in ("statistics", "statistic_error"))
    far = f", {error:.2g} from the truth on average" if error else ""
    return "" if kept is None else f"; {share(kept)} of the statistics{far}"


def _with_error(found: JsonObject | None) -> str:
    if found is None or found["mean"] is None:
        return measure(None)
    error = found.get("mc_error")
    return measure(found["mean"]) + (f" ± {float(error):.4f}" if error else "")
