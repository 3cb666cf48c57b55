"""A new release beside those published before: which belong together, what they give away, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from discreet.core.errors import DataError, InfeasibleError
from discreet.core.text import many
from discreet.decide.ledger.change import ReleasePair, changes, may_lie_inside
from discreet.decide.ledger.check_result import Change, LedgerCheck, Verdict
from discreet.decide.ledger.corrections import TruePair
from discreet.decide.ledger.entry import Entry, PublishedTable, sheets_of
from discreet.decide.ledger.joined_tables import refuse_contradiction
from discreet.decide.ledger.joint import Joint, joint_findings
from discreet.decide.ledger.numbers_and_amounts import meet, mixed_findings
from discreet.decide.ledger.populations import APART, WITHIN, apart, family, lineage, overlap
from discreet.decide.ledger.revision import REVISED, alike, same_values, versions_findings
from discreet.decide.ledger.screening import NewRelease, quiet
from discreet.decide.ledger.settings import Settings
from discreet.decide.ledger.times import around, with_time
from discreet.decide.ledger.version_levels import UNTOLD, CellLevels, levels_missed
from discreet.feasible.implied_statistics import without_implied
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from discreet.table.release import Release
from discreet.table.spelling import other_spellings, spelled
from discreet.table.taken_apart import doubts, in_one_spelling

TOGETHER = 500
"""How many releases are checked per batch: few enough to notice the time limit."""
FEW = 20
"""Fewer releases than this are compared one by one: a round choice, since batches only save time with many."""


@dataclass(frozen=True)
class Shelf:
    """The content of earlier releases: of one of them, or the packed texts of those that are ``stored``.

    ``originals`` are the true tables behind those that the new release corrects, by id, each with its own.
    """

    read: Callable[[str], Release]
    texts: Callable[[Sequence[str]], list[bytes]]
    stored: frozenset[str]
    originals: Mapping[str, TruePair] = field(default_factory=dict)


class ReleaseCheck:
    """The check of one release, whose line is ``entry``, beside ``every`` release that readers hold.

    ``revised`` are the ids of the releases that it corrects, and ``shelf`` holds the content of releases. ``rules`` say
    what counts as given away for it, and ``others`` for amounts beside numbers, or numbers beside amounts.
    """

    def __init__(
        self,
        release: Release,
        entry: Entry,
        every: Sequence[Entry],
        revised: set[str],
        shelf: Shelf,
        rules: Settings,
        others: Settings,
    ) -> None:
        self.release, self.entry, self.every, self.revised = release, entry, every, revised
        self.shelf, self.rules = shelf, rules
        self.of_others = others
        seen = [e for e in every if not e.unseen]
        self.names = other_spellings(e.dimensions for e in (entry, *seen))
        if self.names:
            seen = [replace(e, dimensions=tuple(self.names.get(name, name) for name in e.dimensions)) for e in seen]
        self.old = [e for e in seen if e.same_variable(entry)]
        self.old_ids = {e.id for e in self.old}
        # What a later release corrected is no longer said; what it says of hidden figures is.
        past = revised | {name for e in self.old for name in e.revises}
        self.over_time = around(
            entry, [e for e in self.old if e.may_be_about(entry.population, "") and e.id not in past]
        )
        same = [e for e in self.old if e.may_be_about(entry.population, entry.period) and e.id not in past]
        self.linked, self.beside = _linked(entry, same), list[Entry]()
        corrected = revised | {name for e in seen for name in e.revises}
        every_variable = [e for e in seen if e.may_be_about(entry.population, entry.period) and e.id not in corrected]
        if meet([entry, *(reached_by := _linked(entry, every_variable))]):
            self.linked = [e for e in reached_by if e.id in self.old_ids]
            self.beside = [e for e in reached_by if e.id not in self.old_ids]
        here = {e.id for e in self.linked}
        self.unlinked = [e for e in same if e.id not in here]
        together, mine = {e.id for e in same}, set(entry.dimensions)
        # A first version may meet the new release through others alone.
        reached = mine.union(*(e.dimensions for e in self.linked))
        self.others = [
            e for e in seen if e.id not in together and not (reached if e.id in past else mine).isdisjoint(e.dimensions)
        ]
        self.mine = sheets_of(release, entry)
        self.groups = [
            [sheet for e in group for sheet in sheets_of(shelf.read(e.id), e, self.names)]
            for group in _worlds(entry, [e for e in seen if e.id in {one.id for one in (*self.linked, *self.beside)}])
        ]
        self.joint = Joint(unjudged=(*rules.unasked, *_renamed(entry, [e for e in seen if e.id in revised])))
        respelled = (
            f"dimension {name} of an earlier release was taken to be {own}" for name, own in self.names.items()
        )
        self.assumed = [*_assumed(entry, self.linked), *respelled]
        self.groups = [self._spelled(group) for group in self.groups]
        self.changes: list[Change] = []
        self.compared: list[Entry] = []
        self.repeated: list[Entry] = []
        self.versions = [e for e in seen if e.id in revised]
        self.levels: CellLevels = {}
        self.closer: tuple[str, ...] = ()

    def _spelled(self, sheets: Sequence[PublishedTable]) -> list[PublishedTable]:
        """Return earlier tables with categories spelled as in the new release, and note what was taken to be one."""
        like = [sheet.figures for sheet in self.mine]
        figures, told = in_one_spelling([sheet.figures for sheet in sheets], like)
        self.assumed += told
        return [replace(sheet, figures=part) for sheet, part in zip(sheets, figures, strict=True)]

    def name_apart(self, pairs: Sequence[Sequence[str]]) -> None:
        """Leave open what dimensions and categories that may be the same give away, other than these pairs."""
        mine = [sheet.figures for sheet in self.mine]
        for group in self.groups:
            if found := doubts(mine, [sheet.figures for sheet in group], pairs):
                self.joint |= Joint(unjudged=tuple(found))
                return

    @cached_property
    def laid(self) -> list[Equations]:
        """The equations of every table of the new release, for comparisons with other times and populations."""
        return [_without_statistics(part) for part in self.release.parts()]

    def outcome(self, fewest: int, in_ledger: int) -> LedgerCheck:
        """Return what the release gives away; changes made by at least ``fewest`` people are safe."""
        late: list[Entry] = []
        for before in self.groups:
            late += [sheet.entry for sheet in before[:1]] if self.rules.clock.late else []
            if not late:
                self._put_together(before)
        for group in self.over_time:
            late += group[:1] if self.rules.clock.late else []
            if not late:
                self._added_up(group)
        for e in self.unlinked:
            late += [e] if self.rules.clock.late else []
            if not late:
                self._if_the_same(e)
        for start in range(0, len(self.others), TOGETHER):
            some = self.others[start : start + TOGETHER]
            silent = self._quiet(some, fewest)
            for other in some:
                if other.id in silent:
                    self.compared += [other] if other.id in self.old_ids else []
                elif not self.rules.clock.late:
                    self._compare(other, fewest)
                # What was compared when time ran out may lack something.
                late += [other] if self.rules.clock.late else []
        if not late:
            self._several_versions()
            self._levels_of_versions()
        if late:
            more = f" and {many(len(late) - 1, 'other release')}" if len(late) > 1 else ""
            told = f"«{late[0].title}»{more} could not be put together or compared with it in time"
            self.joint |= Joint(unjudged=(f"{told}; give more (--time-limit)",))
        if not self.joint.unfinished and not self.joint.unjudged:
            self.joint |= self._if_zeros_are_shown()
        joint = self.joint
        new = any(finding.cause != "before" and finding.sensitive for finding in joint.findings)
        open_ = joint.unfinished or joint.unjudged
        verdict: Verdict = "unsafe" if new or self.changes else "incomplete" if open_ else "safe"
        return LedgerCheck(
            verdict,
            self.entry.title,
            joint.findings,
            tuple(self.changes),
            tuple(self.linked),
            tuple(self.compared),
            len(self.every) - len({e.id for e in (*self.linked, *self.beside, *self.compared)}),
            joint.unfinished,
            joint.unjudged,
            tuple(dict.fromkeys(self.assumed)),
            in_ledger - len(self.every),
            joint.more_zeros,
            self.rules.meaning(fewest),
            self.rules.policy,
            beside=tuple(self.beside),
            closer=self.closer,
        )

    def _put_together(self, before: Sequence[PublishedTable]) -> None:
        """Join the release with earlier ones about the same population and period."""
        if not meet([sheet.entry for sheet in (*self.mine, *before)]):
            own = [sheet for sheet in before if sheet.entry.same_variable(self.entry)]
            self.joint |= joint_findings(self.mine, own, self.rules)
            return
        found, assumed = mixed_findings(
            self.mine, before, lambda amounts: self.rules if amounts is self.rules.amounts else self.of_others
        )
        self.joint |= found
        self.assumed += assumed

    def _if_zeros_are_shown(self) -> Joint:
        """Return what is not called safe because it follows if zeros are always published, which nothing says."""
        beside = (*self.repeated, *(e for group in self.over_time for e in group))
        together = [sheet.figures for sheets in (self.mine, *self.groups) for sheet in sheets]
        if not any(part.unsaid for part in (*together, *(p for e in beside for p in self.shelf.read(e.id).parts()))):
            return Joint()
        shelf = replace(self.shelf, read=lambda name: _with_zeros_shown(self.shelf.read(name)))
        about = self.entry, self.every, self.revised, shelf, self.rules, self.of_others
        try:
            other = ReleaseCheck(_with_zeros_shown(self.release), *about)
            for before in other.groups:
                other._put_together(before)
            for group in other.over_time:
                other._added_up(group)
            for e in self.repeated:
                other._compare(e, 1)
        except (DataError, InfeasibleError):
            what = ["not all of these releases do that; what follows if some do was not judged"]
        else:
            told = [one for one in other.joint.findings if one.sensitive and one.cause != "before"]
            what = [f"{one.name} is known: {one.reason}" for one in told[:1]] or list(other.joint.unjudged[:1])
            if not what:
                return Joint(unfinished=other.joint.unfinished)
        return Joint(
            unjudged=(
                f"nothing says whether hidden figures can be 0, and if zeros are always published, {what[0]}; say "
                f"whether they are ({'; '.join(self._ways_to_say_zeros())})",
            )
        )

    def _ways_to_say_zeros(self) -> list[str]:
        """Return how to say whether hidden figures can be 0, of the new release and of earlier ones."""
        beside = (*self.repeated, *(e for group in self.over_time for e in group))
        old = [*(sheet.entry for sheets in self.groups for sheet in sheets), *beside]
        silent = [name for name in dict.fromkeys(e.id for e in old) if _may_show_zeros(self.shelf.read(name))]
        told = ["--least 1, or --least 0 if zeros are hidden too"] * _may_show_zeros(self.release)
        return [*told, *(f"discreet ledger retag {name} --least … --reason …" for name in silent)]

    def _added_up(self, group: Sequence[Entry]) -> None:
        """Note what follows if figures of periods inside each other add up; if they contradict that, they do not."""
        theirs = [sheet for e in group for sheet in sheets_of(self.shelf.read(e.id), e, self.names)]
        laid = with_time([*self.mine, *self._spelled(theirs)])
        try:
            found = joint_findings(laid[: len(self.mine)], laid[len(self.mine) :], self.rules, same=False)
        except (DataError, InfeasibleError):
            return
        told = [one for one in found.findings if one.cause == "together" and one.sensitive]
        what = [f"{one.subtraction or one.name} follows" for one in told[:1]] or [*found.unjudged]
        what += [f"{many(found.unfinished, 'figure')} could not be bounded in time"] * bool(found.unfinished)
        self.joint |= Joint(unjudged=tuple(_within(self.entry, group, text) for text in what))

    def _if_the_same(self, e: Entry) -> None:
        """Note what follows if a release that shares no dimension, only the total, is about the same people.

        One of the two states no population. If their figures contradict each other, they are not the same people.
        """
        theirs = self._spelled(sheets_of(self.shelf.read(e.id), e, self.names))
        wholes = [_whole(sheet.figures) for sheet in (*self.mine, *theirs)]
        if len({whole for whole in wholes if whole is not None}) > 1:
            return
        for every in self.groups:
            before = [sheet for sheet in every if sheet.entry.same_variable(self.entry)]
            try:
                found = joint_findings(self.mine, [*before, *theirs], self.rules, same=False)
            except (DataError, InfeasibleError):
                return
            known = {one.name for one in self.joint.findings}
            told = [
                one for one in found.findings if one.cause == "together" and one.sensitive and one.name not in known
            ]
            what = [f"{one.subtraction or one.name} follows" for one in told[:1]]
            what += [f"{many(found.unfinished, 'figure')} could not be bounded in time"] * bool(found.unfinished)
            self.joint |= Joint(unjudged=tuple(_perhaps(e, self.entry, text) for text in what))
        self.compared.append(e)

    def _quiet(self, some: Sequence[Entry], fewest: int) -> set[str]:
        """Return the releases for which a comparison reveals nothing; many are screened at once."""
        about = self.entry
        plain = [
            e
            for e in some
            if e.id in self.shelf.stored and not self._stated(e) and not apart(e.population, about.population)
            if e.least is None
        ]
        if len(plain) < FEW or self.rules.clock.late or any(sheet.figures.statistics for sheet in self.mine):
            return set()
        worlds = [[*(s for s in every if s.entry.same_variable(about)), *self.mine] for every in self.groups]
        new = NewRelease(worlds, self.laid, self.rules, fewest, self.names)
        # Of another variable only figures that are printed again count.
        found = set()
        for same in (True, False):
            mine = [e for e in plain if (e.id in self.old_ids) == same]
            if mine:
                inside = np.array([same and e.may_be_about("", about.period) for e in mine])
                judged = new if same else replace(new, laid=())
                told = quiet(judged, mine, self.shelf.texts([e.id for e in mine]), inside)
                found |= {e.id for e, nothing in zip(mine, told.tolist(), strict=True) if nothing}
        return set() if self.rules.clock.late else found

    def _stated(self, e: Entry) -> bool:
        """Say whether a release is stated to be another version of the figures."""
        return e.id in self.revised or (
            e.id in self.old_ids and e.may_be_about(self.entry.population, self.entry.period)
        )

    def _several_versions(self) -> None:
        """Put all versions together: those that have true tables by these, and otherwise all by what they print."""
        stated = [e for e in self.others if self._stated(e)]
        true = [e for e in stated if e.id in self.shelf.originals]
        for old in [true, stated] if len(true) < len(stated) else [true]:
            if len(old) < 2:
                continue
            theirs = [self._spelled(sheets_of(self.shelf.read(e.id), e, self.names)) for e in old]
            pairs = [self.shelf.originals[e.id] for e in old] if old is true else []
            for every in self.groups:
                before = [sheet for sheet in every if sheet.entry.same_variable(self.entry)]
                self.joint |= versions_findings(self.mine, before, theirs, self.rules, pairs)

    def _levels_of_versions(self) -> None:
        """Judge whether cells keep the levels asked for to a reader of all versions."""
        old, true = self.versions, self.shelf.originals
        if not self.levels or not old:
            return
        if any(e.id not in true for e in old):
            self.joint |= Joint(unjudged=(UNTOLD,))
            return
        theirs = [self._spelled(sheets_of(self.shelf.read(e.id), e, self.names)) for e in old]
        found = levels_missed(self.mine, theirs, [true[e.id] for e in old], self.levels, self.rules)
        # What is found already counts once.
        known = {one.name for one in self.joint.findings if one.cause != "before" and one.sensitive}
        more = tuple(one for one in found.joint.findings if one.name not in known)
        self.joint |= replace(found.joint, findings=more)
        self.closer = found.closer

    def _compare(self, e: Entry, fewest: int) -> None:
        """Compare with a release about another time or population, or with other versions of the figures."""
        entry, theirs = self.entry, self._spelled(sheets_of(self.shelf.read(e.id), e, self.names))
        both = f"«{e.title}» and «{entry.title}»"
        stated = self._stated(e)
        repeated = False
        for every in self.groups:
            before = [sheet for sheet in every if sheet.entry.same_variable(entry)]
            why = REVISED if stated else alike([*before, *self.mine], theirs)
            if why:
                repeated = True
                self.joint |= same_values(
                    self.mine, before, theirs, self.rules, why, stated=stated, originals=self.shelf.originals.get(e.id)
                )
            if why and not stated:
                self.assumed.append(f"{both} were taken to describe the same values, as {why}")
        strangers = e.id not in self.revised and apart(e.population, entry.population)
        if strangers:
            self.assumed.append(f"{both} are said to be about different people: no change was judged")
        # Amounts of something else, and other people, are compared only where they may be the same ones.
        changed = e.id in self.old_ids and not strangers
        self.repeated += [e] * repeated
        if changed or repeated:
            self.compared.append(e)
        # Statistics that say more than the figures beside them.
        left = without_implied([sheet.figures for sheet in (*self.mine, *theirs)]) if changed else ()
        if told := ", ".join(dict.fromkeys(one.name for part in left for one in part.statistics if len(one))):
            self.joint |= Joint(unjudged=(f"{told} of {both} were not compared: what their change gives away is open",))
        limit = self.rules.clock.left
        for new, old in product(self.laid, [_without_statistics(sheet.figures) for sheet in theirs] if changed else []):
            pair = ReleasePair(old, new, limit)
            self.changes += changes(pair, f"«{e.title}»", fewest, amounts=self.rules.amounts)
            if e.may_be_about("", entry.period) and not stated and (inside := may_lie_inside(pair, self.rules)):
                self.joint |= Joint(unjudged=(_nested(e, entry, *inside),))


def _with_zeros_shown(release: Release) -> Release:
    """Return a release as one that hides no zeros, or as one that does if its own figures say so."""
    return release.marked(1 if _may_show_zeros(release) else 0)


def _may_show_zeros(release: Release) -> bool:
    """Say whether a release may always show zeros, which nothing says."""
    if not any(part.unsaid for part in release.parts()):
        return False
    try:
        refuse_contradiction(release.marked(1))
    except (DataError, InfeasibleError):
        return False
    return True


def _without_statistics(part: Figures) -> Equations:
    """Return the equations of the figures alone; a note says that statistics of other times were not compared."""
    return equations_of(replace(part, statistics=()))


def _whole(part: Figures) -> Fraction | None:
    """Return the total that a table prints exactly, None where it prints none."""
    lower, upper = part.ranges()
    rows = lower == upper
    for column, labels in zip(part.codes.T, part.labels.values(), strict=True):
        rows &= np.array([label == part.total for label in labels], bool)[column]
    return Fraction(int(part.values[rows][0]), 10**part.decimals) if rows.any() else None


def _perhaps(earlier: Entry, entry: Entry, what: str) -> str:
    """Say what is given away if two releases are about the same people, which one of them does not say."""
    silent = entry if not entry.population else earlier
    return (
        f"«{silent.title}» states no population, and if «{earlier.title}» and «{entry.title}» are about the same "
        f"people, {what}; state the population of both (--population, discreet ledger retag)"
    )


def _linked(entry: Entry, same: Sequence[Entry]) -> list[Entry]:
    """Return the releases of a population that are linked to a new one: by its tag, or by shared dimensions."""
    own = family(entry.population)
    found = {e.id for e in same if e.population and family(e.population) == own}
    # Releases by dimension, each looked at once: the work grows with what is related.
    showing: dict[str, list[Entry]] = {}
    for e in same:
        for name in e.dimensions:
            showing.setdefault(name, []).append(e)
    ahead = list({name: None for e in (entry, *(e for e in same if e.id in found)) for name in e.dimensions})
    while ahead:
        for e in showing.pop(ahead.pop(), ()):
            found.add(e.id)
            ahead += [name for name in e.dimensions if name in showing]
    return [e for e in same if e.id in found]


def _worlds(entry: Entry, linked: Sequence[Entry]) -> list[list[Entry]]:
    """Return the largest sets of releases that may all be about one population and period, together with a new one.

    Releases with the same tags are looked up, not searched for: the work grows with the size of the sets.
    """
    stating: dict[tuple[str, str], list[int]] = {}
    for number, e in enumerate(linked):
        stating.setdefault((family(e.population), spelled(e.period)), []).append(number)
    told = {*stating, (family(entry.population), spelled(entry.period))}
    populations, periods = ({one[k] for one in told if one[k]} or {""} for k in (0, 1))
    # Both are stated together, or either by releases that leave the other open.
    sets = {one for one in told if one[0] in populations and one[1] in periods}
    open_ends = [who for who in populations if (who, "") in told], [when for when in periods if ("", when) in told]
    sets |= set(product(*open_ends))
    alone = min(populations), min(periods)
    sets |= {(who, alone[1]) for who in populations - {one[0] for one in sets}}
    sets |= {(alone[0], when) for when in periods - {one[1] for one in sets}}
    found = []
    for who, when in sets or {alone}:
        keys = {(who, when), (who, ""), ("", when), ("", "")}
        found.append(sorted(number for key in keys for number in stating.get(key, ())))
    return [[linked[number] for number in one] for one in sorted(found, key=lambda one: one[:1])]


def _assumed(entry: Entry, linked: Sequence[Entry]) -> tuple[str, ...]:
    """Say which releases state no population or period where others do, and were taken to be about the same."""
    found = []
    for what in ("population", "period"):
        stated = [e for e in (entry, *linked) if getattr(e, what)]
        silent = [e for e in (entry, *linked) if not getattr(e, what)]
        if stated and silent:
            names = ", ".join(f"«{e.title}»" for e in silent)
            told = ", ".join(dict.fromkeys(getattr(e, what) for e in stated))
            some = "states" if len(silent) == 1 else "state"
            was = "was" if len(silent) == 1 else "were"
            found.append(f"{names} {some} no {what} and {was} taken to be about the same ({told})")
    return tuple(found)


def _renamed(entry: Entry, revised: Sequence[Entry]) -> tuple[str, ...]:
    """Say which releases are revised by one that has none of their dimensions."""
    return tuple(
        f"«{entry.title}» revises «{e.title}» but has none of its dimensions ({', '.join(e.dimensions)}), so "
        "their figures could not be compared; name dimensions as the first release does"
        for e in revised
        if not set(e.dimensions) & set(entry.dimensions)
    )


def _within(entry: Entry, group: Sequence[Entry], what: str) -> str:
    """Say what is given away if figures of a period are the sums of those of periods inside it."""
    titles = ", ".join(dict.fromkeys(f"«{e.title}»" for e in group[:5]))
    return (
        f"«{entry.title}» and {titles}{' and others' if len(group) > 5 else ''} are about periods inside each other, "
        f"and if figures of the longer one add up those of the shorter ones, {what}; hide more until nothing does, or "
        "name the day if figures are of a day and add up nothing (--period 'on 2024-12-31', discreet ledger retag)"
    )


def _nested(earlier: Entry, entry: Entry, small: str, larger: bool) -> str:
    """Say that one population may lie inside another, and how to state whether it does."""
    one, other = (" > ".join(lineage(e.population)) for e in (earlier, entry))
    outermost, *within = (name.strip() for name in entry.population.split(WITHIN))
    beside = f" {WITHIN} ".join([f"{outermost} {APART} {lineage(earlier.population)[0]}", *within])
    behind = (
        f"discreet ledger retag {earlier.id} --population '{other} > {one}' --reason …"
        if larger
        else f"--population '{one} > {other}'"
    )
    # Ages 16+ and 18+ do share people, whoever says otherwise.
    separate = (
        ""
        if overlap(earlier.population, entry.population)
        else f", or say that they share nobody (--population '{beside}')"
    )
    return (
        f"«{earlier.title}» and «{entry.title}» are about populations that may lie inside each other, and then "
        f"{small}; write one behind the other to have such differences checked ({behind}){separate}"
    )
