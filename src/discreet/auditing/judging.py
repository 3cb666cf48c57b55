"""One audit's settings, applied to the outsider and to every attacker: bounds, bits, faults, and proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from discreet.auditing.findings import Findings, faults, joined
from discreet.auditing.knowledge import Copies, Knowledge, Linked
from discreet.auditing.laws import LAWS
from discreet.auditing.laws.law import Judged
from discreet.auditing.levels import least_beforehand
from discreet.auditing.limits import Asked, Limits, Reach
from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, disclosure_risk
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.bounds import Bounds, bounds
from discreet.feasible.candidates import Fitting
from discreet.feasible.crowd import Facts, doubtful
from discreet.feasible.proof.bound_proof import prove
from discreet.feasible.reach import OUT_OF_REACH, REACHED, reach_levels
from discreet.feasible.respondent_values import RespondentGroup
from discreet.table.equations import Equations
from discreet.table.floors import at_least
from discreet.table.kinds import UNBOUNDED

LOOKED_AT = 200
"""The most contributions searched for one that cannot be true: a round choice, since each takes a search."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Findings; each with the place of its bounds in ``found`` and the attacker's own contribution, for proofs."""

    findings: Findings
    found: Bounds
    at: IntArray
    own: IntArray
    tables: int | None = None
    note: str = ""
    words: tuple[str, ...] = ()

    def proof(self, k: int, clock: Clock) -> str:
        """Return the arithmetic that proves the interval of an entry; nothing if time runs out."""
        if self.words:
            return self.words[k]
        i = int(self.at[k])
        if i < 0 or not self.findings.finished[k]:
            return ""
        equations = self.found.equations
        sides = [prove(self.found, i, upper=upper, deadline=clock.deadline) for upper in (False, True)]
        if clock.late:
            return ""
        texts = [side.text(equations) for side in sides if side is not None]
        name, value = equations.describe(i), equations.text(int(self.found.lower[i]))
        said = [text.removeprefix(f"{name} {sign} {value}: ") for text, sign in zip(texts, "≥≤", strict=False)]
        if len(said) == 2 and said[0] == said[1] and said[0] != texts[0]:
            texts = [f"{name} = {value}: {said[0]}"]
        if self.own[k] >= 0:
            texts.append(f"less the own contribution of {equations.text(int(self.own[k]))}")
        return "; ".join(texts)


class Ends(NamedTuple):
    """Intervals in units of the last decimal, infinite where unbounded; how many values they hold, and how far off."""

    low: FloatArray
    high: FloatArray
    values: FloatArray
    off: FloatArray

    @classmethod
    def of(cls, found: Bounds, at: IntArray) -> Ends:
        """Return the intervals of some positions."""
        low, high = found.lower[at].astype(np.float64), found.upper[at].astype(np.float64)
        low, high = np.where(low <= -UNBOUNDED, -np.inf, low), np.where(high >= UNBOUNDED, np.inf, high)
        return cls(low, high, found.values[at], found.off[at])


