"""What is wrong with a command line, in words: the libraries' own speak to programmers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.cli.old_names import named_now, option_for
from discreet.cli.option_kinds import range_text
from discreet.cli.typer_types import Context, Parameter, UsageError
from discreet.core.errors import nearest

NUMBERS = {"int": "an integer", "float": "a number"}
SAMPLES = {"--example": "religion"}
IN_POLICY = "rules and limits come from a policy, which --policy names: a profile, or a .toml file of your own"
ELSEWHERE = {
    (command, option): IN_POLICY
    for command in ("assess", "compare")
    for option in ("--rule", "--rules", "--threshold", "--max-dr", "--p", "--dominance")
}
"""What people look for in a command that takes it from elsewhere."""
BEFORE_FILES = {
    "discreet": "inspect",
    "discreet protect": "random-rounding",
    "discreet plan": "check",
    "discreet ledger": "check",
}
"""A command of each group that takes a file."""


def usage_text(error: UsageError, given: Sequence[str]) -> str:
    """Return what is wrong and what to do about it; the complaint itself where it is not known."""
    told = str(error.format_message()).rstrip(".")
    parameter, where = getattr(error, "param", None), getattr(error, "ctx", None)
    path = where.command_path if where is not None else _path(given)
    if (option := getattr(error, "option_name", None)) is not None:
        told = _about_option(option, where, told)
    elif type(error).__name__ == "MissingParameter" and parameter is not None:
        meant = (parameter.help or "").rstrip(".")
        told = f"{_name(parameter)} is missing ({meant[:1] if meant[1:2] == ',' else meant[:1].lower()}{meant[1:]})"
    elif type(error).__name__ == "BadParameter" and parameter is not None:
        told = _about_value(parameter, given, told)
    elif (unknown := re.match(r"No such command '(.*?)'", told)) is not None:
        known = list(where.command.list_commands(where)) if where is not None else []
        told = f"there is no command {unknown[1]!r}{_before_file(path, unknown[1]) or _meant(unknown[1], known)}"
    elif (extra := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", told)) is not None:
        told = f"{extra[1]!r} is more than the command takes; quote names with blanks"
    return f"{told} See {path} --help" if told.endswith("?") else f"{told}; see {path} --help"


def about_options(told: str, given: Sequence[str]) -> str:
    """Return a complaint about an argument of Python as one about the option that was given for it.

    >>> about_options("limit is 0; hide 1 or more", ["protect", "hide-and-round", "t.csv", "--hide-up-to", "0"])
    '--hide-up-to is 0; hide 1 or more'
    >>> about_options("t.csv: count is 'x'; correct it", ["risk", "t.csv"])
    "t.csv: count is 'x'; correct it"
    """
    typed = {word.partition("=")[0] for word in given}
    for size in (2, 1):
        for argument in re.findall(r"^(?:\S+: )?(?:the )?([a-z_]+) is ", told):
            flag = option_for(" ".join(given[:size]), argument)
            if flag in typed:
                return re.sub(rf"^((?:\S+: )?)(?:the )?{argument} is ", rf"\g<1>{flag} is ", told)
    return told


def _path(given: Sequence[str]) -> str:
    """Return the command that was meant, where the complaint does not say."""
    words = [word for word in given[:1] if re.fullmatch(r"[a-z][a-z-]*", word)]
    return " ".join(["discreet", *words])


def _about_option(option: str, where: Context, told: str) -> str:
    if "requires an argument" in told:
        sample = f", as {option} {SAMPLES[option]}" if option in SAMPLES else ""
        return f"{option} needs a value{sample}"
    if not told.startswith("No such option"):
        return told
    if where is not None and (present := named_now(where.command_path, option)) is not None:
        return f"{option} is called {present} now"
    if where is not None and (where.command_path.removeprefix("discreet "), option) in ELSEWHERE:
        return f"there is no option {option}; {ELSEWHERE[where.command_path.removeprefix('discreet '), option]}"
    listed = where.command.params if where is not None else ()
    known = [name for one in listed if not getattr(one, "hidden", False) for name in getattr(one, "opts", ())]
    return f"there is no option {option}{_meant(option, [name for name in known if name.startswith('--')])}"


def _before_file(path: str, word: str) -> str:
    """Say what to write before a file; nothing if the word does not look like one.

    >>> _before_file("discreet protect", "table.csv")
    '; name a command before the file, as in discreet protect random-rounding table.csv'
    """
    if not re.search(r"\.[a-z]+$", word, re.IGNORECASE) or path not in BEFORE_FILES:
        return ""
    return f"; name a command before the file, as in {path} {BEFORE_FILES[path]} {word}"


def _meant(name: str, known: list[str]) -> str:
    close = re.match(r"did you mean '(\S+)'\?", nearest(name, known))
    return f"; did you mean {close[1]}?" if close else ""


def _about_value(parameter: Parameter, given: Sequence[str], told: str) -> str:
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    wanted = next((text for name, text in NUMBERS.items() if name in re.findall(r"\w+", str(kind))), None)
    value = _value(parameter, given)
    if wanted is None or value is None:
        return f"{_name(parameter)}: {told.partition(': ')[2] or told}"
    within = range_text(getattr(parameter, "min", None), getattr(parameter, "max", None))
    return f"{_name(parameter)} is {value!r}; give {wanted}{f', {within}' if within else ''}"


def _value(parameter: Parameter, given: Sequence[str]) -> str | None:
    """Return what was given for an option, as it was typed."""
    for name in getattr(parameter, "opts", ()):
        for at, word in enumerate(given):
            if word == name and at + 1 < len(given):
                return given[at + 1]
            if word.startswith(f"{name}="):
                return word.partition("=")[2]
    return None


def _name(parameter: Parameter) -> str:
    return str(parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar or parameter.name)
