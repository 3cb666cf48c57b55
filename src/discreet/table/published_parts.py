"""The published tables of releases, and which of them were drawn together."""

from __future__ import annotations

from typing import Any

from discreet.core.errors import RequestError
from discreet.table.figures import Figures
from discreet.table.release import Release
from discreet.table.table import Table


def parts_of(releases: Any) -> tuple[Figures, ...]:
    """Return the published tables of a release, of several, or of tables taken as published exactly.

    Sums of published figures are left out: they tell nothing.
    """
    several = [releases] if isinstance(releases, Release | Figures | Table) else list(releases)
    parts: list[Figures] = []
    for item in several:
        if isinstance(item, Figures):
            parts.append(item)
        elif isinstance(item, Release | Table):
            parts += (Release(item, "as published") if isinstance(item, Table) else item).parts()
        else:
            raise RequestError(f"a {type(item).__name__} is no release; give releases, figures or tables")
    if not parts:
        raise RequestError("there is nothing to audit; give at least one release")
    return tuple(part.telling() for part in parts)


def draws_of(releases: Any) -> tuple[int, ...]:
    """Return for every published table the number of the draw that it was made by.

    The tables of one release were drawn together, so that a figure that several show is one figure; so were all that
    were perturbed by the keys of their records. Other releases were drawn on their own.
    """
    several = [releases] if isinstance(releases, Release | Figures | Table) else list(releases)
    found: list[int] = []
    keyed: dict[str, int] = {}
    for number, item in enumerate(several):
        draw = number
        if isinstance(item, Release) and item.parameters.get("keys") == "records":
            draw = keyed.setdefault(item.method, number)
        found += [draw] * len(parts_of(item))
    return tuple(found)
