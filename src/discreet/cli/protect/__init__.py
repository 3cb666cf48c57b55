"""``discreet protect METHOD``: turn an original table into a release."""

from __future__ import annotations

from typing import Any, cast

import typer
from typer.core import TyperGroup

from discreet.cli.protect import cell_key, redesign, sample, simulate, suppress, swap


class Methods(TyperGroup):
    """One command for each method: written by hand, or made from the method's fields once a command is asked for."""

    _commands: dict[str, Any]
    _complete: bool

    @property
    def commands(self) -> Any:
        """The commands by name."""
        if not self._complete:
            from discreet.cli.protect.from_fields import command_of
            from discreet.protect import METHODS

            plain = typer.Typer(rich_markup_mode="rich")
            for name in METHODS:
                if name not in self._commands:
                    plain.command(name)(command_of(METHODS[name]))
            made = {**cast("Any", typer.main.get_command(plain)).commands, **self._commands}
            self._commands = {name: made.pop(name) for name in METHODS} | made
            self._complete = True
        return self._commands

    @commands.setter
    def commands(self, written: Any) -> None:
        self._commands, self._complete = dict(written), False


protect = typer.Typer(
    name="protect",
    cls=Methods,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Turn an original table into a release that can be audited and published.",
)
for module in (suppress, cell_key, redesign, sample, swap, simulate):
    for name, command in module.COMMANDS.items():
        protect.command(name)(command)
