"""The risk–utility map: methods as points, the efficient frontier and the limit of the policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.plots.figure import FAILS, FRONTIER, LIMIT, MEETS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_risk_utility_map(
    utility: Sequence[float],
    risk: Sequence[float],
    names: Sequence[str],
    meets: Sequence[bool],
    *,
    frontier: Sequence[int] = (),
    recommended: int | None = None,
    limit: float | None = None,
    risk_name: str = "risk R2",
) -> Figure:
    """Draw methods by their utility and their risk.

    Args:
        utility: how much of the table each method keeps.
        risk: how much each gives away.
        names: the names of the methods.
        meets: whether each meets the policy.
        frontier: the numbers of the efficient methods, from low to high utility.
        recommended: the number of the method to take.
        limit: the largest risk that the policy allows; left out if it is far from all points.
        risk_name: the label of the risk axis.
    """
    figure = new_figure(8.0, 5.0)
    axes = figure.add_subplot()
    axes.grid(color="0.93")
    axes.set_axisbelow(True)
    if frontier:
        axes.plot([utility[i] for i in frontier], [risk[i] for i in frontier], color=FRONTIER, linewidth=1.3, zorder=2)
    for met, marker, colour, label in ((True, "o", MEETS, "meets the policy"), (False, "x", FAILS, "does not")):
        chosen = [i for i, fits in enumerate(meets) if fits == met]
        if chosen:
            x, y = [utility[i] for i in chosen], [risk[i] for i in chosen]
            axes.scatter(x, y, s=44, marker=marker, color=colour, label=label, zorder=3)
    if recommended is not None:
        x, y = [utility[recommended]], [risk[recommended]]
        axes.scatter(
            x, y, s=190, facecolors="none", edgecolors="0.1", linewidths=1.6, label="the one to take", zorder=3
        )
    for i, name in enumerate(names):
        axes.annotate(
            name, (utility[i], risk[i]), xytext=(9, -11), textcoords="offset points", fontsize=7.5, color="0.25"
        )
    if limit is not None and min(risk) * 0.8 <= limit <= max(risk) * 1.35:
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1, label=f"limit {limit:g}")
    axes.set_xlabel("utility: how much of the table is kept")
    axes.set_ylabel(risk_name)
    axes.margins(0.12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return figure
