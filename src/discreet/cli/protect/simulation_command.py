"""``discreet protect simulation``: which margins are released."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from discreet.cli import options
from discreet.cli.compose import option
from discreet.cli.protect.method_fields import command_of
from discreet.core.errors import RequestError
from discreet.protect.simulation import Simulation


def _kept(
    made: Callable[..., Simulation],
    keep: Annotated[list[str] | None, option("A margin to release, such as area,sex; repeat it.")] = None,
    keep_all: Annotated[int | None, option("Release all margins of this many dimensions; 1 by default.")] = None,
) -> Simulation:
    if keep and keep_all is not None:
        raise RequestError("give either margins one by one (--keep) or all of some dimensions (--keep-all)")
    return made(margins=options.margins(keep) if keep else keep_all)


COMMANDS = {"simulation": command_of(Simulation, _kept)}
