"""Periods and revisions: the pattern of the last release as start and cost, cells that are frozen, what growth reveals.

A pattern that moves from period to period confuses readers, and what was printed once is known. The last pattern is
kept where that is safe: hiding a cell that was open costs many times as much as one that was hidden, and the note says
how many cells changed and what keeping the others cost. In a revision the figures are of the same values: what was
hidden stays hidden, and what was printed and has the same value protects nothing, so it stays open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from discreet.auditing.audit import audit
from discreet.core.clock import Clock
from discreet.core.errors import DataError, DiscreetError, InfeasibleError, RequestError
from discreet.core.json_types import JsonObject
from discreet.core.numerics import BoolArray
from discreet.core.text import many
from discreet.decide.policy import Policy
from discreet.evaluate.audited_suppression import AuditedSuppression
from discreet.programme.cluster_work import Cells, ClusterOutcome
from discreet.programme.plan_model import FrozenPart, PreviousPart, Programme
from discreet.protect.suppression import Pattern, Suppression
from discreet.protect.suppression.primary import Wish
from discreet.protect.suppression.suppression import tabulations
from discreet.table.attacker import Attacker, Fact
from discreet.table.figures import Figures
from discreet.table.listed_zeros import with_zeros
from discreet.table.release import Release
from discreet.table.space import WHOLE
from discreet.table.tabulation import Tabulation

Key: TypeAlias = frozenset[tuple[str, str]]
"""A cell by its categories, without those that are totals."""
DEAR = 1e9
"""The cost of a frozen cell in the search for the fewest to release: more than all others together."""
FREEZE = 60.0
"""Seconds for finding the fewest cells to release from a freeze; then a small enough set is named. A round choice."""
LEAST = 0.01
"""The least number of seconds for a search."""
READER = "reader of the last figures"
"""The attacker who knows what was printed last time and how far it can have changed."""
NAMED = 5
"""How many cells a message names."""


@dataclass(frozen=True)
class Before:
    """What was published of a cluster before: every cell with its figure, None where it was hidden."""

    figures: Mapping[Key, float | None]
    release: Release | None = None

    def left(self, seconds: float | None = None) -> dict[Key, tuple[float, float]]:
        """Return between which values every figure was: what was printed, and what that leaves of all others."""
        if self.release is None:
            return {}
        listed = Before.of(Release.of(map(with_zeros, self.release.parts())))
        printed = {key: (last, last) for key, last in listed.figures.items() if last is not None}
        if all((low == high).all() for low, high in (part.ranges() for part in self.release.parts())):
            return printed
        found = audit(self.release, insiders="none", proofs=0, time_limit=seconds)
        totals = _totals(self.release)
        whole = _common(_part_totals(part) for part in self.release.parts())
        return printed | {_with(whole, _key(one.cell, totals)): (one.lower, one.upper) for one in found.cells}

    @classmethod
    def of(cls, release: Release) -> Before:
        """Collect the figures of a release."""
        found: dict[Key, float | None] = {}
        for part in release.parts():
            totals = _totals(Release.of(part))
            labels = [part.labels[name] for name in part.names]
            hidden, scale = part.hidden.tolist(), 10**part.decimals
            for row, codes in enumerate(part.codes.tolist()):
                label = zip(part.names, (labels[k][code] for k, code in enumerate(codes)), strict=True)
                key = _key(dict(label), totals)
                found[key] = None if hidden[row] else int(part.values[row]) / scale
        return cls(found, release)

    def is_open(self, key: Key) -> bool | None:
        """Say whether a cell was open; None if it was not there."""
        return None if key not in self.figures else self.figures[key] is not None


def _totals(release: Release) -> dict[str, set[str]]:
    """Return the codes of totals of every dimension; the total of some categories is none."""
    found: dict[str, set[str]] = {}
    for part in release.parts():
        own = dict(_part_totals(part))
        for name in part.names:
            trees = part.hierarchies.get(name, ())
            found.setdefault(name, {WHOLE}).update({part.total, *(tree.total for tree in trees)} - {own.get(name)})
    return found


def _part_totals(part: Figures) -> Key:
    """Return the dimensions of which a table shows some categories only, with the total of these."""
    return frozenset((name, tree.total) for name in part.names for tree in part.hierarchies.get(name, ()) if tree.part)


def _common(totals: Iterable[Key]) -> Key:
    """Return the totals of some categories that are those of all tables: the total of everybody, as these say it."""
    return frozenset.intersection(*totals)


def _with(whole: Key, key: Key) -> Key:
    """Return a cell as tables say it that are all of some categories only."""
    return key | {(name, code) for name, code in whole if name not in dict(key)}


def _key(cell: Mapping[str, str], totals: Mapping[str, set[str]]) -> Key:
    return frozenset((name, code) for name, code in cell.items() if code not in totals[name])


def outcomes_in(folder: Path) -> dict[str, ClusterOutcome]:
    """Return what an earlier run published, by variable."""
    file = folder / "record.json"
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        found = [ClusterOutcome.from_text(text) for text in record["kept"]]
    except (OSError, ValueError, LookupError, TypeError, DiscreetError) as error:
        raise RequestError(f"{file} is not a record of an earlier run ({error}); name the folder of one") from None
    return {one.variable: one for one in found if one.release is not None}


def plan_in(folder: Path) -> Programme:
    """Return the plan of an earlier run."""
    try:
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        return Programme.model_validate({**record["plan"], "folder": folder})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RequestError(f"{folder} holds no record of an earlier run ({error}); name the folder of one") from None


@dataclass(frozen=True, eq=False)
class Steady:
    """A cluster, what was published of it before, and which cells are frozen."""

    cells: Cells
    policy: Policy
    before: Before | None
    said: PreviousPart | None
    frozen: tuple[FrozenPart, ...]

    def method(self, seconds: float | None = None) -> tuple[AuditedSuppression, tuple[str, ...]]:
        """Return the suppression that keeps as much as possible, and in words what that costs, within some seconds.

        Raises:
            InfeasibleError: if frozen cells leave no safe pattern; it names the fewest to release from the freeze.
            LimitError: if time is up before there is a safe pattern.
        """
        clock = Clock.within(seconds)
        free = self._plain()
        attackers, notes = self._readers(clock)
        kept, method = None, free
        hold = self.said is not None and self.said.hold and not self.said.revision
        for held in [True, False] if hold else [False]:
            wishes = tuple(self._wishes(held))
            method = replace(free, wishes=wishes, attackers=attackers)
            try:
                kept = _within(method, clock).pattern(self.handed)
                break
            except InfeasibleError as error:
                if not held:
                    raise self._released(free, wishes, error, clock) from None
        assert kept is not None
        closer = () if self.said is None or not attackers else self._known_anyway(kept, self.said.growth)
        told = () if self.before is None else (self._told(kept, _within(free, clock).pattern(self.handed)),)
        return _within(method, clock), (*told, *notes, *closer)

    @property
    def handed(self) -> Any:
        """What is suppressed: a tabulation, or several linked ones."""
        forms = self.cells.forms()
        return forms.get("suppress", forms[""])

    @property
    def tables(self) -> tuple[Tabulation, ...]:
        """What is suppressed as tabulations, with their empty cells where these can be hidden."""
        return tabulations(self.handed, self._plain().hides_zeros)

    def _plain(self) -> AuditedSuppression:
        """Return the suppression of the policy."""
        whole = self.cells.judged
        listed = next((one.parameters for one in self.policy.protections if one.name == Suppression.name), {})
        given: JsonObject = {k: tuple(value) if isinstance(value, list) else value for k, value in listed.items()}
        return AuditedSuppression(
            rules=tuple(self.policy.judges_of(whole)),
            combine=self.policy.rules.combine,
            response=whole.responses[0].name if whole.responses else None,
            **given,
        )

    def _labelled(self) -> Iterator[tuple[Key, float]]:
        """Yield every cell that is published now, once, with its value."""
        seen: set[Key] = set()
        for table in self.tables:
            values = table.responses[0].sums if table.responses else table.records
            for row, key in enumerate(_keys(table)):
                if key not in seen:
                    seen.add(key)
                    yield key, float(values[row])

    @cached_property
    def _whole(self) -> Key:
        """The totals of some categories that all tables are of."""
        return _common(frozenset((axis.name, axis.total) for axis in one.axes if axis.part) for one in self.tables)

    def _cell(self, key: Key) -> dict[str, str]:
        """Return a cell as equations name it."""
        return dict(key - self._whole)

    def _wishes(self, held: bool) -> Iterator[Wish]:
        """Yield costs by what was open and hidden before, and what is frozen."""
        states = self._states()
        revision = self.said is not None and self.said.revision
        sensitive = self._sensitive() if revision or held or states else set[Key]()
        for key, value in self._labelled():
            cell, was_open = self._cell(key), None if self.before is None else self.before.is_open(key)
            state = states.get(key)
            if state == "closed" and value == 0:
                raise RequestError(
                    f"frozen: cell {cell_name(cell)} of {self.cells.cluster.name!r} is 0, and zeros are published; "
                    "take it out of the freeze"
                )
            if state is None and held and was_open is False:
                state = "closed"
            if state is None and revision and was_open is not None:
                # What was printed and has another value now can be hidden; what has the same value is known.
                same = self.before is not None and self.before.figures[key] == value
                state = "closed" if not was_open else "open" if same else None
            if state == "open" and (key not in sensitive or key in states):
                yield Wish(cell, "publish")
            elif state == "closed" and value != 0 and key not in sensitive:
                # Respondents may work out what was hidden for the sake of other cells alone.
                yield Wish(cell, "suppress" if key in states else "hide")
            elif self.said is not None and was_open is not None:
                yield Wish(cell, cost=abs(value) * self.said.keep if was_open else 1.0)

    def _states(self) -> dict[Key, str]:
        """Return the cells that the plan freezes."""
        variable = self.cells.cluster.variable
        known = {key for key, _ in self._labelled()}
        totals: dict[str, set[str]] = {}
        for axis in (axis for one in self.tables for axis in one.axes if not axis.part):
            totals.setdefault(axis.name, {WHOLE}).add(axis.total)
        found: dict[Key, str] = {}
        for one in self.frozen:
            if one.value not in (None, variable):
                continue
            key = _with(self._whole, frozenset((n, c) for n, c in one.cell.items() if c not in totals.get(n, ())))
            if key not in known:
                raise DataError(
                    f"frozen: no table of {self.cells.cluster.name!r} shows cell {cell_name(one.cell)}; correct it"
                )
            found[key] = one.state
        return found

    def _sensitive(self) -> set[Key]:
        """Return the cells that the rules call sensitive."""
        from discreet.rules.sensitivity import sensitivity

        method, found = self._plain(), set[Key]()
        for table in self.tables:
            judged = sensitivity(table, list(method.rules), response=method.response, combine=method.combine)
            keys = _keys(table)
            found |= {keys[i] for i in judged.cells.tolist()}
        return found

    def _readers(self, clock: Clock) -> tuple[tuple[Attacker, ...], tuple[str, ...]]:
        """Return the reader who knows what was printed last time and how far it can have changed."""
        if self.said is None or self.said.growth is None or self.before is None:
            return (), ()
        growth, facts, beyond = self.said.growth, [], 0
        ranges = self.before.left(clock.left)
        for key, value in self._labelled():
            if key not in ranges:
                continue
            least, most = ranges[key]
            low, high = least - abs(least) * growth / 100, most + abs(most) * growth / 100
            if low <= value <= high:
                facts.append(Fact(self._cell(key), low, high if np.isfinite(high) else None))
            else:
                beyond += 1
        note = (
            "Also safe against a reader who knows what was printed last time and that it changed by at most "
            f"{growth:g}%, as far as that alone leaves cells open. Of a figure that was hidden or changed then, that "
            "reader knows between which values it was, one by one. What follows from all sums of last time together "
            "with the growth of each figure was not judged."
        )
        if beyond:
            note += f" {many(beyond, 'figure')} changed by more, which that reader does not expect."
        return (Attacker(READER, knows=tuple(facts)),), (note,)

    def _known_anyway(self, kept: Pattern, growth: float | None) -> tuple[str, ...]:
        """Say of which sensitive cells the last figures and the growth alone tell more than levels allow.

        No pattern keeps anybody from knowing that.

        Raises:
            InfeasibleError: if they tell the value of one.
        """
        known, cells, demands = kept.known, kept.problem.cells, kept.problem.demands
        named = known.attacker == known.names.index(READER)
        at, low, high = (column[named] for column in (known.position, known.low, known.high))
        close: list[str] = []
        for i in np.flatnonzero(demands.sensitive).tolist():
            here = (at == i) | ((kept.problem.member[at] == kept.problem.member[i]) & (kept.problem.member[i] >= 0))
            if not here.any():
                continue
            least, most, value = int(low[here].max()), int(high[here].min()), int(cells.values[i])
            said = f"{cells.equations.describe(i)} between {cells.equations.text(least)} and "
            if least == most:
                raise InfeasibleError(
                    f"previous.growth: readers who know that no figure changed by more than {growth:g}% know "
                    f"{cells.equations.describe(i)}, which is sensitive now, from what was printed last time: it is "
                    f"{cells.equations.text(value)}, whatever is hidden; state the growth that they do know, or none"
                )
            wide = max(int(demands.sliding[i]), 1)
            if least > value - demands.lower[i] or most < value + demands.upper[i] or most - least < wide:
                close.append(said + cells.equations.text(most))
        if not close:
            return ()
        named_cells = "; ".join(close[:NAMED]) + (f"; and {len(close) - NAMED:,} more" if len(close) > NAMED else "")
        return (
            f"{many(len(close), 'sensitive cell')} that reader knows more closely than protection levels allow from "
            f"what was printed last time, whatever is hidden now: {named_cells}. Nothing more follows about them.",
        )

    def _told(self, kept: Pattern, free: Pattern) -> str:
        """Say how many cells changed and what keeping the pattern cost."""
        assert self.before is not None
        hidden = _hidden(kept)
        both = [
            (key in hidden, self.before.figures[key] is None)
            for key, _ in self._labelled()
            if key in self.before.figures
        ]
        same = sum(now == was for now, was in both)
        opened = sum(was and not now for now, was in both)
        closed = sum(now and not was for now, was in both)
        cost, least = _cost(kept), _cost(free)
        extra = f"{(cost - least) / least:+.1%}" if least else f"{cost:,.0f} more"
        return (
            f"{same:,} of {len(both):,} cells are as before ({same / max(len(both), 1):.1%}): {opened:,} hidden ones "
            f"are open now, {closed:,} open ones are hidden. Keeping the pattern cost {cost:,.0f} in place of "
            f"{least:,.0f} ({extra})."
        )

    def _released(
        self, free: AuditedSuppression, wishes: Sequence[Wish], error: InfeasibleError, clock: Clock
    ) -> InfeasibleError:
        """Return an error that names the fewest cells to release from the freeze."""
        asked = {_with(self._whole, frozenset(w.cell.items())) for w in wishes if w.status == "publish"}
        if not asked:
            return error
        clash = asked & self._sensitive()
        cheap = [wish for wish in wishes if wish.status in ("suppress", "hide")]
        dear = [Wish(self._cell(key), cost=DEAR) for key in asked - clash]
        other = [Wish(self._cell(key), cost=1.0) for key, _ in self._labelled() if key not in asked]
        search = replace(free, method="optimal", wishes=(*cheap, *dear, *other), time_limit=FREEZE)
        try:
            found = _within(search, clock).pattern(self.handed)
        except InfeasibleError as still:
            return still
        over = sorted(clash | (_hidden(found) & asked), key=sorted)
        named = "; ".join(", ".join(f"{n}={c}" for n, c in sorted(key)) or "the total" for key in over[:NAMED])
        more = f"; and {len(over) - NAMED:,} more" if len(over) > NAMED else ""
        least = "the fewest to release" if found.gap == 0 else "few enough to release, if not the fewest,"
        if self.said is not None and self.said.revision and not self.frozen:
            return InfeasibleError(
                f"no safe pattern leaves open all cells that were printed with the values they still have; it would "
                f"hide {many(len(over), 'cell')} of them: {named}{more}. Readers know these, so that would protect "
                "nothing: publish coarser categories, or protect the table in another way (protection)"
            )
        return InfeasibleError(
            f"no safe pattern leaves all frozen cells as they are; {least} from the freeze are "
            f"{many(len(over), 'cell')}: {named}{more}"
        )


def refuse_unkept(cells: Cells, said: PreviousPart | None, frozen: Sequence[FrozenPart], protection: str) -> None:
    """Refuse what only suppression keeps, where a cluster is protected otherwise: frozen cells, and known growth."""
    name, variable = cells.cluster.name, cells.cluster.variable
    remedy = f"{name!r} is protected by {protection}; suppress it (protection = 'suppress'), or take this out"
    if any(one.value in (None, variable) for one in frozen):
        raise RequestError(f"frozen: only suppression keeps cells open or closed, and {remedy}")
    if said is not None and said.growth is not None:
        raise RequestError(f"previous.growth: only suppression protects against readers who know it, and {remedy}")


def _within(method: AuditedSuppression, clock: Clock) -> AuditedSuppression:
    """Return a method that ends at its own time limit, or at that of a clock."""
    clock.refuse_late("no safe pattern was found")
    limits = [max(limit, LEAST) for limit in (method.time_limit, clock.left) if limit is not None]
    return replace(method, time_limit=min(limits, default=None))


def _keys(table: Tabulation) -> list[Key]:
    """Return the cells of a tabulation by their categories; the total of some of these is one, too."""
    columns = [(axis, table.codes(axis.name).tolist()) for axis in table.axes]
    found = []
    for row in range(len(table)):
        found.append(frozenset((axis.name, axis.codes[code[row]]) for axis, code in columns if code[row] or axis.part))
    return found


def _hidden(pattern: Pattern) -> set[Key]:
    """Return the cells that a pattern hides."""
    cells, found = pattern.problem.cells, set[Key]()
    for table, place in zip(cells.tables, cells.places, strict=True):
        keys, hidden = _keys(table), pattern.positions[place]
        found |= {keys[i] for i in np.flatnonzero(hidden).tolist()}
    return found


def _cost(pattern: Pattern) -> float:
    """Return the sum of all figures that a pattern hides."""
    cells = pattern.problem.cells
    hidden: BoolArray = pattern.positions & cells.listed
    units = int(np.abs(cells.values[hidden]).sum())
    return units / 10.0**cells.equations.decimals


def cell_name(cell: Mapping[str, str]) -> str:
    """Return a cell in words.

    >>> cell_name({"area": "n", "sex": "Total"})
    'area=n, sex=Total'
    """
    return ", ".join(f"{name}={code}" for name, code in cell.items())
