"""Q and τ̃ over the sample size, one line per prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.plots.figure import new_figure
from discreet.uniques.sample_size import SizePlan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four colours that colour-blind people can tell apart, each with a line style of its own."""
STYLES = ("-", "--", "-.", ":")


def plot_size_curve(plan: SizePlan) -> Figure:
    """Draw Q and τ̃ over the sample size, with the bound and where each prior's curve reaches it."""
    figure = new_figure(9.0, 3.8)
    left, right = figure.subplots(1, 2)
    for axes, title, values in (
        (left, "Q: a sample unique is alone in the population", "q"),
        (right, "τ̃: expected population uniques in the sample", "tau"),
    ):
        for i, curve in enumerate(plan.curves):
            look = {"color": COLOURS[i % 4], "linestyle": STYLES[i % 4]}
            axes.plot(curve.sizes, getattr(curve, values), label=f"{curve.prior} prior", **look)
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel("sample size n")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
    bounded = left if plan.sizes[0].measure == "q" else right
    bounded.axhline(plan.sizes[0].bound, color="0.5", linewidth=1, label=f"bound {plan.sizes[0].bound:g}")
    for i, size in enumerate(plan.sizes):
        if size.needed is not None:
            bounded.plot([size.needed], [size.bound], "o", color=COLOURS[i % 4])
            # Rising curves leave room above and to the left of the point, except next to the axis.
            late = size.needed > size.population / 6
            bounded.annotate(
                f"n = {size.needed:,}",
                (size.needed, size.bound),
                xytext=(-6 if late else 6, 7),
                textcoords="offset points",
                ha="right" if late else "left",
                fontsize=9,
                color=COLOURS[i % 4],
            )
    bounded.legend(frameon=False, fontsize=9, loc="upper left")
    return figure
