"""Groups of commands, made when they are asked for: importing all of them takes longer than many of them run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import ClassVar

import typer
from typer.core import TyperGroup

from discreet.cli.plain_values import take_plainly
from discreet.cli.typer_types import Command, CommandsByName

Maker = Callable[[], "Callable[..., object] | typer.Typer"]


class LazyCommands(Mapping[str, Command]):
    """Commands by name; one is made when it is first looked up."""

    def __init__(self, makers: Mapping[str, Maker], titles: Mapping[str, str]) -> None:
        """Take what makes each command, a function with its options or a group, and where help lists it."""
        self._makers, self._titles, self._made = makers, titles, dict[str, Command]()

    def __getitem__(self, name: str) -> Command:
        """Return a command."""
        if name not in self._made:
            found = self._makers[name]()
            if isinstance(found, typer.Typer):
                self._made[name] = typer.main.get_group(found)
            else:
                alone = typer.Typer(rich_markup_mode="rich", add_completion=False)
                alone.command(name)(found)
                self._made[name] = typer.main.get_command(alone)
            self._made[name].rich_help_panel = self._titles.get(name)
            take_plainly(self._made[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names in their order."""
        return iter(self._makers)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._makers)


class LazyGroup(TyperGroup):
    """A group that says by :meth:`makers` what makes its commands."""

    homes: ClassVar[Mapping[str, str]] = {}
    """Commands and the modules that they come from, each under its own name."""
    titles: ClassVar[Mapping[str, str]] = {}
    """The titles under which help lists commands; the others are under the usual one."""
    _lazy: LazyCommands | None = None

    def makers(self) -> Mapping[str, Maker]:
        """Return what makes each command."""
        return {name: partial(_loaded, home, name) for name, home in self.homes.items()}

    @property
    def commands(self) -> CommandsByName:
        """The commands by name."""
        if self._lazy is None:
            self._lazy = LazyCommands(self.makers(), self.titles)
        return self._lazy

    @commands.setter
    def commands(self, none: object) -> None:
        """No command exists before it is asked for."""


def _loaded(home: str, name: str) -> Callable[..., object] | typer.Typer:
    found: Callable[..., object] | typer.Typer = getattr(import_module(home), name)
    return found
