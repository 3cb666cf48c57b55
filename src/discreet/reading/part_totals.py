"""Totals that are of some categories only: which of them a table has, and what they are the totals of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import RequestError
from discreet.reading.reading import Reading
from discreet.table.arrow_files import read_arrow
from discreet.table.hierarchy import Hierarchy, part_tree


def part_totals(source: Any, how: Reading) -> dict[str, str]:
    """Return which totals of parts a long file has, by dimension."""
    if not how.parts:
        return {}
    if not isinstance(source, str | Path):
        raise RequestError("totals of parts are looked for in files; give a table of its own (Tabulation.as_part)")
    columns = read_arrow(source, **how.text)
    found = {}
    for name, codes in how.parts.items():
        labels = set(map(str, columns[name].to_pylist())) if name in columns.column_names else set()
        here = [code for code in codes if code in labels]
        if here and (len(here) > 1 or how.total in labels):
            both = " and ".join(repr(code) for code in [*here, how.total][:2])
            raise RequestError(f"{source}: dimension {name!r} has the totals {both}; a table has one")
        if here:
            found[name] = here[0]
    return found


def trees_of_part(name: str, total: str | None, trees: Sequence[Hierarchy], parts: Sequence[str]) -> list[Hierarchy]:
    """Return the trees of a dimension of a table that has the total of a part, or has none."""
    if total is None:
        return [tree for tree in trees if not set(parts) & set(tree.codes)]
    return [part_tree(name, [total], trees)] if trees else []
