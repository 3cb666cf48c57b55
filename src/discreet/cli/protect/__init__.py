"""``discreet protect METHOD``: turn an original table into a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import ClassVar

from discreet.cli.compose import group
from discreet.cli.lazy_group import LazyGroup, Maker

WRITTEN = {
    "suppress": "suppress_command",
    "cell-key": "cell_key_command",
    "ptable": "cell_key_command",
    "redesign": "redesign_command",
    "chain": "chain_command",
    "sample-records": "microdata_command",
    "swap-records": "microdata_command",
    "simulation": "simulation_command",
}
"""Commands that are written by hand, and the names of their modules; all others are made of their methods' fields."""


PANELS = {
    "Hide or merge": ("suppress", "hide-and-round", "redesign"),
    "Round": (
        *("conventional-rounding", "random-rounding", "semi-controlled-rounding", "controlled-rounding"),
        "small-count-rounding",
    ),
    "Perturb": ("cell-key", "tabular-adjustment"),
    "Sample, swap or simulate people": (
        *("random-sample", "stratified-sample", "bernoulli-sample", "record-swapping", "table-swapping", "simulation"),
    ),
    "Combine": ("chain",),
    "Work on records, and design noise": ("sample-records", "swap-records", "ptable"),
}
"""The titles under which help lists commands; those of plug-ins are under the usual one."""


class Methods(LazyGroup):
    """A command for each method, by what it does, and those on records."""

    titles: ClassVar[Mapping[str, str]] = {name: title for title, listed in PANELS.items() for name in listed}

    def makers(self) -> Mapping[str, Maker]:
        """Return what makes each command."""
        from discreet.protect import METHODS

        return {name: partial(_command, name) for name in dict.fromkeys([*self.titles, *METHODS, *WRITTEN])}


def _command(name: str) -> Callable[..., object]:
    if name in WRITTEN:
        found: Callable[..., object] = import_module(f"discreet.cli.protect.{WRITTEN[name]}").COMMANDS[name]
        return found
    from discreet.cli.protect.method_fields import command_of
    from discreet.protect import METHODS

    return command_of(METHODS[name])


ABOUT = """Turn an original table into a release that can be audited and published.

Try it: discreet protect suppress --example religion --rule threshold=3"""
protect = group("protect", ABOUT, cls=Methods)
