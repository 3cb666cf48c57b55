"""Differences on a map: where people can be singled out, and by which zones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.core.errors import RequestError
from discreet.decide.geography.differences import GeographicDifferences
from discreet.decide.geography.quadtree import Quadtree
from discreet.decide.geography.shapes import Shapes, squares
from discreet.report.territory_map import MapZone, territory_map


def svg_map(found: GeographicDifferences, shapes: Mapping[str, Shapes] | None = None) -> str:
    """Return a map of differences as SVG; it shows original figures and is for internal use only.

    Args:
        found: the differences.
        shapes: by division, the shapes of its zones; grids whose cells are named by their place need none.
    """
    territory = found.territory
    given = dict(shapes or {})
    for name, cells in zip(territory.names, territory.zones, strict=True):
        if not given.get(name):
            tree = Quadtree.of(cells)
            given[name] = {} if tree is None else squares(tree)
    drawn = [name for name in reversed(territory.names) if given[name]]
    if not drawn:
        raise RequestError("nothing says where the zones are; give a GeoJSON file of one division (shapes=, --shapes)")
    zones: list[MapZone] = []
    for layer, name in enumerate(drawn):
        zones += _layer(found, territory.names.index(name), given[name], outline=layer > 0)
    return territory_map(zones, found.sentence)


def _layer(found: GeographicDifferences, division: int, shapes: Shapes, *, outline: bool) -> list[MapZone]:
    """Return the zones of one division that have a shape."""
    territory = found.territory
    name, totals = territory.names[division], territory.totals(division)
    exposed = np.zeros(len(totals), np.int64)
    np.add.at(exposed, territory.pairs[found.exposed, division], territory.people[found.exposed])
    told: dict[str, list[str]] = {}
    for one in found.found:
        for zone in one.plus if one.divisions[0] == name else one.minus:
            told.setdefault(zone, []).append(one.arithmetic)
    zones = []
    for i, zone in enumerate(territory.zones[division]):
        if zone not in shapes:
            continue
        tone = "outline" if outline else "risk" if exposed[i] else "part" if zone in told else "safe"
        words = [f"{name} {zone}: {totals[i]:,} people, {exposed[i]:,} of them singled out", *told.get(zone, [])[:5]]
        zones.append(MapZone(tuple(shapes[zone]), tone, "\n".join(words)))
    return zones
