"""A table as a heat map: the published figures, coloured by how much a reader knows about each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.plots.figure import KNOWN_FILLS, KNOWN_INKS, UNTOLD, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]],
    steps: Sequence[Sequence[int]],
    *,
    marked: Sequence[Sequence[bool]] | None = None,
    names: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw a table of figures.

    Args:
        rows: labels of the rows.
        columns: labels of the columns.
        texts: the figures as they are published, row by row; an empty text draws nothing.
        steps: how much is known of each, as numbers of :data:`~discreet.plots.figure.KNOWN_FILLS`; -1 if it is not
            stated.
        marked: true for cells that get a corner.
        names: what the steps are called, for a legend.
        title: the title above the drawing.
    """
    figure = new_figure(min(2.2 + 0.62 * len(columns), 16), min(1.3 + 0.3 * len(rows), 22))
    axes = figure.add_subplot()
    for i, line in enumerate(texts):
        for j, text in enumerate(line):
            if not text:
                continue
            step = max(steps[i][j], 0)
            fill = KNOWN_FILLS[step] if steps[i][j] >= 0 else UNTOLD
            axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], fill, edgecolor="white", linewidth=1.5)
            axes.text(j + 0.5, i + 0.52, text, ha="center", va="center", fontsize=8, color=KNOWN_INKS[step])
            if marked is not None and marked[i][j]:
                axes.fill([j + 0.82, j + 0.98, j + 0.98], [i + 0.04, i + 0.04, i + 0.36], KNOWN_INKS[step], linewidth=0)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([j + 0.5 for j in range(len(columns))], columns, fontsize=8)
    axes.set_yticks([i + 0.5 for i in range(len(rows))], rows, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if title:
        axes.set_title(title, fontsize=10, loc="left", pad=14)
    if names:
        from matplotlib.patches import Patch

        handles = [Patch(facecolor=KNOWN_FILLS[k], edgecolor="0.7", label=name) for k, name in enumerate(names)]
        figure.legend(handles=handles, loc="outside lower left", ncols=len(names), frameon=False, fontsize=7.5)
    return figure
