"""A self-contained SVG map of zones: filled zones of one layer, outlines of others, a text for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.core.errors import RequestError

WIDTH, MARGIN = 800.0, 10.0
TONES = {"safe": "#e8eef4", "part": "#f6c28b", "risk": "#c8372d", "outline": "none"}
"""The fill of a zone: apart from all differences, in the arithmetic of one, with people who are singled out."""
WORDS = {"risk": "people who can be singled out live here", "part": "used to work out a difference", "safe": "neither"}


@dataclass(frozen=True)
class MapZone:
    """A zone of a map: its rings, its fill, and its text."""

    rings: tuple[tuple[tuple[float, float], ...], ...]
    tone: str
    words: str


def territory_map(zones: Sequence[MapZone], title: str) -> str:
    """Return the map; later zones are drawn over earlier ones.

    >>> print(territory_map([MapZone((((0, 0), (4, 0), (4, 2)),), "risk", "a <b>")], "Zones").splitlines()[1])
    <path d="M10.0 400.0L790.0 400.0L790.0 10.0Z" fill="#c8372d"><title>a &lt;b&gt;</title></path>
    """
    points = [point for zone in zones for ring in zone.rings for point in ring]
    if not points:
        raise RequestError("no zone has a shape; give a GeoJSON file of them (shapes=, --shapes)")
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    bottom, top = min(y for _, y in points), max(y for _, y in points)
    scale = (WIDTH - 2 * MARGIN) / max(right - left, (top - bottom) / 2, 1e-9)
    height = (top - bottom) * scale + 2 * MARGIN

    def path(zone: MapZone) -> str:
        rings = (
            "M" + "L".join(f"{MARGIN + (x - left) * scale:.1f} {MARGIN + (top - y) * scale:.1f}" for x, y in ring) + "Z"
            for ring in zone.rings
        )
        pen = ' stroke="#22313f" stroke-width="1.5"' if zone.tone == "outline" else ""
        return f'<path d="{"".join(rings)}" fill="{TONES[zone.tone]}"{pen}><title>{escape(zone.words)}</title></path>'

    legend = "".join(
        f'<rect x="{MARGIN}" y="{height + 20 * i:.0f}" width="14" height="14" fill="{TONES[tone]}"/>'
        f'<text x="{MARGIN + 22}" y="{height + 20 * i + 12:.0f}">{WORDS[tone]}</text>'
        for i, tone in enumerate(WORDS)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height + 65:.0f}" role="img" '
        f'font-family="sans-serif" font-size="13"><title>{escape(title)}</title>'
        f'<g stroke="#8fa3b5" stroke-width="0.5" fill-rule="evenodd">\n'
        + "\n".join(map(path, zones))
        + f"\n</g>{legend}</svg>\n"
    )
