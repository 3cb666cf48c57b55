"""The rules by name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from discreet.core.errors import RequestError, nearest
from discreet.rules.dominance import Dominance
from discreet.rules.p_percent import PPercent
from discreet.rules.pq import PQ
from discreet.rules.rule import Rule
from discreet.rules.threshold import Threshold

RULES: dict[str, type[Any]] = {rule.name: rule for rule in (Threshold, Dominance, PPercent, PQ)}
"""The rules that come with discreet."""
GROUP = "discreet.rules"
"""The entry points by which other packages add theirs."""


def rule_names() -> list[str]:
    """Return the names of all rules, those of other packages last."""
    return [*RULES, *(point.name for point in entry_points(group=GROUP) if point.name not in RULES)]


def rule_class(name: str) -> type[Any]:
    """Return what makes a rule of this name; those of other packages are found by their entry point."""
    if name in RULES:
        return RULES[name]
    found = next((point for point in entry_points(group=GROUP) if point.name == name), None)
    if found is None:
        raise RequestError(f"there is no rule {name!r}; {nearest(name, rule_names())}")
    loaded: type[Any] = found.load()
    return loaded


def get_rule(name: str, *parameters: Any, **named: Any) -> Rule:
    """Make a rule by its name.

    >>> get_rule("dominance", 2, 85)
    Dominance(n=2, k=85, level='contributor', weighted=False)
    """
    rule: Rule = rule_class(name)(*parameters, **named)
    return rule
