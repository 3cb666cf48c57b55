"""Commands composed from groups of options, each declared once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo

from discreet.cli.deadline import ending_within

LARGEST = 10**15
"""The largest number that an option takes, seeds apart: all sums of such numbers are exact."""


def option(help: str, *flags: str, panel: str | None = None, **more: Any) -> Any:
    """Return what describes an option; without flags it is called by the name of its parameter."""
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


def argument(help: str, metavar: str | None = None, **more: Any) -> Any:
    """Return what describes an argument."""
    return typer.Argument(help=help, metavar=metavar, **more)


def panel(title: str) -> Callable[..., Any]:
    """Return what describes options that help shows under a title."""
    return partial(option, panel=title)


def group(name: str, about: str, **more: Any) -> typer.Typer:
    """Return a group of commands that shows its help when it is called alone."""
    return typer.Typer(name=name, help=about, no_args_is_help=True, rich_markup_mode="rich", **more)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command; its docstring is the help."""
    return composed(function, explained(function))


def explained(function: Callable[..., object], examples: Mapping[str, str] | None = None) -> str:
    """Return the help of a command: what it is for, examples and what each does, then the other paragraphs, unbroken.

    The examples are by default those of the docstring: under ``Examples:``, a command line and a comment each.
    """
    text, _, listed = inspect.cleandoc(function.__doc__ or "").partition("\n\nExamples:\n")
    stated = re.findall(r"^    (\S.*?)\s+# (.*)$", listed, re.MULTILINE)
    first, *paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    # Lines begin with a style, since those that begin with blanks may lose them.
    shown = [f"[dim]  # {what}[/dim]\n[none]{folded(line)}[/none]" for line, what in (examples or dict(stated)).items()]
    return "\n\n".join([first, "[bold]Examples[/bold]", "\n".join(shown), *paragraphs])


def folded(line: str, width: int = 76) -> str:
    r"""Return a command line indented, and continued on further lines as a shell takes it where it is too long.

    >>> print(folded("discreet risk t.csv --weights '0.1, 0.8, 0.1' -o r.csv", 40))
      discreet risk t.csv \
          --weights '0.1, 0.8, 0.1' -o r.csv
    """
    if len(line) <= width:
        return f"  {line}"
    # An option stays with its value, and a quoted text in one piece.
    words = re.findall(
        r"-{1,2}[a-zA-Z][-a-z0-9]*(?: (?!-)(?:'[^']*'|\"[^\"]*\"|\S+))?|(?:'[^']*'|\"[^\"]*\"|\S)+", line
    )
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + (3 if len(lines) == 1 else 7) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return "  " + " \\\n      ".join(lines)


def composed(
    function: Callable[..., None], help: str, parameters: Sequence[inspect.Parameter] | None = None
) -> Callable[..., None]:
    """Return a command whose groups of options appear as single options on the command line.

    A group is a data class whose fields are options; a parameter annotated with it gets an instance. The command takes
    the parameters in the order of help, by default what the function's signature says.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values()) if parameters is None else parameters
    groups: dict[str, Any] = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}

    listed = [part for one in own for part in (_options_of(groups[one.name]) if one.name in groups else [one])]
    usual = {one.name: one.default for one in listed}.get("time_limit")

    @wraps(function)
    def run(**given: Any) -> None:
        limit = given.get("time_limit")
        for name, group in groups.items():
            given[name] = group(**{item.name: given.pop(item.name) for item in fields(group)})
        # A limit that nobody asked for is that of a search.
        with ending_within(limit if limit != usual else None):
            function(**given)

    run.__signature__ = inspect.Signature(list(map(_named, listed)))  # type: ignore[attr-defined]
    run.__doc__ = help
    return run


def parameter(name: str, annotation: object, default: object = MISSING) -> inspect.Parameter:
    """Return a parameter of a command."""
    given = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=given)


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return (parameter(item.name, hints[item.name], item.default) for item in fields(group))


def _named(one: inspect.Parameter) -> inspect.Parameter:
    """Name an option by its parameter if it has no flag; a switch gets no opposite, an output the letter o."""
    annotation = one.annotation
    info = next(iter(getattr(annotation, "__metadata__", ())), None)
    if isinstance(info, OptionInfo) and annotation.__origin__ in (int, int | None) and one.name != "seed":
        info = copy(info)
        info.max = min(LARGEST, info.max or LARGEST)
        annotation = Annotated[annotation.__origin__, info]
    if isinstance(info, OptionInfo) and info.default is ... and not info.param_decls:
        info = copy(info)
        info.param_decls = (f"--{one.name.replace('_', '-')}", *(["-o"] if one.name == "output" else []))
        annotation = Annotated[annotation.__origin__, info]
    return one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