@dataclass(frozen=True, eq=False)
class Judge:
    """The settings of one audit; ``singles`` are the sums of a single contributor, ``fitting`` tables that fit.

    With ``apart``, as for :func:`discreet.feasible.bounds.bounds`, it need only be known which figures have one value.
    """

    equations: Equations
    limits: Limits
    reach: Reach
    attackers: tuple[str, ...] = ("outsider",)
    law: str = "interval"
    relaxed: bool = False
    precision: float = 0.02
    seed: Seed = None
    workers: int | None = None
    progress: Progress | None = None
    clock: Clock = field(default_factory=Clock)
    prior_bits: float = np.nan
    singles: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    fitting: Fitting | None = None
    apart: float | None = None

    @property
    def tied(self) -> bool:
        """Whether a reader may know more than the intervals say; if so, none of them is called safe."""
        return any(kind.tied for part in self.equations.parts for kind in part.kinds)

    @property
    def scale(self) -> int:
        """How many units of the last decimal make one published unit."""
        return int(10**self.equations.decimals)

    def bound(self, equations: Equations, targets: IntArray, apart: float | None = None) -> Bounds:
        """Bound the targets in the time that remains, or tell only ``apart`` what has several values."""
        return bounds(
            equations,
            targets,
            relaxed=self.relaxed,
            apart=self.apart if apart is None else apart,
            time_limit=self.clock.left,
            workers=self.workers,
            progress=self.progress,
        )

    def _levels(self, targets: IntArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the levels of targets as integers, and which targets have both and no sliding level."""
        low, high, sliding = self.reach.at(targets)
        return np.floor(low), np.ceil(high), np.isfinite(low) & np.isfinite(high) & ~np.isfinite(sliding)

    def weigh(self, found: Bounds, targets: IntArray) -> Judged:
        """Return the uncertainty about the targets under the chosen law; NaN where statistics say more.

        Only the interval law takes statistics into account.
        """
        if self.equations.measured is not None and not LAWS[self.law].even:
            unknown = np.full(targets.size, np.nan)
            return Judged(unknown, np.zeros(targets.size), finished=np.zeros(targets.size, bool))
        return LAWS[self.law].weigh(
            found,
            targets,
            precision=self.precision,
            seed=self.seed,
            workers=self.workers,
            progress=self.progress,
            deadline=self.clock.deadline,
        )

    # --- the outsider -------------------------------------------------------------------------------------

    def outsider(self, equations: Equations, targets: IntArray, alone: FloatArray | None = None) -> Sheet:
        """Judge what somebody can work out who knows what is published and what everybody knows."""
        return self.judged(self.bound(equations, targets), targets, alone)

    def judged(self, found: Bounds, targets: IntArray, alone: FloatArray | None = None) -> Sheet:
        """Judge intervals that are already computed."""
        judged, ends = self.weigh(found, targets), Ends.of(found, targets)
        single = np.isin(targets, self.singles)
        wrong = self._faults(targets, ends, judged.bits, self.reach.at(targets), single)
        finished = self._finished(found.finished[targets], judged, wrong)
        findings = self._findings(targets, ends, judged, wrong, finished, subject=np.where(single, 2, 0))
        if alone is not None:
            findings = replace(findings, alone=alone[:, targets] / self.scale)
        return Sheet(findings, found, targets, np.full(targets.size, -1), judged.tables, judged.note)

    def verdict_only(self, equations: Equations, targets: IntArray) -> Sheet:
        """Judge only whether levels are reached, and compute intervals only for figures that miss theirs.

        Figures without levels, or with a sliding level, get an interval too.
        """
        low, high, quick = self._levels(targets)
        quick &= ~(equations.exact & (equations.source >= 0) & ~equations.hidden)[targets]
        quick &= self.limits.width is None and self.limits.dr is None and not self.tied
        if not quick.any():
            return self.outsider(equations, targets)
        answer = reach_levels(
            equations,
            targets[quick],
            low[quick].astype(np.int64),
            high[quick].astype(np.int64),
            seen=None if self.fitting is None else self.fitting.seen[:, targets[quick]],
            time_limit=self.clock.left,
            workers=self.workers,
            progress=self.progress,
        )
        safe, undecided = np.zeros(targets.size, bool), np.zeros(targets.size, bool)
        failed = (answer.lower == OUT_OF_REACH) | (answer.upper == OUT_OF_REACH)
        reached = (answer.lower == REACHED) & (answer.upper == REACHED)
        # A level at the value itself on either side leaves one value: such a figure is looked at in full.
        safe[quick] = reached & (low[quick] < high[quick])
        undecided[quick] = ~reached & ~failed
        rest = self.outsider(equations, targets[~safe & ~undecided])
        kept = np.flatnonzero(safe | undecided)
        unknown = np.full(kept.size, np.nan)
        judged, none = Judged(unknown, np.zeros(kept.size)), np.full(kept.size, -1)
        short = self._findings(targets[kept], Ends(*[unknown] * 4), judged, faults(kept.size), safe[kept])
        return Sheet(joined([rest.findings, short]), rest.found, np.r_[rest.at, none], np.r_[rest.own, none])

    def respondents(self, groups: Sequence[RespondentGroup]) -> Sheet:
        """Judge what is left open of the values of a few respondents, with all fitting multisets equally likely."""
        at = np.array([group.count for group in groups], np.int64)
        none = np.full(at.size, np.nan)
        sets = np.array([np.nan if group.sets is None else group.sets for group in groups], np.float64)
        ends = Ends(none, none, sets, none)
        judged = Judged(np.log2(sets), np.zeros(at.size))
        wrong = faults(at.size, exact=(sets == 1) | np.array([bool(group.single) for group in groups]))
        if self.limits.dr is not None:
            wrong |= faults(at.size, dr=(disclosure_risk(judged.bits) > self.limits.dr) & ~wrong[:, 0])
        finished = wrong.any(axis=1) | (~np.isnan(sets) & np.array([group.alone for group in groups], bool))
        findings = self._findings(at, ends, judged, wrong, finished, subject=np.full(at.size, 3))
        empty = np.full(at.size, -1)
        return Sheet(findings, self.bound(self.equations, at[:0]), empty, empty, words=tuple(g.words for g in groups))

    # --- attackers ----------------------------------------------------------------------------------------

    def suspects(self, equations: Equations, known: Sequence[Knowledge], targets: IntArray) -> IntArray:
        """Return the attackers for whom it is not obvious that every level is reached despite what they know.

        This shortcut covers levels on both sides only; if anything else is asked for, all attackers are returned.
        """
        low, high, plain = self._levels(targets)
        limits = self.limits
        more = limits.width is not None or limits.dr is not None or limits.within is not None or self.tied
        if more or not (plain & (low < high)).all():
            return np.arange(len(known))
        ends = low.astype(np.int64), high.astype(np.int64)
        who = np.repeat(np.arange(len(known)), [one.at.size for one in known])
        at, own_low, own_high, own, others = (
            np.concatenate([getattr(one, name) for one in known]) for name in ("at", "low", "high", "own", "others")
        )
        floor, zero = least_beforehand(equations), equations.exact & (equations.lower == 0)
        least = np.minimum(at_least(equations, floor, who, at, own_low, zero), own_high)
        facts = Facts(who, at, least, own_high, (own >= 0) & (others >= 1))
        found = np.ones(len(known), bool)
        if self.fitting is not None:
            found = self.fitting.doubtful(targets, *ends, facts, len(known))
            facts = facts.chosen(found[facts.who])
        if found.any():
            found = doubtful(
                equations, targets, *ends, facts, len(known), time_limit=self.clock.left, progress=self.progress
            )
        # What somebody is said to know of a target, without a contribution to it, is judged as it is.
        found[who[(own < 0) & np.isin(at, targets)]] = True
        return np.flatnonzero(found)

    def insiders(
        self, equations: Equations, known: Sequence[Knowledge], targets: IntArray, outside: Sheet, whom: IntArray
    ) -> list[Sheet]:
        """Judge what some attackers learn: about others in their own cells, and about figures that they can narrow."""
        known = [known[i] for i in whom.tolist()]
        wanted = np.zeros(equations.lower.size, bool)
        wanted[targets] = True
        before = np.full((2, equations.lower.size), np.nan)
        before[:, targets] = outside.found.lower[targets], outside.found.upper[targets]
        sheets = []
        for number, (count, stack) in enumerate(Linked(equations).stacks(known)):
            if self.progress is not None:
                self.progress(number, max(number + 1, len(known) // max(count, 1)), "groups of attackers tried")
            sheets.append(self._stack(replace(stack, who=whom[stack.who]), wanted, before))
        return sheets

    def _stack(self, stack: Copies, wanted: BoolArray, before: FloatArray) -> Sheet:
        rivals = (stack.own >= 0) & (stack.others >= 1)
        # Whoever is alone in a cell knows it anyway, and learns nothing from it.
        chosen = np.flatnonzero(rivals | (wanted[stack.index] & (stack.own < 0)))
        try:
            found = self.bound(stack, chosen)
        except InfeasibleError as error:
            raise self._contradiction(stack, error) from None
        ends, at = Ends.of(found, chosen), stack.index[chosen]
        closer = (ends.low > before[0, at]) | (ends.high < before[1, at])
        keep = rivals[chosen] | closer | ~found.finished[chosen]
        chosen, at = chosen[keep], at[keep]
        low, high, values, off = (column[keep] for column in ends)
        judged = self.weigh(found, chosen)
        mine = rivals[chosen]
        own, others = stack.own[chosen], np.maximum(stack.others[chosen], 1)
        low_asked, high_asked, sliding = (np.where(mine, np.nan, levels) for levels in self.reach.at(at))
        # The largest of several others is at least their mean and at most all of them.
        low = np.where(mine, np.ceil(np.maximum(low - own, 0.0) / others), low)
        high = np.where(mine, high - own, high)
        values = np.where(mine, high - low + 1, values)
        several = mine & ((others > 1) | LAWS[self.law].even)
        judged = replace(judged, bits=np.where(several, np.log2(np.maximum(values, 1.0)), judged.bits))
        near = np.zeros(mine.size, bool)
        if self.limits.within is not None:
            share, rival = self.limits.within / 100, stack.rival[chosen]
            # The p% view is one from above; of a single other contributor an insider has an interval with two ends.
            near = (high < rival * (1 + share)) | ((others == 1) & (low > rival * (1 - share)))
            near &= mine
        ends = Ends(low, high, values, off)
        wrong = self._faults(at, ends, judged.bits, (low_asked, high_asked, sliding), mine, near)
        finished = self._finished(found.finished[chosen], judged, wrong)
        findings = self._findings(at, ends, judged, wrong, finished, stack.who[chosen] + 1, mine.astype(int))
        return Sheet(findings, found, chosen, np.where(mine, own, -1), None, judged.note)

    def _contradiction(self, stack: Copies, error: InfeasibleError) -> InfeasibleError:
        """Name the contribution that cannot be true; the published figures by themselves are consistent."""
        base = stack.base
        mine = np.flatnonzero(stack.own >= 0)[:LOOKED_AT]
        at = stack.index[mine]
        found = self.bound(base, np.unique(at))
        over = np.flatnonzero(stack.own[mine] > found.upper[at])
        if over.size:
            k, i = int(mine[over[0]]), int(at[over[0]])
            proof = prove(found, i, upper=True, deadline=self.clock.deadline)
            why = f" ({proof.text(base)})" if proof is not None else ""
            return InfeasibleError(
                f"{self.attackers[1 + int(stack.who[k])]} contributes {base.text(int(stack.own[k]))} to cell "
                f"{base.describe(i)}, which is at most {base.text(int(found.upper[i]))}{why}; correct the contribution "
                "or the cell"
            )
        names = ", ".join(dict.fromkeys(self.attackers[1 + int(n)] for n in np.unique(stack.who)[:5]))
        told = [f"{base.describe(int(i))}: {base.text(int(stack.own[k]))}" for k, i in zip(mine, at, strict=True)][:5]
        if not told:
            return InfeasibleError(f"the statements about {names} contradict what is published: {error}")
        return InfeasibleError(
            f"the statements about {names} ({'; '.join(told)}) cannot all be true beside what is published; correct "
            "what they are said to contribute or to know"
        )

    # --- both ---------------------------------------------------------------------------------------------

    def _faults(
        self, at: IntArray, ends: Ends, bits: FloatArray, asked: Asked, mine: BoolArray, near: BoolArray | None = None
    ) -> BoolArray:
        """Return what is wrong with each figure."""
        wrong = self.limits.broken(*ends[:3], bits, asked, scale=self.scale)
        exact = wrong.pop("exact")
        sensitive = self.reach.sensitive
        shown = np.zeros(at.size, bool)
        if sensitive is not None:
            # Where rules say what is sensitive, other figures that were hidden for its sake may be worked out.
            stated = (self.equations.source >= 0) & self.equations.exact & ~self.equations.hidden
            shown = (sensitive & stated)[at]
            exact = exact & (sensitive[at] | mine)
        if near is not None:
            wrong["within"] = near
        wrong = {name: mask & ~exact for name, mask in wrong.items()}
        return faults(at.size, exact=exact & ~shown, shown=shown, **wrong)

    def _finished(self, bounded: BoolArray, judged: Judged, wrong: BoolArray) -> BoolArray:
        """Say which figures are judged: bounded and weighed in time, and shown to keep or break the limit on 1/H."""
        weighed = True if judged.finished is None else judged.finished
        fine = self.limits.shown(judged.bits, judged.error) & (not self.tied)
        known: BoolArray = bounded & weighed & (fine | wrong.any(axis=1))
        return known

    def _findings(
        self,
        at: IntArray,
        ends: Ends,
        judged: Judged,
        wrong: BoolArray,
        finished: BoolArray,
        who: IntArray | None = None,
        subject: IntArray | None = None,
    ) -> Findings:
        """Put findings into columns; by default they are an outsider's, about values."""
        none = np.zeros(at.size, np.int64)
        return Findings(
            self.equations,
            self.limits,
            self.attackers,
            self.prior_bits,
            at=at,
            who=none if who is None else who,
            lower=ends.low / self.scale,
            upper=ends.high / self.scale,
            values=ends.values,
            bits=judged.bits,
            error=judged.error,
            faults=wrong,
            finished=finished,
            subject=none if subject is None else subject,
            alone=np.full((2, at.size), np.nan),
            bound=np.zeros(at.size, bool) if judged.bound is None else judged.bound,
            off=ends.off / self.scale,
        )
