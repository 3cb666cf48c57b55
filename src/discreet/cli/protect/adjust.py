"""``discreet protect`` by controlled tabular adjustment."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.protect.common import protects
from discreet.cli.protect.rounding import TimeLimit
from discreet.cli.rule_texts import Rules, rules_of


def tabular_adjustment(
    rule: Rules = None,
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

    return TabularAdjustment(
        tuple(rules_of(rule)),
        norm=norm,  # type: ignore[arg-type]
        weights=weights,  # type: ignore[arg-type]
        radius=radius,
        time_limit=time_limit,
    )


COMMANDS = {
    "tabular-adjustment": protects(
        tabular_adjustment,
        {
            "discreet protect tabular-adjustment table.parquet --rule p=10 -o adjusted.csv": "by the p% rule",
            "discreet protect tabular-adjustment firms.csv --by region,activity --value turnover --rule p=10 "
            "-o adjusted.csv": "from records",
        },
        random=False,
    ),
}
