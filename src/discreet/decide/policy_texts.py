"""Policies in TOML: named profiles, files, inheritance, and faults with their lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from discreet.core.errors import RequestError, nearest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NONE = "none"
"""The value by which a policy removes a setting of the policy that it extends."""


def profiles() -> dict[str, str]:
    """Return the named profiles with their titles.

    >>> "default" in profiles()
    True
    """
    found = sorted(
        (item.name.removesuffix(".toml"), item) for item in _folder().iterdir() if item.name.endswith(".toml")
    )
    return {name: str(tomllib.loads(item.read_text(encoding="utf-8")).get("title", "")) for name, item in found}


def open_policy(source: str | Path, folder: Path = Path(".")) -> tuple[str, str, Path]:
    """Return the text of a profile or a file, its name, and the folder in which it looks for others."""
    name = str(source)
    if isinstance(source, str) and not name.endswith(".toml"):
        known = list(profiles())
        if name not in known:
            raise RequestError(f"there is no policy {name!r}; {nearest(name, known)}, or name a .toml file")
        return (_folder() / f"{name}.toml").read_text(encoding="utf-8"), name, Path(".")
    path = folder / source
    try:
        return path.read_text(encoding="utf-8"), name, path.parent
    except FileNotFoundError:
        raise RequestError(
            f"{path} does not exist; name a policy file, or a profile: {', '.join(profiles())}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read ({error}); give a TOML file in UTF-8") from None


def _folder() -> Traversable:
    return files("discreet.decide") / "profiles"


def stated(
    text: str, name: str, folder: Path, check: Callable[[str, str, Path], object], trail: tuple[str, ...] = ()
) -> dict[str, object]:
    """Return what a policy in TOML states, laid over the one that it extends: lists whole, tables key by key.

    The extended policy is looked up in the folder; ``check`` gets the text, name and folder of every file that is
    extended, and reports faults with their lines.
    """
    try:
        own = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{name} is not TOML: {error}; correct the file") from None
    above = own.pop("extends", None)
    if above is None:
        return _merged({}, own)
    if not isinstance(above, str):
        raise RequestError(f'{name}: extends is {above!r}; name one profile or file, as extends = "default"')
    if above in trail or above == name:
        raise RequestError(f"{name}: policies extend each other in a circle: {' → '.join([*trail, name, above])}")
    upper, parent, place = open_policy(above, folder)
    base = stated(upper, parent, place, check, (*trail, name))
    if above not in profiles():
        # A fault of the policy above is reported with its own lines.
        check(upper, parent, place)
    return _merged({key: value for key, value in base.items() if key != "title"}, own)


def _merged(base: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    found = dict(base)
    for key, value in own.items():
        if value == NONE and key != "insiders":
            found.pop(key, None)
        elif isinstance(value, dict):
            under = base.get(key)
            found[key] = _merged(under if isinstance(under, dict) else {}, value)
        else:
            found[key] = value
    return found


def faults_in(error: ValidationError, text: str, keys: Mapping[tuple[str, ...], tuple[str, ...]]) -> str:
    """Return all faults of a policy in the order of their lines; `keys` are those that each table knows."""
    lines, found = key_lines(text), list[tuple[int, str]]()
    for fault in error.errors(include_url=False):
        where = tuple(str(part) for part in fault["loc"])
        line = next((lines[where[:n]] for n in range(len(where), 0, -1) if where[:n] in lines), 0)
        place = f"line {line}, {'.'.join(where)}" if line else ".".join(where) or "the policy"
        if fault["type"] == "extra_forbidden":
            table = tuple(part for part in where[:-1] if not part.isdigit())
            told = f"there is no such key; {nearest(where[-1], keys.get(table, keys[()]))}"
        else:
            told = str(fault["msg"]).removeprefix("Value error, ")
            given = fault.get("input")
            if fault["type"] != "value_error" and not isinstance(given, dict | list):
                told = f"is {given!r}; {told[:1].lower()}{told[1:]}"
        found.append((line, f"{place}: {told}"))
    return "; ".join(told for _, told in sorted(found, key=lambda fault: fault[0]))


HEAD = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
ENTRY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""Return the line of every key of a TOML text, by its path; entries of arrays of tables are numbered.

    The parser of the standard library does not keep lines. What is inside a value that runs over several lines
    has the line of its key.

    >>> key_lines('zeros = "safe"\n[limits]\nr2 = 0.3\n[[protections]]\nname = "x"')[("protections", "0", "name")]
    5
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    count: dict[tuple[str, ...], int] = {}
    open_ = 0
    for number, line in enumerate(text.splitlines(), start=1):
        bare = re.sub(r"\"[^\"]*\"|'[^']*'|#.*$", "", line)
        if open_ <= 0:
            head, entry = HEAD.match(line), ENTRY.match(line)
            if head:
                table = _path(head[2])
                if head[1] == "[[":
                    count[table] = count.get(table, -1) + 1
                    found.setdefault(table, number)
                    table = (*table, str(count[table]))
                found.setdefault(table, number)
                continue
            if entry:
                path = _path(entry[1])
                for n in range(1, len(path) + 1):
                    found.setdefault((*table, *path[:n]), number)
        open_ += bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
    return found


def _path(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in text.split("."))
