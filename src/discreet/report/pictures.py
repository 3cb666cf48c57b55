"""Every plot of a report as a picture of its own, PNG or SVG, for slides and papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.report.bars import SHOWN, TERMS, Chart, charts_of
from discreet.report.edition import edition_of
from discreet.report.heat_map_pages import Cell, PagedTable, details_of, paged_tables
from discreet.report.riskmap import frontier_of, limit_of, points_of, risk_name
from discreet.report.scale import STEPS
from discreet.report.view import CONFIDENTIAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")


def write_pictures(
    data: Mapping[str, Json], folder: str | Path, *, format: str = "svg", edition: str = "internal"
) -> tuple[Path, ...]:
    """Write the plots of a report into a folder, each atomically, and return the files.

    They are heat maps, terms of the risk by dimension, and the risk–utility map, as far as these exist.

    Args:
        data: the ``to_dict()`` of an assessment or a comparison.
        folder: where to; it must exist.
        format: ``"svg"`` or ``"png"``.
        edition: ``"internal"`` pictures carry a mark and are readable by their owner alone; ``"public"`` ones are drawn
            from the release alone.
    """
    from discreet.plots.figure import save

    if format not in FORMATS:
        raise RequestError(f"pictures cannot be in the format {format!r}; give svg or png")
    target = Path(folder)
    if not target.is_dir():
        raise RequestError(f"{target} is not a folder; make it first")
    shown = edition_of(data, edition)
    note = CONFIDENTIAL if edition == "internal" else ""
    drawn: dict[str, Figure] = {}
    grids = paged_tables(shown, details_of(shown))
    for number, grid in enumerate(grids, 1):
        drawn[f"heat-map-{number}" if len(grids) > 1 else "heat-map"] = _heat_map(grid, edition == "internal", note)
    for number, chart in enumerate(charts_of(shown), 1):
        drawn[f"terms-{number}"] = _terms(chart, note)
    if edition == "internal" and len(points_of(shown)) > 1:
        drawn["risk-utility-map"] = _map(shown, note)
    written = []
    for name, figure in drawn.items():
        path = target / f"{name}.{format}"
        save(figure, path, private=edition == "internal")
        written.append(path)
    return tuple(written)


def _heat_map(grid: PagedTable, internal: bool, note: str) -> Figure:
    from discreet.plots.charts import plot_heat_map

    page = grid.pages[0]
    cells = [[cell or Cell("") for cell in line.cells] for line in page.lines]
    return plot_heat_map(
        [line.label for line in page.lines],
        grid.columns,
        [[cell.text for cell in line] for line in cells],
        [[cell.step for cell in line] for line in cells],
        marked=[[cell.sensitive for cell in line] for line in cells] if internal else None,
        names=[step.name for step in STEPS],
        title=" – ".join(text for text in (grid.name, page.title, note) if text),
    )


def _terms(chart: Chart, note: str) -> Figure:
    from discreet.plots.charts import plot_risk_terms

    slices = chart.slices[:SHOWN]
    bars = [dict(s.bar.terms) for s in slices]
    both = any(s.before and s.after for s in slices)
    return plot_risk_terms(
        [s.category for s in slices],
        {key: [bar.get(key, 0.0) for bar in bars] for key, _, _ in TERMS},
        before=[s.before.value if s.before else None for s in slices] if both else None,
        title=" – ".join(text for text in (chart.dimension, note) if text),
    )


def _map(data: Mapping[str, Json], note: str) -> Figure:
    from discreet.plots.charts import plot_risk_utility_map

    points = points_of(data)
    figure = plot_risk_utility_map(
        [p.utility for p in points],
        [p.risk for p in points],
        [p.title for p in points],
        [p.meets for p in points],
        frontier=frontier_of(data, points),
        recommended=next((i for i, p in enumerate(points) if p.recommended), None),
        limit=limit_of(data),
        risk_name=risk_name(data),
    )
    figure.suptitle(note, fontsize=8, color="#8a1c1c", x=0.01, ha="left")
    return figure
