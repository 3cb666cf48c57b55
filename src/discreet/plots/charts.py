"""Charts: a table as a heat map, the terms of R1 and R2, the risk–utility map, and Q and τ̃ over the sample size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.plots.figure import (
    FAILS,
    FRONTIER,
    KNOWN_FILLS,
    KNOWN_INKS,
    LIMIT,
    MEETS,
    TERM_COLOURS,
    UNTOLD,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.uniques.sample_size import SizePlan

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four colours that colour-blind people can tell apart, each with a line style of its own."""
STYLES = ("-", "--", "-.", ":")


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
