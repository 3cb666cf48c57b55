"""Cell suppression: sensitive cells are not published, nor are others from which they could be worked out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import DiscreetError, RequestError
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.core.text import choices
from discreet.protect.base import Changes, Original, Protected
from discreet.protect.suppression.fast import fast
from discreet.protect.suppression.insider_knowledge import Insiders, knowledge_of
from discreet.protect.suppression.lifting import CROSSINGS, fast_among_many, shown_only
from discreet.protect.suppression.pattern import Pattern
from discreet.protect.suppression.primary import COSTS, Wish, costs_of, demands_of, primary
from discreet.protect.suppression.problem import Beside, lay_out, name_of, state
from discreet.protect.suppression.rescue import UnprotectableError, explain
from discreet.protect.usage import UNLISTED, Usage, option
from discreet.rules.rule_texts import as_rules
from discreet.rules.sensitivity import Combine
from discreet.table import Table
from discreet.table.attacker import Attacker
from discreet.table.crossing_parts import crossing_parts
from discreet.table.figures import Figures, units_of
from discreet.table.kinds import Marked
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation, cells_and_totals

Effort: TypeAlias = Literal["fast", "optimal"]
Zeros: TypeAlias = Literal["published", "suppressible"]
SENSITIVE, SECONDARY, WHO = "Which cells are sensitive", "What is suppressed with them", "Who looks"
CHOICES = {"method": Effort, "zeros": Zeros, "insiders": Insiders, "combine": Combine}
MANY = 100_000
"""From so many entries of respondents on, what they know is worked out for hidden cells only, once these are known; the
search is then repeated as long as more are hidden. With fewer, knowing everything at once takes less time: a round
choice."""
MOST_BITS = 40
"""The widest intervals that a bound on the risk may require: 10¹² values. A round choice."""


@dataclass(frozen=True)
class Suppression:
    """Suppress the sensitive cells of a table, or of linked tables, and what could be used to work them out.

    Every sensitive cell keeps its protection levels: tables of integers that fit everything published have it as low as
    its value less the lower level, as high as its value plus the upper level, and as far apart as the sliding level,
    for outsiders and for every insider considered. A cell of several linked tables is one cell: all tables are
    protected in one problem.

    Args:
        rules: sensitivity rules, as objects or texts (``"threshold=3"``, ``"p=10"``); cells that any of them calls
            sensitive are primary suppressions, with its levels.
        wishes: cells that must be suppressed, with levels, or published, and costs of single cells.
        risk: cells whose disclosure risk 1/H is above this are sensitive, and kept so wide that it is not.
        levels: lower and upper level of every sensitive cell, in the unit published, instead of the rules' own.
        method: ``"fast"``, or ``"optimal"`` for a pattern with a proven gap.
        cost: ``"value"``, ``"cells"``, ``"log"``, ``"contributors"``, ``"records"``, or another magnitude of the table.
        zeros: whether cells of the value 0 are always ``"published"`` or ``"suppressible"``. Where they are published,
            every reader knows that a hidden value is not 0, and patterns are safe against that.
        insiders: whose own contributions are allowed for: ``"none"``, ``"singletons"`` alone in a cell,
            ``"respondents"`` of any suppressed cell; ``"auto"`` takes respondents for magnitudes, nobody for counts.
        attackers: further insiders, coalitions and holdings by name.
        combine: a cell is sensitive if ``"any"`` rule says so, or only if ``"all"`` of them do.
        response: the magnitude that is published; the only one by default.
        least: what readers know every hidden value to be at least; negative where values can be.
        statistics: columns of percentages and other statistics of the true values, for each table: they are published
            beside the figures, hidden ones among them, and the pattern is chosen with what they say in its equations.
        time_limit: seconds for all of it; the best safe pattern found by then is returned, with its gap.
    """

    rules: Any = field(default=(), metadata=option("", "--rule"))
    wishes: tuple[Wish, ...] = field(default=(), metadata=UNLISTED)
    risk: float | None = field(
        default=None,
        metadata=option("Cells with a disclosure risk 1/H above this are sensitive.", "--max-dr", SENSITIVE),
    )
    levels: tuple[float, float] | None = field(
        default=None,
        metadata=option(
            "LOWER,UPPER for all sensitive cells, instead of the rules' own.", "--protection-levels", SENSITIVE
        ),
    )
    method: Effort = field(default="fast", metadata=option("fast or optimal.", "--search", SECONDARY))
    cost: str = field(
        default="value",
        metadata=option("value, cells, log, contributors, records, or another magnitude.", panel=SECONDARY),
    )
    zeros: Zeros = field(default="published", metadata=option("published or suppressible.", panel=SECONDARY))
    insiders: Insiders = field(
        default="auto",
        metadata=option(
            "Respondents, each knowing all they contributed: auto (all known), respondents, singletons or none.",
            panel=WHO,
        ),
    )
    attackers: tuple[Attacker, ...] = field(default=(), metadata=UNLISTED)
    combine: Combine = field(default="any", metadata=UNLISTED)
    response: str | None = field(default=None, metadata=UNLISTED)
    least: float = field(default=0.0, metadata=option("What readers know values to be at least.", panel=WHO))
    statistics: tuple[Beside, ...] = field(default=(), metadata=UNLISTED)
    time_limit: float | None = field(
        default=None,
        metadata=option("Seconds; then the best safe pattern found is taken.", panel=SECONDARY),
    )
    name: ClassVar[str] = "suppress"
    usage: ClassVar[Usage] = Usage(
        "Suppress sensitive cells, and enough others that nobody can work them out.\n\n"
        "The result is audited before anything is written: a pattern that fails is never released. If cells cannot be "
        "protected as asked, those in conflict are named.",
        {
            "discreet protect suppress table.csv --rule threshold=3 -o release.csv": (
                "counts below 3, and others to protect them"
            ),
            "discreet protect suppress firms.parquet --rule p=10 --search optimal -o release.csv --status why.csv": (
                "p% rule, at the least cost, with the reason of every suppression"
            ),
            "discreet protect suppress as.parquet --linked ar.parquet --rule p=10@holding -o release.csv": (
                "two linked tables in one problem, at the level of holdings"
            ),
            "discreet protect suppress country.tab --linked east.tab --part region=East --rule p=10 -o release.csv": (
                "a table of some regions only, with a total of its own, beside one of all"
            ),
            "discreet protect suppress table.csv --rule threshold=3 --as intervals -o r.csv": "intervals, not marks",
        },
        random=False,
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "rules", tuple(as_rules(self.rules)))
        for name in ("wishes", "attackers"):
            given = getattr(self, name)
            object.__setattr__(self, name, tuple(given) if isinstance(given, Sequence) else (given,))
        for name, choice in CHOICES.items():
            given, known = getattr(self, name), get_args(choice)
            if given not in known:
                raise RequestError(f"{name} is {given!r}; give {choices(known)}")
        if not self.rules and not self.wishes and self.risk is None:
            raise RequestError(
                "nothing says which cells are sensitive; give a rule (rules=, --rule threshold=3), name "
                "cells (wishes=, --apriori), or bound the risk (risk=, --max-dr)"
            )
        if self.risk is not None and not self.risk > 0:
            raise RequestError(f"the bound on the risk is {self.risk}; give a number above 0")
        if self.risk is not None and 1 / self.risk > MOST_BITS:
            raise RequestError(f"a risk of at most {self.risk} asks for intervals of 2^{1 / self.risk:.0f} values")
        if self.levels is not None and not min(self.levels) >= 0:
            raise RequestError(f"the protection levels are {self.levels}; give two numbers of 0 or more")
        if self.time_limit is not None and not self.time_limit > 0:
            raise RequestError(f"the time limit is {self.time_limit}; give seconds above 0")
        if not math.isfinite(self.least):
            raise RequestError(f"values are said to be at least {self.least}; give a number (least=, --least)")
        if self.least > 0 and not self.above_zero:
            raise RequestError(
                f"hidden values are said to be at least {self.least:g}, but zeros may be hidden; let zeros be "
                "published (zeros=, --zeros), or leave the least out"
            )

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made; whether to disclose the rules is up to the agency."""
        return {"method": self.method, "cost": self.cost if self.cost in COSTS else "column", "form": "marks"}

    @property
    def above_zero(self) -> bool:
        """Whether zeros are always published, so no hidden value is 0; false if values can be negative."""
        return self.least >= 0 and not self.hides_zeros

    @property
    def hides_zeros(self) -> bool:
        """Whether zeros can be suppressed, because they may be or because a rule calls them unsafe."""
        return self.zeros == "suppressible" or any(getattr(rule, "zeros", "") == "unsafe" for rule in self.rules)

    def pattern(self, originals: Original | Sequence[Original], *, progress: Progress | None = None) -> Pattern:
        """Return what is suppressed and why, without publishing anything.

        Raises:
            InfeasibleError: if a sensitive cell cannot be protected; it says why, and which requests work.
            LimitError: if there is no safe pattern when time is up.
        """
        clock = Clock.within(self.time_limit)
        try:
            return self._found(originals, clock, progress)
        except UnprotectableError as error:
            if self.statistics:
                # There are other statistics to publish; what else would help is not looked for.
                raise
            raise UnprotectableError.of(error.why, error.anyway, self._remedies(originals, clock)) from None

    def _remedies(self, originals: Original | Sequence[Original], clock: Clock) -> list[str]:
        """Return changes to the request that protect every sensitive cell, each verified on the tables."""
        tried: list[tuple[str, Suppression]] = []
        if self.zeros == "published":
            text = "let zeros be suppressed, so a mark may be one (zeros='suppressible', --zeros suppressible)"
            tried.append((text, replace(self, zeros="suppressible", least=min(self.least, 0.0), method="fast")))
        others = tuple(wish for wish in self.wishes if wish.status != "publish")
        if len(others) < len(self.wishes):
            text = "allow cells to be suppressed that must be published now (wishes=, --apriori)"
            tried.append((text, replace(self, wishes=others, method="fast")))
        works = []
        for text, method in tried:
            try:
                method._found(originals, clock, None)
            except DiscreetError:
                continue
            works.append(text)
        return works

    def _found(self, originals: Original | Sequence[Original], clock: Clock, progress: Progress | None) -> Pattern:
        tables = tabulations(originals, self.hides_zeros)
        cells = lay_out(tables, self.response, self.least, self.above_zero, self.statistics, clock)
        found = [primary(table, self.rules, self.combine, self.response, self.risk, self.levels) for table in tables]
        demands, published, given = demands_of(cells, found, self.wishes, above_zero=self.above_zero)
        costs = costs_of(cells, self.cost, self.response, given)
        problem = state(cells, demands, costs, published, self.zeros == "suppressible")
        stuck = np.flatnonzero(demands.hidden & (problem.member < 0))
        if stuck.size:
            i = int(stuck[0])
            size = max(int(demands.lower[i]), int(demands.upper[i]), int(demands.sliding[i]))
            raise explain(problem, i, size, 0, clock=clock)
        known = partial(knowledge_of, cells, self.insiders, self.attackers, self.response, demands.sensitive)
        entries = sum(one.respondents.unit.size for one in tables if one.respondents is not None)
        later = self.method == "fast" and entries > MANY
        if self.method == "fast" and not problem.left and int(problem.free.sum()) > CROSSINGS:
            shown = state(shown_only(cells), demands, costs, published, self.zeros == "suppressible")
            own = crossing_parts(cells.equations, tables, self.response)[1]
            search = fast_among_many(problem, shown, known, own, clock=clock, progress=progress)
        else:
            search = fast(problem, known if later else known(), clock=clock, progress=progress)
        if self.method == "fast":
            return search.pattern(limited=clock.late)
        from discreet.protect.suppression.optimal import optimal

        # The time for the first pattern counts too.
        return optimal(search, time_limit=clock.left, progress=progress)

    def apply(
        self, original: Original | Sequence[Original], seed: Seed = None, *, progress: Progress | None = None
    ) -> Protected:
        """Refuse to publish what was not audited."""
        raise RequestError(
            "suppression publishes nothing that was not audited: call discreet.suppress(table, rules, …), or make the "
            "method with discreet.evaluate.audited_suppression.AuditedSuppression; Suppression.pattern(table) says "
            "what would be suppressed"
        )


