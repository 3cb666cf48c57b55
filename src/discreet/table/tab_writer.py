"""Releases as files of τ-ARGUS: a ``.tab`` file of published cells, its ``.rda`` file, and ``.hrc`` files.

Every line has the codes of a cell, its figure, x in place of a hidden one, and a status: S (shown), E (empty) or M
(suppressed, above 0). Unlike the ``.tab`` files that agencies keep, it holds no suppressed value, no number of
contributors, and does not say which suppressions are primary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.core.errors import RequestError
from discreet.table.figures import Figures, decimal_texts
from discreet.table.kinds import Marked

SEPARATOR, HIDDEN_FIGURE = ";", "x"
ODD = re.compile(r'["\r\n\x00-\x1f]|^[@<\s]|\s$|^$')
"""What a code of τ-ARGUS cannot have."""


def rda_text(
    separator: str, dimensions: Sequence[tuple[str, str, str | None]], columns: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """Return the metadata of a ``.tab`` file.

    Args:
        separator: what separates the fields.
        dimensions: for each its name, the code of its total, and the name of its ``.hrc`` file if it has one.
        columns: for each other variable its name and keywords.
    """
    lines = [f'   <SEPARATOR> "{separator}"']
    for name, total, hierarchy in dimensions:
        lines += [name, "    <RECODEABLE>", f'    <TOTCODE> "{total}"']
        if hierarchy is not None:
            lines += ["    <HIERARCHICAL>", f'    <HIERCODELIST> "{hierarchy}"', '    <HIERLEADSTRING> "@"']
    for variable, keywords in columns:
        lines += [variable, *(f"    {keyword}" for keyword in keywords)]
    return "\n".join(lines) + "\n"


def hierarchy_name(file: Path, dimension: str) -> str:
    """Return the name of the ``.hrc`` file of a dimension beside a ``.tab`` file."""
    return f"{file.stem}_{''.join(c if c.isalnum() else '_' for c in dimension)}.hrc"


def tab_files(part: Figures, file: Path, about: Mapping[str, object]) -> list[tuple[Path, str]]:
    """Return the files of a published table and what they hold, the ``.tab`` file last; refuse what they cannot say."""
    part = _shown(part)
    _refuse(part, about)
    dimensions: list[tuple[str, str, str | None]] = []
    found: list[tuple[Path, str]] = []
    for name in part.names:
        trees = part.hierarchies.get(name, ())
        total, named = (trees[0].total if trees else part.total), None
        if trees and trees[0].depth > 1:
            named = hierarchy_name(file, name)
            found.append((file.with_name(named), trees[0].to_hrc()))
        dimensions.append((name, total, named))
    columns = [("Value", ["<NUMERIC>", f"<DECIMALS> {part.decimals}"]), ("Status", ["<STATUS>"])]
    coded = zip(part.labels.values(), part.codes.T, strict=True)
    labels = [[f'"{listed[code]}"' for code in codes] for listed, codes in coded]
    values = np.where(part.hidden, HIDDEN_FIGURE, decimal_texts(part.values, part.decimals)).tolist()
    status = np.where(part.hidden, "M", np.where(part.values == 0, "E", "S")).tolist()
    rows = "".join(f"{SEPARATOR.join(row)}\n" for row in zip(*labels, values, status, strict=True))
    return [*found, (file.with_suffix(".rda"), rda_text(SEPARATOR, dimensions, columns)), (file, rows)]


def _shown(part: Figures) -> Figures:
    """Return a table that shows all cells down to some level without the finer levels, which it does not publish."""
    if part.absent == "empty" or len(part) < math.prod(len(labels) for labels in part.labels.values()):
        return part
    trees = {name: tuple(tree.among(part.labels[name]) for tree in found) for name, found in part.hierarchies.items()}
    return replace(part, absent="empty", hierarchies=trees)


def _refuse(part: Figures, about: Mapping[str, object]) -> None:
    """Refuse a release of which a ``.tab`` file would say something else, or less."""
    for kind in part.used:
        if not kind.exact and kind != Marked(least=1):
            raise RequestError(f"a .tab file cannot say that figures are {kind.phrase}; write .csv, .xlsx or .parquet")
    if about["trial"]:
        raise RequestError("a .tab file cannot say that this is a trial; write .csv, .xlsx or .parquet")
    for name, trees in part.hierarchies.items():
        if len(trees) > 1 or trees[0].part:
            raise RequestError(f"dimension {name!r} has hierarchies that a .tab file has no room for; write .parquet")
    if part.absent != "empty":
        raise RequestError("a .tab file cannot say that cells without a line are not published; write .parquet")
    if (strange := next((one for one in part.names if not re.fullmatch(r"[^\s\"<>]+", one)), None)) is not None:
        raise RequestError(f"dimension {strange!r} has a name that τ-ARGUS does not take; rename it, or write .csv")
    for labels in part.labels.values():
        if (odd := next((label for label in labels if ODD.search(label)), None)) is not None:
            raise RequestError(f"category {odd!r} is not a code that τ-ARGUS takes; rename it, or write .csv")
