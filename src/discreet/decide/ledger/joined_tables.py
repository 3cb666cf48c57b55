"""Everything published about one population in one set of equations, with bounds on what no release shows exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.auditing.common_step import common_step, judge_in, told_in_steps
from discreet.auditing.findings import RANK, Findings
from discreet.core.errors import DataError, DiscreetError, InfeasibleError, RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.text import listed, many
from discreet.decide.ledger.corrections import OtherVersion, put_together
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.joining import explicit, joined
from discreet.decide.ledger.populations import with_population
from discreet.decide.ledger.presence import Presence
from discreet.decide.ledger.settings import Settings
from discreet.feasible.bounds import Bounds, bounds
from discreet.feasible.contradiction import reduced
from discreet.feasible.implied_statistics import without_implied
from discreet.feasible.statistic_ranges import with_statistics
from discreet.table.blocks import blocks_of
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release
from discreet.table.space import WHOLE
from discreet.table.statistic import StatisticColumn

REMEDIES = (
    "say how they differ, and check again, which keeps the check on. If categories were split differently, give a "
    "hierarchy with those of both (--hierarchy). If a release is about some of the people, write them after the whole "
    "(--population 'residents > 18+'). If a total covers some categories only, give it a code of its own and name it "
    "(--part DIMENSION=CODE); the total of everybody has the same code everywhere. For a corrected release, name the "
    "one that it corrects (--revises ID); for another time, state it (--period); if something else is added up, state "
    "that (--variable): amounts then say only where somebody is. To state this about an earlier release, retag it "
    "(discreet ledger retag ID --reason …)"
)


class ContradictingReleases(DataError):
    """Releases that cannot all be true of one population; ``told`` is what contradicts what, without remedies."""

    def __init__(self, told: str, unsaid: str) -> None:
        """Add what can be said at the command line."""
        super().__init__(f"{told}; {REMEDIES}{unsaid}")
        self.told = told


ONE_DRAW = 20
"""So many figures are all equal by chance in fewer than one of 100,000 draws: under random rounding, 5 in 9 each."""


def lay(sheets: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Return tables that fit into one set of equations."""
    # What follows from figures shown beside it tells nothing.
    whole = [explicit(without_implied([sheet.figures])[0]) for sheet in sheets]
    parts = joined(with_population(whole, [sheet.entry.population for sheet in sheets]))
    return [
        # Errors name the release.
        replace(sheet, figures=replace(part, name=f"«{sheet.entry.title}»"))
        for part, sheet in zip(parts, sheets, strict=True)
    ]


def refuse_contradiction(release: Release) -> None:
    """Refuse a release whose own figures cannot all be true: nothing joined with it could be judged."""
    reduced(with_statistics(equations_of(joined([explicit(part) for part in without_implied(release.parts())]))))


