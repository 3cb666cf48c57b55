"""Suppression with a second opinion: a pattern is returned only if the audit finds it safe.

The method proves its pattern by tables that it found. The audit reads the release as a reader would, and works out
whether every sensitive cell can still be as low and as high as required, for the outsider and for every insider. It
receives the method's tables and trusts none of them: a table counts only if, in the equations of the release, it agrees
with everything published and everything that an insider knows; where none does, the audit searches on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from discreet.auditing.audit import audit
from discreet.auditing.findings import RANK
from discreet.auditing.limits import Level, Limits
from discreet.core.clock import Clock, grace
from discreet.core.errors import DiscreetError, LimitError, RequestError, require
from discreet.core.json_types import Json
from discreet.core.numerics import index_ranges
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.core.sparse import starts_of
from discreet.core.text import Readable, many
from discreet.evaluate.forms import Form, check_form, show_as
from discreet.feasible.candidates import Candidates
from discreet.protect.base import Original, Protected
from discreet.protect.suppression import Pattern, Suppression, Wish
from discreet.protect.suppression.insider_knowledge import NOTHING
from discreet.protect.suppression.pattern import Circuit
from discreet.protect.suppression.suppression import marked
from discreet.reading.original import open_originals
from discreet.reading.reading import Reading, ReadingOptions
from discreet.rules.rule_texts import EXAMPLES
from discreet.table.attacker import Attacker, Contribution, Fact
from discreet.table.crossing_parts import UNPLACED, unplaced, unshown
from discreet.table.floors import at_least
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release
from discreet.table.stakes import ONE_CELL, contributes, joint_stakes

if TYPE_CHECKING:
    from discreet.auditing.audit_result import Audit
    from discreet.table.arrow_files import Backend, Frame


class SuppressionOptions(ReadingOptions, total=False):
    """The attributes of :class:`~discreet.protect.suppression.Suppression`, and how files or frames are read."""

    risk: float | None
    levels: tuple[float, float] | None
    method: str
    cost: str
    zeros: str
    insiders: str
    attackers: Sequence[Attacker]
    wishes: Wish | Sequence[Wish]
    combine: str
    least: float
    statistics: Any
    time_limit: float | None


class UnsafeError(DiscreetError):
    """The audit rejects a pattern that the method took for safe: nothing is returned."""


@dataclass(frozen=True, eq=False, repr=False)
class Suppressed(Readable):
    """A release whose suppressed cells were audited and found safe, with the pattern behind it.

    The pattern and the audit are for the agency; ``release`` is what is published.

    >>> from discreet.rules import Threshold
    >>> from discreet.table import Table
    >>> counts = Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": list("abc"), "age": list("xyz")})
    >>> found = suppress(counts, Threshold(3), levels=(1, 1))
    >>> found.pattern.counts["secondary"], found.audit.verdict
    (3, 'safe')
    """

    protected: Protected
    pattern: Pattern
    audit: Audit

    @property
    def release(self) -> Release:
        """What is published."""
        return self.protected.release

    def to_frame(self, backend: Backend = "pandas", *, value: str = "count") -> Frame:
        """Return what is published as a frame; hidden figures are missing values."""
        return self.release.to_frame(backend, value=value)

    def to_dict(self) -> dict[str, Json]:
        """Return what was done, as plain data."""
        return {**self.protected.to_dict(), "audit": audited_against(self.pattern)}

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        return f"{self.pattern.sentence} {safe_against(self.pattern)}"

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.release}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.sentence)}</p>{self.release._repr_html_()}"


def audited_against(pattern: Pattern) -> str:
    """Return the verdict of an audit that found nothing wrong: respondents may not have been judged in full."""
    return "safe against outsiders" if _beyond_judgement(pattern) else "safe"


def _beyond_judgement(pattern: Pattern) -> bool:
    """Say whether respondents know more of open crossings than their tables tell."""
    known, cells = pattern.known, pattern.problem.cells
    several = len(known) > len(known.named) and known.identified and bool(pattern.positions.any())
    return several and unplaced(cells.equations, cells.tables, known.response)


def safe_against(pattern: Pattern) -> str:
    """Say against whom the audit finds a pattern safe, and who was not considered."""
    known = pattern.known
    respondents = len(known) > len(known.named)
    who = f" and {many(len(known), 'insider')}" if len(known) else ""
    said = f"The audit finds it safe against outsiders{who}."
    if respondents and not known.identified:
        return f"{said} {ONE_CELL.capitalize()}."
    cells = pattern.problem.cells
    if _beyond_judgement(pattern):
        return f"The audit finds it safe against outsiders only: {UNPLACED}."
    # A respondent counted in a cell knows that it is not 0, which is news where zeros may be hidden, and of crossings
    # that no table shows.
    zero, crossed = (cells.lower[pattern.positions] < 1).any(), unshown(cells.equations).any()
    news = any(contributes(table) for table in cells.tables) or bool(pattern.positions.any() and (zero or crossed))
    if respondents or not news:
        return said
    return f"{said} What respondents work out with their own contributions was not judged."


def suppress(
    originals: object,
    rules: object = (),
    *,
    form: Form = "marks",
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[SuppressionOptions],
) -> Suppressed:
    """Suppress the sensitive cells of a table, or of linked tables, and have the result audited.

    Args:
        originals: one table, tabulation, file or frame, or several that are linked by the dimensions they share.
        rules: what makes a cell sensitive, as ``"threshold=3"`` or :class:`~discreet.rules.Threshold`; see
            :class:`~discreet.protect.suppression.Suppression` for all options.
        form: suppressed cells are published as ``"marks"``, ``"intervals"`` or ``"synthetic"`` values.
        workers: threads of the audit.
        progress: called as the work advances.
        options: ``method``, ``cost``, ``wishes`` and the other parameters of the method; and how files or frames are
            read, as for :func:`discreet.assess`.

    Raises:
        InfeasibleError: if the sensitive cells cannot be protected as asked; it names the cells in conflict.
        UnsafeError: if the audit does not find the pattern safe.

    >>> from discreet.rules import Threshold
    >>> from discreet.table import Table
    >>> areas, groups = ["n", "s", "w"], ["a", "b", "c"]
    >>> table = Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": areas, "group": groups})
    >>> found = suppress(table, Threshold(3))
    >>> found.audit.verdict
    'safe'
    """
    reading, rest = Reading.among(options, ("response",))
    known = [item.name for item in fields(Suppression) if item.init]
    for name in rest:
        if name in EXAMPLES:
            raise RequestError(f"{name} is a rule, not an option; give it as a text, rules={EXAMPLES[name]!r}")
        require([name], known, "there is no argument")
    method = Suppression(rules, **rest)
    first, *others = open_originals(originals, reading)
    return certify(method, [first, *others] if others else first, form=form, workers=workers, progress=progress)


@dataclass(frozen=True)
class AuditedSuppression(Suppression):
    """Suppression as a method among others: what it publishes was audited and found safe.

    >>> from discreet.rules import Threshold
    >>> from discreet.table import Table
    >>> counts = Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": list("abc"), "age": list("xyz")})
    >>> AuditedSuppression(Threshold(3), levels=(1, 1)).apply(counts).details["audit"]
    'safe'
    """

    @classmethod
    def of(cls, method: Suppression) -> AuditedSuppression:
        """Return the same method with its audit."""
        return cls(**{item.name: getattr(method, item.name) for item in fields(method)})

    def apply(
        self, original: Original | Sequence[Original], seed: Seed = None, *, progress: Progress | None = None
    ) -> Protected:
        """Protect a table, or several linked ones in one problem; nothing is drawn, and the seed plays no part."""
        found = certify(self, original, progress=progress)
        details = {**found.protected.details, "audit": audited_against(found.pattern)}
        return replace(found.protected, details=details, candidates=candidates_of(found.pattern))


def certify(
    method: Suppression,
    originals: Original | Sequence[Original],
    *,
    form: Form = "marks",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Suppressed:
    """Apply a method of suppression and audit what it releases, in the form in which it is published.

    The audit has what is left of the time, and the grace.
    """
    check_form(form)
    limit = method.time_limit
    clock = Clock.within(None if limit is None else limit + grace(limit))
    pattern = method.pattern(originals, progress=progress)
    protected = marked(method, pattern)
    layout = pattern.problem.cells.equations.layout
    release = show_as(protected.release, form, least=method.least, layout=layout, clock=clock, progress=progress)
    found = inspect(pattern, release, least=method.least, clock=clock, workers=workers, progress=progress)
    wrong = faults(pattern, found)
    if wrong:
        if all(incomplete for _, incomplete in wrong):
            clock.refuse_late("a pattern was found, but not audited")
        kind = LimitError if all(incomplete for _, incomplete in wrong) else UnsafeError
        said = "; ".join(filter(None, [*(text for text, _ in wrong[:3]), found.note]))
        raise kind(
            f"the audit does not find the pattern safe ({said}); nothing is returned. Ask for other levels or costs, "
            "or for fewer tables at once"
        )
    return Suppressed(replace(protected, release=release), pattern, found)


def inspect(
    pattern: Pattern,
    release: Release,
    *,
    least: float = 0.0,
    clock: Clock | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit a release against the levels and the insiders that its pattern was made for."""
    cells, demands = pattern.problem.cells, pattern.problem.demands
    scale = 10**cells.equations.decimals
    levels: dict[tuple[tuple[str, str], ...], Level] = {}
    for i in np.flatnonzero(demands.sensitive).tolist():
        value = int(cells.values[i])
        ends = ((value - int(demands.lower[i])) / scale, (value + int(demands.upper[i])) / scale)
        wide = int(demands.sliding[i]) / scale
        levels[tuple(sorted(cells.equations.cell(i).items()))] = (*ends, wide) if wide else ends
    known = pattern.known
    until = clock or Clock()
    judge = partial(
        audit,
        release,
        limits=Limits(levels=levels),
        attackers=known.named if known.identified else attackers_of(pattern),
        # The audit finds out on its own who the respondents are and what they know.
        contributions=cells.tables if known.identified and known.insiders != "none" else None,
        insiders=known.insiders if known.identified else "auto",
        response=known.response,
        layout=cells.equations.layout,
        least=least,
        proofs=0,
        workers=workers,
        progress=progress,
    )
    quick = judge(verdict_only=True, candidates=candidates_of(pattern), time_limit=until.left)
    # What that leaves undecided is worked out in full.
    left = (quick.findings.rank == RANK["incomplete"]).any() and not until.late
    return judge(time_limit=until.left) if left else quick


