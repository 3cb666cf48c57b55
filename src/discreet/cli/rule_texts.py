"""Sensitivity rules as the command line names them: ``p=10``, ``pq=10,50``, ``dominance=2,85``, ``threshold=3``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.rules.rule import Rule

SHORT = {"p": "p_percent"}
"""Short names of rules."""


def rules_of(texts: list[str] | None, level: str = "contributor") -> list[Rule]:
    """Read rules with their parameters.

    >>> rules_of(["p=10", "dominance=2,85"])
    [PPercent(p=10.0, coalition=1, level='contributor', weighted=False), Dominance(n=2, k=85.0, level='contributor', \
weighted=False)]
    """
    from discreet.rules import get_rule

    if level not in ("contributor", "holding", "both"):
        raise RequestError(f"level is {level!r}; it is 'contributor', 'holding' or 'both'")
    found = []
    for text in texts or ():
        name, equals, rest = text.partition("=")
        try:
            numbers: list[Any] = [float(number) for number in rest.split(",")]
        except ValueError:
            numbers = []
        if not equals or not numbers:
            raise RequestError(f"--rule is {text!r}; give a rule with its numbers, as p=10 or dominance=2,85")
        if name == "dominance" and numbers[0].is_integer():
            numbers[0] = int(numbers[0])
        for one in ["contributor", "holding"] if level == "both" else [level]:
            try:
                found.append(get_rule(SHORT.get(name, name), *numbers, level=one))
            except TypeError:
                raise RequestError(f"--rule is {text!r}, with more or fewer numbers than the rule has") from None
    return found
