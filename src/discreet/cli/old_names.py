"""Former names of options: a command line that has one is refused with the present name; old records are translated."""

from __future__ import annotations

from collections.abc import Sequence

SIZE = {"--population": "--population-size"}
KEY = {"--key": "--office-key"}
PUBLISHED = {"--rounded": "--published-as", "--base": "--published-as"}
SAMPLE = {"--n": "--sample-size"}
RENAMED = {
    "assess": {"--release": "--released", "--protect": "--method", **SIZE, **PUBLISHED},
    "audit": {"--bound": "--published-as", **PUBLISHED},
    "estimate": SIZE,
    "inspect": {"--cells": "--figures"},
    **{f"ledger {name}": KEY for name in ("add", "list", "check", "verify", "retag", "withdraw")},
    "plan run": KEY,
    "protect cell-key": {"--key": "--record-key", "--weights": "--largest-weights"},
    "protect controlled-rounding": {"--exact": "--nearest"},
    "protect hide-and-round": {"--limit": "--hide-up-to"},
    "protect random-sample": SAMPLE,
    "protect redesign": {"--limit": "--tries", "--max-risk": "--max-r1"},
    "protect sample-records": SAMPLE,
    "protect simulation": {"--law": "--table-law", "--engine": "--sampler"},
    "protect suppress": {"--method": "--search", "--levels": "--protection-levels", "--risk": "--max-dr"},
    "protect table-swapping": {"--keep": "--keep-all"},
    "protect tabular-adjustment": {"--weights": "--change-weights"},
    "report": {"--format": "--picture-format"},
    "risk": SAMPLE,
    "tabulate": {"--top": "--largest", "--margins": "--crossings", "--table": "--database-table"},
    "uniques sample": {"--model": "--loglinear", "--level": "--credible", "--records": "--record-risks", **SIZE},
    "uniques size": {"--bound": "--at-most", "--measure": "--criterion", **SIZE},
    "uniques sizes": {"--people": "--sample-size", "--level": "--credible", **SIZE},
}
"""The present name of an option by its command and former name."""
ARGUMENTS = {("protect suppress", "form"): "--as"}
"""Options that give an argument of Python, and were never called so."""


def named_now(command: str, option: str) -> str | None:
    """Return what an option of a command is called now, if it had another name.

    >>> named_now("discreet protect suppress", "--method"), named_now("discreet risk", "--method")
    ('--search', None)
    """
    return RENAMED.get(command.removeprefix("discreet ").strip(), {}).get(option)


def option_for(command: str, argument: str) -> str:
    """Return which option of a command gives an argument of Python: most are called as options once were.

    >>> option_for("protect suppress", "form"), option_for("protect hide-and-round", "limit")
    ('--as', '--hide-up-to')
    """
    flag = f"--{argument.replace('_', '-')}"
    return ARGUMENTS.get((command, argument)) or RENAMED.get(command, {}).get(flag, flag)


def present(arguments: Sequence[str]) -> list[str]:
    """Return the command line of a record with former names of options replaced.

    >>> present(["protect", "hide-and-round", "t.csv", "--limit=3", "--", "--limit"])
    ['protect', 'hide-and-round', 't.csv', '--hide-up-to=3', '--', '--limit']
    """
    names = RENAMED.get(" ".join(arguments[:2]), {})
    found: list[str] = []
    for place, part in enumerate(arguments):
        if part == "--":
            return [*found, *arguments[place:]]
        name, equals, value = part.partition("=")
        found.append(f"{names.get(name, name)}{equals}{value}")
    return found
