"""Which cells are sensitive: rules applied to a tabulation, combined, with reasons and protection levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, Unpack

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Readable, columns, html_table
from discreet.reading.original import open_original
from discreet.reading.reading import Reading, ReadingOptions
from discreet.rules.cell_figures import CellFigures, cell_figures
from discreet.rules.rule import CustomRule, Finding, Judge, Mask, Rule, amount
from discreet.rules.rule_texts import as_rules
from discreet.table.tabulation import Tabulation
from discreet.table.units import LevelName

Combine: TypeAlias = Literal["any", "all"]


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Readable):
    """The sensitive cells of a tabulation under one or several rules.

    ``findings`` holds what each rule found in every cell; ``sensitive`` combines them. ``lower`` and ``upper`` are the
    protection levels, the widest that any rule which calls the cell sensitive asks for.
    """

    tabulation: Tabulation
    response: str | None
    combine: Combine
    rules: tuple[Rule, ...]
    figures: tuple[CellFigures, ...]
    findings: tuple[Finding, ...]
    sensitive: Mask
    lower: FloatArray
    upper: FloatArray
    COLUMNS: ClassVar[tuple[str, ...]] = ("value", "lower", "upper", "rules", "reason")
    """What :meth:`listed` says of a cell, after its codes."""

    @property
    def cells(self) -> IntArray:
        """The numbers of the sensitive cells."""
        return np.flatnonzero(self.sensitive)

    @property
    def statuses(self) -> dict[str, int]:
        """How many cells and totals there are of each status."""
        safe = int(np.count_nonzero((self.tabulation.records > 0) & ~self.sensitive))
        unsafe = int(np.count_nonzero(self.sensitive))
        return {"safe": safe, "sensitive": unsafe, "empty": self.tabulation.whole - safe - unsafe}

    @property
    def by_rule(self) -> dict[str, int]:
        """How many cells each rule calls sensitive."""
        return {r.title: int(f.sensitive.sum()) for r, f in zip(self.rules, self.findings, strict=True)}

    def broken(self, i: int) -> list[tuple[Rule, CellFigures, Finding]]:
        """Return the rules that call cell number i sensitive, with their figures."""
        parts = zip(self.rules, self.figures, self.findings, strict=True)
        return [part for part in parts if part[2].sensitive[i]]

    def reason(self, i: int) -> str:
        """Say why a cell is sensitive."""
        return "; ".join(rule.reason(figures, found, i) for rule, figures, found in self.broken(i))

    def worst(self, n: int | None = None) -> list[int]:
        """Return the sensitive cells, those that need the widest protection relative to their value first."""
        cells = self.cells
        value = np.abs(self.figures[0].value[cells])
        share = np.nan_to_num(self.upper[cells], nan=np.inf) / np.where(value > 0, value, 1.0)
        order: list[int] = cells[np.argsort(-share, kind="stable")].tolist()
        return order if n is None else order[:n]

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {
            "cells": self.tabulation.whole,
            "response": self.response,
            "combine": self.combine,
            "statuses": self.statuses,
            "rules": [
                {"rule": rule.name, "title": rule.title, "sensitive": int(found.sensitive.sum())}
                for rule, found in zip(self.rules, self.findings, strict=True)
            ],
            "sensitive": [self._cell(int(i)) for i in self.cells],
        }

    def listed(self, i: int) -> list[str | float | None]:
        """Return a sensitive cell as a row: its codes, then what :attr:`COLUMNS` names."""
        rules = " ".join(dict.fromkeys(rule.name for rule, _, _ in self.broken(i)))
        levels = [_plain(column[i]) for column in (self.figures[0].value, self.lower, self.upper)]
        return [*self.tabulation.label(i).values(), *levels, rules, self.reason(i)]

    def _cell(self, i: int) -> dict[str, Json]:
        broken = self.broken(i)
        return {
            "cell": self.tabulation.label(i),
            "rules": list(dict.fromkeys(rule.name for rule, _, _ in broken)),
            "value": _plain(self.figures[0].value[i]),
            "lower": _plain(self.lower[i]),
            "upper": _plain(self.upper[i]),
            "reason": self.reason(i),
            "figures": [
                {
                    "rule": rule.title,
                    "figure": _plain(found.figure[i]),
                    "limit": _plain(found.limit[i]),
                    "excess": _plain(found.excess[i]),
                }
                for rule, _, found in broken
            ],
        }

    @property
    def sentence(self) -> str:
        """How many cells are sensitive, in words."""
        unsafe, every = self.statuses["sensitive"], self.tabulation.whole
        share = f" ({unsafe / every:.1%})" if every else ""
        what = f" of {self.response}" if self.response else ""
        cells = "cells and totals" if len(self.tabulation.margins) > 1 else "cells"
        return f"{unsafe:,} of {every:,} {cells}{what} {'is' if unsafe == 1 else 'are'} sensitive{share}"

    def rows(self, n: int | None = 20) -> list[list[str]]:
        """Return the sensitive cells as rows of text: cell, value, protection levels, reason."""
        return [
            [
                ", ".join(self.tabulation.label(i).values()),
                amount(float(self.figures[0].value[i])),
                _levels(float(self.lower[i]), float(self.upper[i])),
                self.reason(i),
            ]
            for i in self.worst(n)
        ]

    @property
    def _header(self) -> list[str]:
        return [", ".join(self.tabulation.names), "value", "protection", "reason"]

    def __str__(self) -> str:
        """Return the counts and the sensitive cells with their reasons."""
        parts = [f"{title}: {count:,}" for title, count in self.by_rule.items()]
        head = f"{self.sentence}\n{', '.join(parts)}"
        rows = self.rows()
        if not rows:
            return head
        more = len(self.cells) - len(rows)
        return f"{head}\n{columns(self._header, rows, left=4)}" + (f"\n… and {more:,} more" if more > 0 else "")

    def _repr_html_(self) -> str:
        return html_table(self._header, self.rows(), left=4, caption=self.sentence)


def judged_cells(tabulation: Tabulation, rules: Sequence[Rule | Callable[[CellFigures], object]]) -> Tabulation:
    """Return the cells that rules judge, empty cells among them where a rule calls these unsafe."""
    empty = any(getattr(rule, "zeros", "safe") == "unsafe" for rule in rules)
    return tabulation.with_empty_cells() if empty else tabulation


def sensitivity(
    tabulation: object,
    rules: Sequence[Judge | str] | Judge | str,
    *,
    combine: Combine = "any",
    **reading: Unpack[ReadingOptions],
) -> Sensitivity:
    """Judge every cell and margin of a tabulation by the agency's rules.

    Args:
        tabulation: the cells with their largest contributions: a tabulation, a table of counts, a file or a frame.
        rules: rules with their parameters, as objects or texts (``"threshold=3"``, ``"p=10"``, ``"dominance=2,85"``); a
            function of the figures serves as a rule too.
        combine: a cell is sensitive if ``"any"`` rule says so, or only if ``"all"`` of them do.
        reading: how a file or frame is read, as for :func:`discreet.assess`; ``response`` is the magnitude to judge,
            where there are several.

    >>> import pandas as pd
    >>> from discreet.rules import Dominance
    >>> from discreet.tabulation import tabulate
    >>> firms = pd.DataFrame({"cell": ["a"] * 3 + ["b"] * 3, "x": [59, 40, 1, 61, 20, 19]})
    >>> table = tabulate(firms, ["cell"], value="x", margins=[["cell"]])
    >>> sensitivity(table, [Dominance(1, 60)]).sensitive.tolist()
    [False, True]
    >>> sensitivity(table, "p=10").sensitive.tolist()
    [True, False]
    """
    listed = as_rules(rules)
    if not listed:
        raise RequestError("no rule is given; name at least one, for example the p% rule")
    if combine not in ("any", "all"):
        raise RequestError(f"combine is {combine!r}; give 'any' or 'all'")
    opened = open_original(tabulation, Reading.of(reading, sensitivity))
    cells, response = opened.tabulation(), opened.response
    judges: list[Rule] = [CustomRule(rule) if callable(rule) else rule for rule in listed]
    seen: dict[tuple[LevelName, bool], CellFigures] = {}
    figures, findings = [], []
    for rule in judges:
        key = (rule.level, rule.weighted)
        if key not in seen:
            seen[key] = cell_figures(cells, response, level=rule.level, weighted=rule.weighted)
        figures.append(seen[key])
        findings.append(rule.judge(seen[key]))
    masks = np.stack([found.sensitive for found in findings])
    sensitive: Mask = np.asarray(masks.any(axis=0) if combine == "any" else masks.all(axis=0))
    lower = np.fmax.reduce([found.lower for found in findings])
    upper = np.fmax.reduce([found.upper for found in findings])
    # A user's own rule may set no level; where only such rules are broken there is none.
    unknown = sensitive & np.all([np.isnan(f.upper) | ~f.sensitive for f in findings], axis=0)
    lower, upper = (np.where(unknown, np.nan, np.where(sensitive, level, 0.0)) for level in (lower, upper))
    name = cells.responses[cells.response(response)].name if cells.responses else None
    return Sensitivity(cells, name, combine, tuple(judges), tuple(figures), tuple(findings), sensitive, lower, upper)


def _plain(value: float) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number


def _levels(lower: float, upper: float) -> str:
    if np.isnan(upper):
        return "–"
    return f"±{amount(upper)}" if lower == upper else f"−{amount(lower)} +{amount(upper)}"