class JoinedTables:
    """Joined tables, and the bounds of what is asked about. The first ``earlier`` of them are old.

    ``protected`` are the positions that some table hides, rounds or perturbs, ``inner`` the finest cells of every block
    of dimensions, ``asked`` those of them that no table shows, and ``wrong`` the positions that are known too well.
    ``presence`` is what tables of other variables say about who is there, and ``others`` what other versions of the
    figures do.
    """

    def __init__(
        self,
        sheets: Sequence[PublishedTable],
        settings: Settings,
        earlier: int = 0,
        presence: Presence | None = None,
        others: Sequence[OtherVersion] = (),
    ) -> None:
        self.settings, self.sheets, self.earlier = settings, sheets, earlier
        self.presence, self.others = presence, others
        try:
            self._state()
        except (DataError, InfeasibleError) as error:
            if presence is not None or others or len({sheet.entry.title for sheet in sheets}) < 2:
                raise
            raise of_one_population(error, sheets) from None
        self.scale = self.judge.scale
        self.exact = self.found.lower == self.found.upper
        small = self.asked & settings.small(self.found.lower, self.found.upper, self.scale)
        self.judged = self.judge.judged(self.found, np.flatnonzero(self.protected | small)).findings
        self.wrong = np.zeros(self.exact.size, bool)
        self.wrong[self.judged.at[self.judged.faults.any(axis=1)]] = True

    def _state(self) -> None:
        """State the equations, and bound what is protected or asked about."""
        parts = [
            replace(part, statistics=tuple(one for one in part.statistics if _judged(one)))
            for part in (sheet.figures for sheet in self.sheets)
        ]
        draws = list(dict.fromkeys(sheet.draw for sheet in self.sheets))
        stated = replace(self._equations(parts), draws=tuple(draws.index(sheet.draw) for sheet in self.sheets))
        self.equations = self.plain = with_statistics(stated)
        if stated.measured is not None:
            self.plain = self._equations([replace(part, statistics=()) for part in parts])
        space = self.equations.space
        crossed = [frozenset(part.names) for part in parts]
        crossed += [] if self.presence is None else self.presence.crossed
        self.blocks = blocks_of(crossed, {a.name: len(a.nodes) for a in space.axes})
        self.protected = self.shown(self.sheets, exact=False)
        self.inner = np.zeros(self.protected.size, bool)
        for block in self.blocks:
            self.inner[self.inner_of(block)] = True
        self.asked = self.inner & (self.equations.source < 0) & ~self.protected
        self.judge = self.settings.judge(self.equations)
        # Who is in a line is asked of every sum.
        wanted = self.protected | self.asked | (~self.equations.exact & (self.settings.lines is not None))
        # Without limits, all that counts is which figures have a single value, and which cells are small in any case.
        limits = self.settings.limits
        limited = limits.width is not None or limits.dr is not None or self.settings.lines is not None
        self.limited = limited
        apart = None if limited else self.settings.top(self.judge.scale)
        self.found = self.judge.bound(self.equations, np.flatnonzero(wanted), apart)

    def _equations(self, parts: Sequence[Figures]) -> Equations:
        """State what tables say, with what others say about who is there, or about other versions."""
        if self.others:
            return put_together(self.others, equations_of(parts, on=self.others[0].layout))
        if self.presence is None:
            return equations_of(parts)
        return self.presence.put(equations_of(parts, on=self.presence.layout))

    def shown(self, sheets: Sequence[PublishedTable], *, exact: bool) -> BoolArray:
        """Return which positions some of the tables show exactly, or otherwise hide, round or perturb."""
        found = np.zeros(self.equations.lower.size, bool)
        for sheet in sheets:
            lower, upper = sheet.figures.ranges()
            found[self.equations.rows_of(sheet.figures)[(lower == upper) == exact]] = True
        return found

    def inner_of(self, block: frozenset[str]) -> IntArray:
        """Return the finest cells of a block of dimensions."""
        space = self.equations.space
        inner = space.cross({axis.name: axis.leaves for axis in space.axes if axis.name in block})
        # Tables of a part of a dimension leave out what they do not cross.
        at = self.equations.locate(inner)
        return at[at >= 0]

    def ends(self, i: int, found: Bounds | None = None) -> tuple[float, float]:
        """Return the bounds of a position in published units, from these bounds or others."""
        by = self.found if found is None else found
        lower, upper = int(by.lower[i]), int(by.upper[i])
        low = lower / self.scale if lower > -UNBOUNDED else -math.inf
        return low, upper / self.scale if upper < UNBOUNDED else math.inf

    def bits(self, i: int) -> tuple[float, float]:
        """Return how many bits are left of a figure, and their error; NaN where it was not judged."""
        f = self.judged
        k = int(np.searchsorted(f.at, i))
        return (float(f.bits[k]), float(f.error[k])) if k < len(f) and f.at[k] == i else (math.nan, math.nan)

    def reason(self, i: int) -> str:
        """Say what is wrong with a figure that was judged."""
        return faults_of(self.judged, int(np.searchsorted(self.judged.at, i)))

    def key(self, i: int) -> frozenset[tuple[str, str]]:
        """Return the labels of a position, which are the same in every set of equations."""
        roots = {axis.name: axis.nodes[0] for axis in self.equations.space.axes}
        return frozenset((name, label) for name, label in self.equations.cell(i).items() if label != roots[name])

    def find(self, cell: dict[str, str]) -> int | None:
        """Return where a cell of other equations is in these, None if nowhere."""
        known = {name: label for name, label in cell.items() if name in self.equations.space.names}
        if any(label != WHOLE for name, label in cell.items() if name not in known):
            return None
        try:
            return self.equations.find(known)
        except RequestError:
            return None

    def bounded(self, sums: Sequence[tuple[Sequence[int], str]]) -> Bounds:
        """Bound sums of positions, which follow all others."""
        equations, s = self.equations.with_sums(sums), self.settings
        targets = np.arange(self.equations.lower.size, equations.lower.size)
        # What is known of a sum is known over real numbers; of amounts all that counts is whether it is.
        apart = math.inf if s.amounts and not self.limited else None
        limit, workers, progress = s.clock.left, s.workers, s.progress
        return bounds(
            equations, targets, relaxed=True, apart=apart, time_limit=limit, workers=workers, progress=progress
        )

    def beside(self) -> list[str]:
        """Say which statistics could not be judged: about respondents' values, several figures, or of unknown kind."""
        every = [one for sheet in self.sheets for one in sheet.figures.statistics]
        silent = [f"{one.name} ({one.statistic})" for one in every if not _judged(one)]
        silent += [name for name in self.equations.unjudged if name not in silent]
        if not silent:
            return []
        return [
            f"what {', '.join(dict.fromkeys(silent))} gives away together with other releases could not be judged; "
            "audit the releases together (dc.audit, discreet audit)"
        ]

    def drawn_again(self) -> list[str]:
        """Say which figures of new tables were drawn again though others show them, if no law covers both draws.

        Figures that are equal in many places are one draw, published again.
        """
        if self.settings.policy:
            return []
        found: dict[str, int] = {}
        for k in range(self.earlier, len(self.sheets)):
            for other in (sheet for sheet in self.sheets[:k] if sheet.draw != self.sheets[k].draw):
                (at, mine), (there, theirs) = (self._drawn(sheet) for sheet in (self.sheets[k], other))
                _, here, beside = np.intersect1d(at, there, return_indices=True)
                if here.size and (here.size < ONE_DRAW or (mine[here] != theirs[beside]).any()):
                    title = f"«{other.entry.title}»"
                    found[title] = max(found.get(title, 0), here.size)
        if not found:
            return []
        count = max(found.values())
        return [
            f"{many(count, 'figure')} of «{self.sheets[-1].entry.title}» {'was' if count == 1 else 'were'} drawn at "
            f"random again after {', '.join(found)}, and without a policy only the possible values are judged, not how "
            "likely readers of both draws find each; publish the figures that were drawn first, or leave them out "
            f"where fewer than {ONE_DRAW} are printed again, since so few may be equal by chance (--absent "
            "unpublished), or give a policy with a limit on 1/H (--policy)"
        ]

    def in_steps(self) -> tuple[set[frozenset[tuple[str, str]]], str]:
        """Return what is known too well to readers who take hidden amounts for multiples of what all others are.

        That is none, with no text, where amounts are in no step, or some hidden one is not.
        """
        step = common_step([sheet.figures for sheet in self.sheets]) if self.settings.amounts else 1
        at = np.flatnonzero(self.protected & ~self.wrong)
        if step == 1 or not at.size:
            return set(), ""
        judge = judge_in(step, self.judge)
        try:
            found = judge.judged(judge.bound(judge.equations, at), at).findings
        except (DataError, InfeasibleError):
            return set(), ""
        known = {self.key(int(i)) for i in found.at[found.rank != RANK["safe"]]}
        return known, told_in_steps(step, found, self.equations.decimals)

    def _drawn(self, sheet: PublishedTable) -> tuple[IntArray, IntArray]:
        """Return where a table shows figures that were drawn at random, and the figures."""
        part = sheet.figures
        lower, upper = part.ranges()
        chosen = part.where(lambda kind: kind.drawn) & (lower < upper)
        values = part.values[chosen] * 10 ** (self.equations.decimals - part.decimals)
        return self.equations.rows_of(part)[chosen], values

    def unfinished(self) -> int:
        """Return how many figures could not be bounded in time."""
        return int(np.count_nonzero(~self.found.finished & (self.protected | self.asked)))

    def dark(self) -> int:
        """Return for how many figures the risk 1/H to a reader who knows the method cannot be shown."""
        f = self.judged
        return int(np.count_nonzero(self.found.finished[f.at] & ~f.finished & ~f.faults.any(axis=1)))


