"""``discreet protect hide-and-round``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.protect.common import protects


def hide_and_round(
    limit: Annotated[int, typer.Option("--limit", help="Counts from 1 to this are hidden.")] = 7,
    base: Annotated[int, typer.Option("--base", help="What the other figures are multiples of.")] = 5,
) -> Any:
    """Hide the counts from 1 to a limit, and round the others to the nearest multiple of a base, margins too.

    The mark of a hidden count says that it lies from 1 to the limit.
    """
    from discreet.protect.hide_and_round import HideAndRound

    return HideAndRound(limit, base)


COMMANDS = {
    "hide-and-round": protects(
        hide_and_round,
        {"discreet protect hide-and-round table.csv --limit 7 --base 5 -o release.csv": "1 to 7 hidden, others to 5"},
        random=False,
        linked=True,
    )
}