def candidates_of(pattern: Pattern) -> Candidates:
    """Return the true table and those by which the method proves its pattern, for the audit to check."""
    problem, circuits = pattern.problem, _distinct(pattern.circuits)
    inside = np.argsort(problem.member, kind="stable")
    first = np.searchsorted(problem.member[inside], np.arange(problem.size + 1))
    cells, moves = (np.concatenate([NOTHING, *(getattr(c, name) for c in circuits)]) for name in ("cells", "moves"))
    way = np.array([circuit.way for circuit in circuits], np.int64)
    # All cells of a class move together.
    which, k = index_ranges(first[cells], first[cells + 1])
    table = np.repeat(np.arange(way.size), [circuit.cells.size for circuit in circuits])[which]
    at, by = inside[k], moves[which]
    # A circuit that leads both ways is two tables.
    up, down = way[table] >= 0, way[table] <= 0
    count = np.bincount(table, minlength=way.size)
    equations = problem.cells.equations
    return Candidates(
        equations.positions,
        problem.cells.values,
        starts_of(np.concatenate([count[way >= 0], count[way <= 0]])),
        np.concatenate([at[up], at[down]]),
        np.concatenate([by[up], -by[down]]),
        equations.decimals,
    )


def _distinct(circuits: Sequence[Circuit]) -> list[Circuit]:
    """Return circuits without those that are the same tables; many serve several insiders."""
    return list({(one.way, one.cells.tobytes(), one.moves.tobytes()): one for one in circuits}.values())


