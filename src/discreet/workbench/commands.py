"""The commands that the page may run, described by the command line itself, and the arguments that they get."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from discreet.core.errors import RequestError, nearest
from discreet.core.json_types import Json

OFFERED = (
    "inspect",
    "tabulate",
    "risk",
    "estimate",
    "rules",
    "audit",
    "protect",
    "assess",
    "compare",
    "ledger",
    "plan",
)
"""Commands that the page may run; those with subcommands offer all of them."""
WITHHELD = frozenset({"json", "help", "workers", "browser", "ledger"})
"""Options that the server sets itself, or that concern the machine."""
PLAN = "plan"
"""The command whose files name other files: it runs only with plans that were named when the workbench was started."""
BEYOND = {
    "tabulate": frozenset({"query", "table", "engine", "memory"}),
    "plan run": frozenset({"publish", "previous", "key"}),
}
"""Options by which a command could reach beyond the folder of the session."""


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command, as its help describes it."""

    name: str
    flag: str
    kind: str
    help: str
    default: object
    required: bool
    several: bool
    panel: str


@dataclass(frozen=True)
class Command:
    """One command with its parameters; some are handed the ledger that the workbench was started with."""

    path: tuple[str, ...]
    help: str
    parameters: tuple[Parameter, ...]
    ledger: bool = False

    @property
    def name(self) -> str:
        """The command as it is typed."""
        return " ".join(self.path)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data for the page."""
        return {"name": self.name, "help": self.help, "parameters": [dict(vars(one)) for one in self.parameters]}


def commands_of(tree: Any) -> dict[str, Command]:
    """Return the commands that the page may run, from the command line's own tree, a click group."""
    offered = [(name, tree.commands[name]) for name in OFFERED if name in tree.commands]
    return {one.name: one for name, command in offered for one in _walk((name,), command)}


def _walk(path: tuple[str, ...], command: Any) -> Iterator[Command]:
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from _walk((*path, name), child)
        return
    hidden = WITHHELD | BEYOND.get(" ".join(path), frozenset())
    parameters = tuple(_parameter(one) for one in command.params if one.name not in hidden)
    ledger = any(one.name == "ledger" for one in command.params)
    yield Command(path, (command.help or "").split("\n\n")[0], parameters, ledger)


def _parameter(one: Any) -> Parameter:
    argument = one.param_type_name == "argument"
    annotation = one.type_descriptor.annotation
    held = get_args(annotation)[0] if get_args(annotation) else annotation
    kind = {Path: "file", bool: "flag", int: "integer", float: "number"}.get(held, "text")
    plain = one.default is None or isinstance(one.default, str | int | float | bool)
    return Parameter(
        str(one.name),
        "" if argument else next((text for text in one.opts if text.startswith("--")), one.opts[0]),
        kind,
        re.sub(r"\[/?[a-z]+\]", "", one.help or ""),
        one.default if plain else str(one.default),
        bool(one.required),
        bool(one.multiple or one.nargs == -1),
        one.rich_help_panel or "",
    )


def arguments_of(command: Command, given: Mapping[str, object]) -> list[str]:
    """Return the command line for values by parameter, each bound to its own option.

    Options are written as ``--option=value``, and arguments follow ``--``, so no value is taken for an option.

    >>> spec = Command(("risk",), "", (Parameter("table", "", "file", "", None, False, False, ""),))
    >>> arguments_of(spec, {"table": "religion.csv"})
    ['risk', '--json', '--', 'religion.csv']
    """
    known = {one.name: one for one in command.parameters}
    options: list[str] = []
    positional: list[str] = []
    for name, value in given.items():
        if name not in known:
            raise RequestError(f"{command.name} has no parameter {name!r}; {nearest(str(name), list(known))}")
        if value is None or value is False or value == "":
            continue
        (options if known[name].flag else positional).extend(_words(known[name], value))
    return [*command.path, *options, "--json", *(["--", *positional] if positional else [])]


def _words(one: Parameter, value: object) -> Iterator[str]:
    """Go through the words of a command line that give a parameter its values."""
    values = value if isinstance(value, list) else [value]
    if len(values) > 1 and not one.several:
        raise RequestError(f"{one.name} takes one value, and {len(values)} were given")
    for item in values:
        if one.kind == "flag":
            if item is not True:
                raise RequestError(f"{one.name} is on or off; {item!r} is neither")
            yield one.flag
        elif not isinstance(item, str | int | float):
            raise RequestError(f"{one.name} is {type(item).__name__}; give text or a number")
        else:
            text = plain_name(str(item)) if one.kind == "file" else str(item)
            yield f"{one.flag}={text}" if one.flag else text


def plain_name(text: str) -> str:
    """Refuse anything but the name of a file in the folder; where a name leads is checked when it is opened.

    >>> plain_name("nuts.hrc")
    'nuts.hrc'
    """
    if Path(text).name != text or "\\" in text or "\0" in text or text.startswith(("-", "~")) or text in (".", ".."):
        raise RequestError(f"{text!r} is not a file of this session; open the file first")
    return text


def repeated(commands: Mapping[str, Command], arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a saved step if the page could have given them, and refuse them otherwise.

    >>> repeated({}, ["workbench", "--no-browser"])
    Traceback (most recent call last):
    discreet.core.errors.RequestError: the saved session runs 'workbench --no-browser', which the workbench does not
    """
    whole = " ".join(arguments)
    command = next((one for one in commands.values() if tuple(arguments[: len(one.path)]) == one.path), None)
    if command is None or command.path[0] == PLAN:
        raise RequestError(f"the saved session runs {whole[:60]!r}, which the workbench does not")
    words = list(arguments[len(command.path) :])
    at = words.index("--") if "--" in words else len(words)
    flags = {one.flag: one for one in command.parameters if one.flag}
    for word in words[:at]:
        flag, equals, value = word.partition("=")
        one = flags.get(flag)
        if word != "--json" and (one is None or (equals == "") != (one.kind == "flag")):
            raise RequestError(
                f"the saved session runs {whole[:60]!r} with {word[:60]!r}, which the page does not offer"
            )
        if one is not None and one.kind == "file":
            plain_name(value)
    for word in words[at + 1 :]:
        plain_name(word)
    return list(arguments)


def shown(arguments: Sequence[str]) -> str:
    """Return a command as a person would type it: without ``--json`` and ``--``, quoted where needed.

    >>> shown(["audit", "--json", "--", "my table.csv"])
    "discreet audit 'my table.csv'"
    """
    return shlex.join(["discreet", *(part for part in arguments if part not in ("--json", "--"))])
