"""``discreet protect`` by rounding."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.common import protects

Base = Annotated[int, typer.Option("--base", help="What the published figures are multiples of.")]
WithMargins = Annotated[
    bool, typer.Option("--with-margins", help="Publish the margins of a table too, each rounded on its own.")
]
Additive = Annotated[
    bool,
    typer.Option("--additive", help="Margins of records are sums of what is published, and tell nothing more."),
]
TimeLimit = Annotated[float, typer.Option("--time-limit", help="Seconds for the search.")]


def random_rounding(base: Base = 3, with_margins: WithMargins = False, additive: Additive = False) -> Any:
    """Round every figure at random to a multiple of the base, up with probability r/b for a residual r: no bias.

    Figures are rounded independently, so that cells need not add up to totals, which then tell more about the cells.
    """
    from discreet.protect.random_rounding import RandomRounding

    return RandomRounding(base, with_margins, additive)


def conventional_rounding(base: Base = 5, with_margins: WithMargins = False) -> Any:
    """Round every figure to the nearest multiple of the base, the upper one of two that are as near."""
    from discreet.protect.conventional_rounding import ConventionalRounding

    return ConventionalRounding(base, with_margins)


def semi_controlled_rounding(
    base: Base = 3,
    totals: Annotated[
        str, typer.Option("--totals", help="Dimensions from coarse to fine whose totals are kept, with commas.")
    ] = "",
) -> Any:
    """Round at random and without bias, so that cells add up to the published totals of some dimensions.

    The grand total is always kept. Margins that are not are rounded on their own.
    """
    from discreet.protect.semi_controlled_rounding import SemiControlledRounding

    return SemiControlledRounding(base, tuple(options.names(totals) or ()))


def controlled_rounding(
    base: Base = 5,
    unbiased: Annotated[
        bool, typer.Option("--unbiased", help="Draw a rounding at random whose mean is the original.")
    ] = False,
    time_limit: TimeLimit = 60.0,
) -> Any:
    """Round every figure to a neighbouring multiple of the base so that all sums hold, as near as can be.

    All margins, and groups of hierarchies, are published. Where no such rounding exists, figures may move further; the
    answer says so.
    """
    from discreet.protect.controlled_rounding import ControlledRounding

    return ControlledRounding(base, unbiased, time_limit)


def small_count_rounding(base: Base = 3) -> Any:
    """Round inner counts below the base to 0 or the base; all margins are sums of what is published, and near.

    Counts of the base and more do not change.
    """
    from discreet.protect.small_count_rounding import SmallCountRounding

    return SmallCountRounding(base)


COMMANDS = {
    "conventional-rounding": protects(
        conventional_rounding,
        {"discreet protect conventional-rounding religion.csv --base 5 -o rounded.csv": "to the nearest 5"},
        random=False,
        linked=True,
    ),
    "random-rounding": protects(
        random_rounding,
        {
            "discreet protect random-rounding religion.csv --base 3 -o rounded.csv": "the inner counts",
            "discreet protect random-rounding people.csv --by area,sex -o rounded.csv": "records: all margins too",
            "discreet protect random-rounding people.csv --by area,sex --additive -o r.csv": "margins are sums",
            "discreet protect random-rounding a.csv --linked b.csv --with-margins -o r.csv": "two tables, one total",
        },
        linked=True,
    ),
    "semi-controlled-rounding": protects(
        semi_controlled_rounding,
        {
            "discreet protect semi-controlled-rounding t.csv --totals area -o rounded.csv": "cells add up to areas",
        },
        linked=True,
    ),
    "controlled-rounding": protects(
        controlled_rounding,
        {
            "discreet protect controlled-rounding t.csv --base 5 -o rounded.csv": "all sums hold",
            "discreet protect controlled-rounding t.csv --hierarchy region=nuts.hrc -o r.csv": "groups of regions too",
            "discreet protect controlled-rounding t.csv --unbiased -o r.csv": "at random, without bias",
        },
        linked=True,
    ),
    "small-count-rounding": protects(
        small_count_rounding,
        {"discreet protect small-count-rounding t.csv --base 3 -o rounded.csv": "no 1 and no 2 is published"},
        random=False,
        linked=True,
    ),
}