def tabulations(originals: Original | Sequence[Original], empty: bool = False) -> tuple[Tabulation, ...]:
    """Return originals as tabulations, with their empty cells if asked for."""
    several = [originals] if isinstance(originals, Table | Tabulation) else list(originals)
    if not several:
        raise RequestError("there is no table to protect; give at least one")
    made = []
    for one in several:
        if not isinstance(one, Table | Tabulation):
            raise RequestError(f"a {type(one).__name__} is not a table; give tables or tabulations")
        table = Tabulation.from_table(one) if isinstance(one, Table) else one
        made.append(table.with_empty_cells() if empty else table)
    if len({bool(table.responses) for table in made}) > 1:
        raise RequestError(
            "one of the linked tables is of amounts and another of numbers, which are not equal; protect numbers and "
            "amounts one by one and check them together (Ledger.check(variable=), discreet ledger check --variable), "
            "or in one plan"
        )
    return tuple(made)


def marked(method: Suppression, pattern: Pattern) -> Protected:
    """Return the release of a pattern, with marks in place of hidden cells, whose values do not enter it.

    It is not audited yet: this is for the audit itself (:func:`discreet.evaluate.audited_suppression.certify`).
    """
    cells, figures = pattern.problem.cells, []
    for table, place in zip(cells.tables, cells.places, strict=True):
        decimals = units_of(table, method.response)[1]
        least = math.ceil(method.least * 10**decimals)
        floor = max(least, int(method.above_zero)) if least >= 0 else least
        hidden, mark, name = pattern.positions[place], Marked(least=floor), name_of(table, cells.tables)
        figures.append(Figures.of_tabulation(table, response=method.response, hidden=hidden, mark=mark, name=name))
    if method.statistics:
        figures = [replace(part, statistics=own) for part, own in zip(figures, method.statistics, strict=True)]
    values, total = cells.values[cells.listed], int(cells.values[0])
    changes = Changes.between(
        values,
        values,
        pattern.positions[cells.listed],
        whole=cells_and_totals(cells.tables),
        total=(total, total),
        decimals=cells.equations.decimals,
    )
    late = "The time limit ended the search; the pattern is safe, and its gap is what was proved by then."
    details = {**pattern.to_dict(), "published": changes.figures - changes.hidden}
    details["search"] = details.pop("method")
    return Protected(
        Release(None, method.name, method.parameters, tuple(figures)),
        changes,
        (pattern.sentence, *([late] if pattern.limited else [])),
        details,
    )