def attackers_of(pattern: Pattern) -> list[Attacker]:
    """Return everybody the pattern protects against, as attackers described by their contributions.

    Respondents whose cells are all published learn nothing about suppressed ones, and are left out. A respondent of a
    cell is a respondent of every cell that equals it.
    """
    cells, known, member = pattern.problem.cells, pattern.known, pattern.problem.member
    scale = 10**cells.equations.decimals
    first = len(known.names) - len(known.named)
    equal: dict[int, list[int]] = {}
    for i in np.flatnonzero(pattern.positions).tolist():
        equal.setdefault(int(member[i]), []).append(i)
    put: dict[int, dict[int, Contribution]] = {}
    knows: dict[int, list[Fact]] = {}
    for k in np.flatnonzero(known.attacker < first).tolist():
        who, i, own = int(known.attacker[k]), int(known.position[k]), int(known.low[k]) / scale
        # A respondent's own cell comes first, then those that contain it.
        if not pattern.positions[i] or (known.position[who] != i and who not in put):
            continue
        mine, others = put.setdefault(who, {}), int(known.others[k])
        for j in equal[int(member[i])]:
            cell = cells.equations.cell(j)
            if own < 0 or not pattern.problem.demands.sensitive[j]:
                # A loss is not an amount that one adds to a cell, and what others contributed to a cell that is not
                # sensitive is not secret.
                knows.setdefault(who, []).append(Fact(cell, own, None if others else own))
            elif j not in mine or mine[j].value < own:
                mine[j] = Contribution(cell, own, others)
    found = [
        Attacker(known.names[who], tuple(mine.values()), tuple(knows.get(who, ()))) for who, mine in sorted(put.items())
    ]
    return found + list(known.named)


