"""Shapes of zones: polygons of a GeoJSON file, or squares of a grid whose cells are named by their place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from discreet.core.errors import DataError, RequestError
from discreet.core.json_types import JsonObject
from discreet.decide.geography.quadtree import Quadtree

Ring: TypeAlias = tuple[tuple[float, float], ...]
Shapes: TypeAlias = Mapping[str, tuple[Ring, ...]]
"""The rings of every zone, outer ones and holes."""


def read_shapes(path: str | Path, zones: Sequence[str]) -> dict[str, tuple[Ring, ...]]:
    """Read the polygons of zones from a GeoJSON file; the property that names most of the zones identifies them."""
    wanted = set(zones)
    tried: dict[str, dict[str, JsonObject]] = {}
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        for feature in data["features"]:
            for name, value in {"id": feature.get("id"), **(feature.get("properties") or {})}.items():
                if str(value) in wanted:
                    tried.setdefault(str(name), {})[str(value)] = feature["geometry"]
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror}); check the name and the folder") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(f"{path} is not a GeoJSON file with features; give a FeatureCollection") from None
    found = max(tried.values(), key=len, default={})
    if not found:
        raise DataError(f"{path}: no property of its features names a zone such as {next(iter(zones))!r}; add one")
    try:
        return {zone: _rings(found[zone]) for zone in zones if zone in found}
    except (ValueError, KeyError, TypeError, IndexError):
        raise DataError(f"{path} has a feature that is not a polygon of numbers; give polygons only") from None


def _rings(geometry: JsonObject) -> tuple[Ring, ...]:
    polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    if geometry["type"] not in ("Polygon", "MultiPolygon"):
        raise ValueError
    rings = tuple(tuple((float(x), float(y)) for x, y, *_ in ring) for polygon in polygons for ring in polygon)
    if not rings or not all(math.isfinite(number) for ring in rings for point in ring for number in point):
        raise ValueError
    return rings


def squares(tree: Quadtree) -> dict[str, tuple[Ring, ...]]:
    """Return the squares of grid cells.

    >>> squares(Quadtree.of(["RES2mN2E4"]))
    {'RES2mN2E4': (((4, 2), (6, 2), (6, 4), (4, 4)),)}
    """
    found: dict[str, tuple[Ring, ...]] = {}
    for name, (column, row) in tree.cells.items():
        x, y, end = column * tree.length, row * tree.length, tree.length
        found[name] = (((x, y), (x + end, y), (x + end, y + end), (x, y + end)),)
    return found


def grid_of_squares(shapes: Shapes) -> Quadtree | None:
    """Return the quadtree of shapes that are squares of one length at whole places; None if any is not."""
    found: dict[str, tuple[int, int, int]] = {}
    for name, rings in shapes.items():
        corners = {point for ring in rings for point in ring}
        xs, ys = ({point[i] for point in corners} for i in (0, 1))
        whole = all(number == int(number) for number in xs | ys)
        if len(rings) != 1 or len(corners) != 4 or len(xs) != 2 or len(ys) != 2 or not whole:
            return None
        if max(xs) - min(xs) != max(ys) - min(ys):
            return None
        found[name] = (int(min(xs)), int(min(ys)), int(max(xs) - min(xs)))
    lengths = {length for *_, length in found.values()}
    aligned = all(x % length == 0 and y % length == 0 for x, y, length in found.values())
    return Quadtree.of_squares(found) if len(lengths) == 1 and aligned else None
