"""``discreet protect`` by controlled tabular adjustment."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.protect.common import protects
from discreet.cli.protect.rounding import TimeLimit
from discreet.cli.rules import RULES, _rules


def tabular_adjustment(
    p_percent: Annotated[
        float | None, typer.Option("--p-percent", help="p: nobody estimates another within p%.", rich_help_panel=RULES)
    ] = None,
    dominance: Annotated[
        list[str] | None,
        typer.Option("--dominance", help="n,k: the n largest make up at most k%.", rich_help_panel=RULES),
    ] = None,
    pq: Annotated[
        str | None, typer.Option("--pq", help="p,q: the same when q% is known before.", rich_help_panel=RULES)
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Fewest contributors of a safe cell.", rich_help_panel=RULES)
    ] = None,
    safety_range: Annotated[
        float, typer.Option("--safety-range", help="Protection after the threshold, in %.", rich_help_panel=RULES)
    ] = 30.0,
    level: Annotated[
        str, typer.Option("--level", help="contributor, holding, or both.", rich_help_panel=RULES)
    ] = "contributor",
    norm: Annotated[str, typer.Option("--norm", help="absolute or squared changes are least.")] = "absolute",
    weights: Annotated[
        str, typer.Option("--weights", help="equal, or inverse: changes relative to figures.")
    ] = "equal",
    radius: Annotated[
        float | None, typer.Option("--radius", help="Largest change of figures that are not sensitive, in %.")
    ] = None,
    time_limit: TimeLimit = 60.0,
) -> Any:
    """Publish every sensitive figure at a safe distance from its value, and change the others as little as can be.

    For magnitudes: nothing is hidden, and all sums hold.
    """
    from discreet.protect.tabular_adjustment import TabularAdjustment

    rules = _rules(threshold, dominance, p_percent, pq, "safe", safety_range, 1, level, False)
    return TabularAdjustment(
        tuple(rules),
        norm=norm,  # type: ignore[arg-type]
        weights=weights,  # type: ignore[arg-type]
        radius=radius,
        time_limit=time_limit,
    )


COMMANDS = {
    "tabular-adjustment": protects(
        tabular_adjustment,
        {
            "discreet protect tabular-adjustment table.parquet --p-percent 10 -o adjusted.csv": "by the p% rule",
            "discreet protect tabular-adjustment firms.csv --by region,activity --value turnover --p-percent 10 "
            "-o adjusted.csv": "from records",
        },
        random=False,
    ),
}
