"""``discreet protect chain``: several methods one after the other, as one protection."""

from __future__ import annotations

from typing import Annotated

from discreet.cli.compose import option
from discreet.cli.protect.common import protects
from discreet.core.errors import RequestError
from discreet.protect.base import Method
from discreet.protect.chain import Chain
from discreet.protect.usage import Usage


def chain(
    step: Annotated[list[str] | None, option("NAME:KEY=VALUE,… of a step, in their order; repeat it.")] = None,
) -> Method:
    """Make the chain."""
    from discreet.decide.protections import make_method

    if not step:
        raise RequestError("no step is named; give two or more (--step table-swapping:rate=0.1)")
    return make_method("chain", {"steps": step})


_USAGE = Usage.of(Chain)
chain.__doc__ = _USAGE.help.replace("``", "")
COMMANDS = {"chain": protects(chain, _USAGE.examples)}