def faults(pattern: Pattern, found: Audit) -> list[tuple[str, bool]]:
    """Return what the audit objects to, and whether each is only unfinished.

    Only sensitive cells count. Insiders know their own contribution to a cell whatever is published, so levels apply
    only above it.
    """
    cells, demands = pattern.problem.cells, pattern.problem.demands
    entries = found.findings
    bad = np.flatnonzero(entries.rank != RANK["safe"])
    if not bad.size:
        return []
    at = cells.equations.locate(entries.equations.positions[entries.at[bad]])
    scale = 10**cells.equations.decimals
    own: dict[tuple[str, int], tuple[int, int]] = {}
    for name, i, low, high in _facts(pattern, {entries.attackers[int(who)] for who in entries.who[bad]}):
        key = (name, int(pattern.problem.member[i]))
        before = own.get(key, (-UNBOUNDED, UNBOUNDED))
        own[key] = (max(before[0], low), min(before[1], high))
    wrong = []
    for entry, i in zip(bad.tolist(), at.tolist(), strict=True):
        if i < 0 or not demands.sensitive[i]:
            continue
        who = int(entries.who[entry])
        mine = own.get((entries.attackers[who], int(pattern.problem.member[i]))) if who else None
        if mine is not None and entries.finished[entry]:
            value = int(cells.values[i])
            low = max(value - int(demands.lower[i]), mine[0])
            high = min(value + int(demands.upper[i]), mine[1])
            if round(entries.lower[entry] * scale) <= low and round(entries.upper[entry] * scale) >= high:
                continue
        open_ = bool(entries.rank[entry] == RANK["incomplete"])
        state = "not finished" if open_ else "unsafe"
        wrong.append((f"{cells.equations.describe(i)} is {state} against the {entries.attackers[who]}", open_))
    return wrong


def _facts(pattern: Pattern, names: set[str]) -> Iterator[tuple[str, int, int, int]]:
    """Return what some insiders know by their own contributions: name, position, least and largest value."""
    known, cells = pattern.known, pattern.problem.cells
    for who, i, low, high in zip(known.attacker, known.position, known.least, known.high, strict=True):
        if known.names[int(who)] in names:
            yield known.names[int(who)], int(i), int(low), int(high)
    if known.identified and known.insiders != "none":
        found = joint_stakes(cells.tables, cells.places, known.response, pattern.positions)
        found = found.chosen(np.isin(found.unit, [i for i, name in enumerate(found.names) if name in names]))
        own, value = cells.units(found.amount), cells.values[found.at]
        mine = np.where(found.others == 0, value, own)
        least = at_least(cells.equations, cells.lower, found.unit, found.at, mine)
        for k in range(found.at.size):
            ends = (int(value[k]),) * 2 if found.others[k] == 0 else (int(least[k]), UNBOUNDED)
            yield found.names[int(found.unit[k])], int(found.at[k]), *ends
