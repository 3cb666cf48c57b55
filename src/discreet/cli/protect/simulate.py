"""``discreet protect`` by simulation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.common import protects
from discreet.core.errors import RequestError


def simulation(
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="A margin that is released, as area,sex; once for each.")
    ] = None,
    keep_all: Annotated[
        int | None, typer.Option("--keep-all", help="Release all margins of this many dimensions; 1 by default.")
    ] = None,
    law: Annotated[str, typer.Option("--law", help="hypergeometric or uniform.")] = "hypergeometric",
    engine: Annotated[str, typer.Option("--engine", help="auto, sequential, counting or chain.")] = "auto",
) -> Any:
    """Publish margins, and inner counts drawn at random from all tables that have these margins.

    Under the hypergeometric law the draw is that of the log-linear model whose sufficient statistics the margins are;
    under the uniform law all tables with these margins are alike. The inner counts tell nothing that the margins do
    not.
    """
    from discreet.protect.simulation import Simulation

    if keep and keep_all is not None:
        raise RequestError("give either margins one by one (--keep) or all of some dimensions (--keep-all)")
    margins = tuple(tuple(options.names(text) or ()) for text in keep) if keep else keep_all
    return Simulation(margins, law, engine)  # type: ignore[arg-type]


COMMANDS = {
    "simulation": protects(
        simulation,
        {
            "discreet protect simulation religion.csv -o simulated.csv": "the totals of rows and columns",
            "discreet protect simulation t.csv --keep area,sex --keep sex,age -o s.csv": "two margins that share one",
            "discreet protect simulation t.csv --keep-all 2 --law uniform -o s.csv": "all two-way margins, even law",
        },
    ),
}
