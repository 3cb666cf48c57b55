"""``discreet protect METHOD``: turn an original table into a release."""

from __future__ import annotations

from typing import Any, cast

import typer
from typer.core import TyperGroup


class Methods(TyperGroup):
    """A command for each method, and those on records, made once a command is asked for."""

    _commands: dict[str, Any] | None = None

    @property
    def commands(self) -> Any:
        """The commands by name, those of methods in the order of the registry."""
        if self._commands is None:
            from discreet.cli.protect import cell_key, microdata, redesign, simulation, suppress
            from discreet.cli.protect.method_fields import command_of
            from discreet.protect import METHODS

            modules = (suppress, cell_key, redesign, microdata, simulation)
            written = {name: made for module in modules for name, made in module.COMMANDS.items()}
            every = {name: written.pop(name, None) or command_of(METHODS[name]) for name in METHODS} | written
            group = typer.Typer(rich_markup_mode="rich")
            for name, command in every.items():
                group.command(name)(command)
            self._commands = cast("Any", typer.main.get_command(group)).commands
        return self._commands

    @commands.setter
    def commands(self, none: Any) -> None:
        """There are none before they are asked for."""


protect = typer.Typer(
    name="protect",
    cls=Methods,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Turn an original table into a release that can be audited and published.",
)
