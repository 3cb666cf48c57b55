"""Former names of options, which still work but are no longer shown."""

from __future__ import annotations

from collections.abc import Sequence

SIZE = {"--population": "--population-size"}
RENAMED = {
    "assess": {"--release": "--released", **SIZE},
    "estimate": SIZE,
    "uniques": SIZE,
    "tabulate": {"--top": "--largest"},
}
"""The present name of an option by its command and former name."""


def present(arguments: Sequence[str]) -> list[str]:
    """Return a command line with former names of options replaced.

    >>> present(["assess", "t.csv", "--release=r.csv", "--", "--release"])
    ['assess', 't.csv', '--released=r.csv', '--', '--release']
    """
    names = RENAMED.get(arguments[0], {}) if arguments else {}
    found: list[str] = []
    for place, part in enumerate(arguments):
        if part == "--":
            return [*found, *arguments[place:]]
        name, equals, value = part.partition("=")
        found.append(f"{names.get(name, name)}{equals}{value}")
    return found
