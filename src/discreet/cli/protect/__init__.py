"""``discreet protect METHOD``: turn an original table into a release."""

from __future__ import annotations

import typer

from discreet.cli.protect import adjust, cell_key, hide, redesign, rounding, sample, simulate, suppress, swap

protect = typer.Typer(
    name="protect",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Turn an original table into a release that can be audited and published.",
)
for module in (suppress, rounding, hide, cell_key, redesign, adjust, sample, swap, simulate):
    for name, command in module.COMMANDS.items():
        protect.command(name)(command)
