"""The terms of R1 or R2 by slice, as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.plots.figure import TERM_COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_risk_terms(
    slices: Sequence[str],
    terms: Mapping[str, Sequence[float]],
    *,
    before: Sequence[float | None] | None = None,
    title: str = "",
) -> Figure:
    """Draw a stacked bar for every slice, the first on top.

    Args:
        slices: the names of the slices.
        terms: the parts of the risk by name: zeros, concentration and size.
        before: the risk before protection, drawn as a line across each bar.
        title: the title above the drawing.
    """
    figure = new_figure(7.5, 1.1 + 0.28 * len(slices))
    axes = figure.add_subplot()
    places = list(range(len(slices)))
    left = [0.0] * len(slices)
    for name, values in terms.items():
        axes.barh(places, values, left=left, height=0.66, color=TERM_COLOURS[name], label=name)
        left = [a + b for a, b in zip(left, values, strict=True)]
    for place, value in zip(places, before or (), strict=False):
        if value is not None:
            axes.plot([value, value], [place - 0.42, place + 0.42], color="0.15", linewidth=1.4)
    axes.set_yticks(places, slices, fontsize=8)
    axes.set_ylim(len(slices) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("risk" + ("; the mark is the risk before protection" if before else ""), fontsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    if title:
        axes.set_title(title, fontsize=10, loc="left")
    return figure
