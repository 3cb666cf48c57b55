"""Help in two lengths: what most people need on one screen, and everything with ``--help-all``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.cli.typer_types import Command, Context, Parameter

PANELS = {"Reading the table", "Reading the records", "How the figures were published", "Short for --rule"}
"""Titles of options that files seldom need: a complaint about a file names the one that helps."""
OPTIONS = {
    *("holding", "weight", "statistics", "format", "presentation", "keep_formulas", "edition", "author", "date"),
    *("head_of", "trial", "workers", "apart", "coalition", "contribution", "insiders", "most", "relaxed"),
    *("verdict_only", "audits", "form", "slices", "key_range", "identify", "estimates", "shadow", "lead", "outside"),
    *("missing_code", "missing", "negative", "precision", "exact", "aggregate", "apriori", "levels", "status", "tab"),
    *("b", "c", "theta", "population_zeros", "revises", "beside", "fewest", "combine", "points"),
}
"""The names of further options that few people need."""
FEW = 6
"""Options that are not worth a second help."""
WHOLE = "--help-all"


def shorten(command: Command) -> None:
    """Have ``--help`` of a command leave out what few people need, unless its examples use it."""
    used = set((command.help or "").split())
    seldom = [one for one in command.params if _is_seldom(one) and not used & set(one.opts)]
    if len(seldom) < FEW:
        return
    whole = command.format_help
    told = f"{len(seldom)} more options, for unusual files and needs: [bold]{WHOLE}[/bold]"

    def short(context: Context, formatter: object) -> None:
        everything = WHOLE in context.find_root().obj.arguments
        command.epilog = None if everything else told
        with _hidden([] if everything else seldom):
            whole(context, formatter)

    command.format_help = short


def with_help(given: list[str]) -> list[str]:
    """Return a command line that asks for help in either length, as the libraries know it."""
    return ["--help" if word == WHOLE else word for word in given]


def _is_seldom(parameter: Parameter) -> bool:
    listed = getattr(parameter, "rich_help_panel", None) in PANELS or parameter.name in OPTIONS
    return listed and parameter.param_type_name == "option" and not parameter.hidden


@contextmanager
def _hidden(parameters: list[Parameter]) -> Iterator[None]:
    for one in parameters:
        one.hidden = True
    try:
        yield
    finally:
        for one in parameters:
            one.hidden = False