def of_one_population(error: DataError | InfeasibleError, sheets: Sequence[PublishedTable]) -> DiscreetError:
    """Return an error that names the releases that contradict each other, and says how to go on."""
    titles = listed(list(dict.fromkeys(f"«{sheet.entry.title}»" for sheet in sheets)))
    told = f"{titles} cannot all be true of one population: {_clash(str(error))}"
    return ContradictingReleases(told, _silent([sheet.entry for sheet in sheets]) + _bare(sheets))


def _bare(sheets: Sequence[PublishedTable]) -> str:
    """Name a release with nobody in a category of its hierarchy: it may have no rows of that."""
    for sheet in sheets:
        part = sheet.figures
        there = part.hidden | (part.ranges()[1] > 0)
        for name, trees in part.hierarchies.items():
            shown = {part.labels[name][code] for code in set(part.codes[there, part.names.index(name)].tolist())}
            bare = [leaf for tree in trees for leaf in tree.leaves if not shown & {*tree.path(leaf)} - {tree.total}]
            if bare:
                return (
                    f". Nobody is in {name}={bare[0]} by «{sheet.entry.title}»; if it does not publish that, say so "
                    "(--absent unpublished)"
                )
    return ""


def _judged(column: StatisticColumn) -> bool:
    """Say whether a statistic is about single figures only, not about their sums or respondents' values."""
    one = column.statistic
    return not len(column) or (one.linear and not one.of_values and one.kind != "cumulative")


def faults_of(judged: Findings, k: int) -> str:
    """Say what is wrong with one of the figures that were judged."""
    ends = float(judged.lower[k]), float(judged.upper[k])
    return "; ".join(judged.limits.phrases(judged.faults[k], *ends, float(judged.dr[k])))


def _clash(message: str) -> str:
    """Return which figures contradict each other, without remedies, which would be for a single table.

    >>> _clash("3 figures contradict each other (a = 1; b = 2); correct one of them")
    '3 figures contradict each other (a = 1; b = 2)'
    """
    return re.split(r";(?![^()]*\))", message, maxsplit=1)[0]


def _silent(entries: Sequence[Entry]) -> str:
    """Say which releases state nothing where another does: stating it for one alone changes nothing."""
    texts = []
    for what in ("population", "period"):
        if not any(getattr(entry, what) for entry in entries):
            continue
        for entry in dict.fromkeys(entry for entry in entries if not getattr(entry, what)):
            how = f"discreet ledger retag {entry.id} --{what} … --reason …" if entry.id else f"--{what} …"
            texts.append(f". «{entry.title}» states no {what} and was taken to be about the same: say it ({how})")
    return "".join(texts)
