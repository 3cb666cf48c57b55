"""Sensitivity rules as texts: ``p=10``, ``pq=10,50``, ``dominance=2,85``, ``threshold=3``.

In full: ``NAME=NUMBERS[,SETTING=VALUE…][@LEVEL]``, in every command and function that takes rules.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence

from discreet.core.errors import RequestError, require
from discreet.core.registry import Registry
from discreet.core.text import many
from discreet.rules.dominance import Dominance
from discreet.rules.p_percent import PPercent
from discreet.rules.pq import PQ
from discreet.rules.rule import Judge, Rule
from discreet.rules.threshold import Threshold

RULES: Registry[Callable[..., Rule]] = Registry(
    "discreet.rules", "rule", {rule.name: rule for rule in (Threshold, Dominance, PPercent, PQ)}
)
"""All rules by name."""
SHORT = {"p": "p_percent"}
"""Names of rules that are shorter in texts."""
EXAMPLES = {one.partition("=")[0]: one for one in ("p=10", "pq=10,50", "dominance=2,85", "threshold=3", "group=0")}
LEVELS = ("contributor", "holding", "both")
SETTINGS = ("coalition", "safety_range", "weighted", "zeros")
"""What may be said of a rule beside its numbers."""


def as_rules(given: object) -> list[Judge]:
    """Return rules from rules, texts that name them, functions of one's own, or several of these.

    >>> as_rules("threshold=3")
    [Threshold(minimum=3, zeros='safe', safety_range=30.0, level='contributor', weighted=False)]
    """
    listed = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    found: list[Judge] = []
    for one in listed:
        if isinstance(one, str):
            found.extend(rules_of([one], "rules"))
        elif callable(one) or isinstance(one, Rule):
            found.append(one)
        else:
            raise RequestError(f"rules has {one!r}; give rules such as 'threshold=3', 'p=10' or 'dominance=2,85'")
    return found


def rules_of(texts: list[str] | None, said: str = "--rule") -> list[Rule]:
    """Read rules with their parameters.

    >>> rules_of(["p=10,coalition=2", "dominance=2,85@holding"])
    [PPercent(p=10, coalition=2, level='contributor', weighted=False), Dominance(n=2, k=85, level='holding', \
weighted=False)]
    """
    found, group = rules_and_group(texts, said)
    if group is not None:
        raise RequestError("lines with everybody in one cell (group=…) are found by discreet rules; leave it out here")
    return found


def rules_and_group(texts: list[str] | None, said: str = "--rule") -> tuple[list[Rule], int | None]:
    """Read rules, and how many conspire in group disclosure where that is asked for (``group=0``).

    Messages call them as they are ``said``.
    """
    found: list[Rule] = []
    group = None
    for text in texts or ():
        text_said = f"{said} is {text!r}"
        name, numbers, settings, level = _parts(text, text_said)
        if name != "group":
            for one in LEVELS[:2] if level == "both" else [level or LEVELS[0]]:
                found.append(_rule(text_said, name, numbers, {**settings, "level": one}))
        elif group is not None:
            raise RequestError(f"{text_said}, and group={group} is given too; give one of them")
        elif settings or level or len(numbers) != 1 or not isinstance(numbers[0], int) or numbers[0] < 0:
            raise RequestError(f"{text_said}; group takes one integer, 0 or more, as group=0")
        else:
            group = numbers[0]
    return found, group


def _parts(text: str, said: str) -> tuple[str, list[int | float], dict[str, str | float], str]:
    """Split a text into name, numbers, settings and level; the level is empty if none is named."""
    rule, at, level = text.partition("@")
    name, equals, rest = rule.partition("=")
    require([level] if at else [], LEVELS, f"{said}: there is no level")
    numbers: list[int | float] = []
    settings: dict[str, str | float] = {}
    for part in rest.split(","):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if sign:
            settings[key] = _setting(said, key, value)
        elif settings or (number := _number(key)) is None:
            equals = ""
            break
        else:
            numbers.append(number)
    if not equals or not name.strip():
        example = EXAMPLES.get(name.strip(), "p=10 or dominance=2,85")
        raise RequestError(f"{said}; give a rule with its numbers, as {example}")
    return name.strip().replace("-", "_"), numbers, settings, level


def _number(text: str) -> int | float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def _setting(said: str, key: str, value: str) -> str | float:
    require([key], SETTINGS, f"{said}: there is no setting")
    if key == "zeros":
        return value
    if key == "weighted":
        if value not in ("yes", "no"):
            raise RequestError(f"{said}: weighted is {value!r}; it is yes or no")
        return value == "yes"
    number = _number(value)
    if number is None:
        raise RequestError(f"{said}: {key} is {value!r}; give a number")
    return number


def _rule(said: str, name: str, numbers: list[int | float], named: dict[str, object]) -> Rule:
    known = [*EXAMPLES, *(one for one in RULES if one not in {*EXAMPLES, *SHORT.values()})]
    require([name], known, f"{said}: there is no rule")
    made = RULES[SHORT.get(name, name)]
    parameters = inspect.signature(made).parameters
    wanted = [one.name for one in parameters.values() if one.default is inspect.Parameter.empty]
    if len(numbers) != len(wanted):
        takes = f"{many(len(wanted), 'number')} ({', '.join(wanted)})"
        example = f", as {EXAMPLES[name]}" if name in EXAMPLES else ""
        raise RequestError(f"{said}, with {len(numbers)}; {name} takes {takes}{example}")
    stray = next((key for key in named if key not in parameters), None)
    if stray is not None:
        raise RequestError(f"{said}: {name} has no {stray}; leave it out")
    return made(*numbers, **named)
