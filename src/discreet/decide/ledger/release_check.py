"""A new release beside those published before: which belong together, what they give away, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from discreet.decide.ledger.change import NestedTables, changes, may_lie_inside
from discreet.decide.ledger.check_result import Change, LedgerCheck, Verdict
from discreet.decide.ledger.entry import Entry, sheets_of
from discreet.decide.ledger.joint import Joint, joint_findings
from discreet.decide.ledger.populations import APART, WITHIN, apart, family, lineage
from discreet.decide.ledger.revision import alike, same_values
from discreet.decide.ledger.settings import Settings
from discreet.table.release import Release


class ReleaseCheck:
    """The check of one release, whose line is ``entry``, beside ``every`` release that readers hold.

    ``revised`` are the ids of the releases that it corrects, and ``read`` returns what a release publishes.
    """

    def __init__(
        self,
        release: Release,
        entry: Entry,
        every: Sequence[Entry],
        revised: set[str],
        read: Callable[[str], Release],
        rules: Settings,
    ) -> None:
        self.release, self.entry, self.every, self.revised = release, entry, every, revised
        self.read, self.rules = read, rules
        seen = [e for e in every if not e.unseen]
        self.old = [e for e in seen if e.same_variable(entry)]
        self.old_ids = {e.id for e in self.old}
        # What a later release corrected is no longer said; what it says of hidden figures is.
        past = revised | {name for e in self.old for name in e.revises}
        same = [e for e in self.old if e.may_be_about(entry.population, entry.period) and e.id not in past]
        self.linked = _linked(entry, same)
        together, mine = {e.id for e in same}, set(entry.dimensions)
        self.others = [e for e in seen if e.id not in together and not mine.isdisjoint(e.dimensions)]
        self.mine = sheets_of(release, entry)
        self.groups = [
            [sheet for e in group for sheet in sheets_of(read(e.id), e)] for group in _worlds(entry, self.linked)
        ]
        self.joint = Joint(unjudged=(*rules.unasked, *_renamed(entry, [e for e in seen if e.id in revised])))
        self.assumed = list(_assumed(entry, self.linked))
        self.changes: list[Change] = []
        self.compared: list[Entry] = []

    def outcome(self, fewest: int, in_ledger: int) -> LedgerCheck:
        """Return what the release gives away; changes that ``fewest`` people or more made are safe."""
        for before in self.groups:
            self.joint |= joint_findings(self.mine, before, self.rules)
        for other in self.others:
            self._compare(other, fewest)
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
            len(self.every) - len(self.linked) - len(self.compared),
            joint.unfinished,
            joint.unjudged,
            tuple(dict.fromkeys(self.assumed)),
            in_ledger - len(self.every),
            joint.more_zeros,
            self.rules.meaning(fewest),
            self.rules.policy,
        )

    def _compare(self, e: Entry, fewest: int) -> None:
        """Compare with a release about another time or population, or with other versions of the figures."""
        entry, theirs = self.entry, sheets_of(self.read(e.id), e)
        both = f"«{e.title}» and «{entry.title}»"
        stated = e.id in self.revised or (e.id in self.old_ids and e.may_be_about(entry.population, entry.period))
        repeated = False
        for before in self.groups:
            why = "a later release revises the other" if stated else alike([*before, *self.mine], theirs)
            if why:
                repeated = True
                self.joint |= same_values(self.mine, before, theirs, self.rules, why)
            if why and not stated:
                self.assumed.append(f"{both} were taken to describe the same values, as {why}")
        strangers = e.id not in self.revised and apart(e.population, entry.population)
        if strangers:
            self.assumed.append(f"{both} are said to be about different people: no change was judged")
        # Amounts of something else, and other people, are compared only where they may be the same ones.
        changed = e.id in self.old_ids and not strangers
        if changed or repeated:
            self.compared.append(e)
        for pair in product(self.release.parts(), [sheet.figures for sheet in theirs] if changed else []):
            self.changes += changes(*pair, f"«{e.title}»", fewest, amounts=self.rules.amounts)
            if e.may_be_about("", entry.period) and not stated and (inside := may_lie_inside(*pair, self.rules)):
                self.joint |= Joint(unjudged=(_nested(e, entry, inside),))


def _linked(entry: Entry, same: Sequence[Entry]) -> list[Entry]:
    """Return the releases of a population that are linked with a new one: by its tag, or by shared dimensions."""
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
    """Return the sets of releases that may all be about one population and period, together with a new one."""
    every = (entry, *linked)
    populations = list({family(e.population): e.population for e in every if e.population}.values()) or [""]
    periods = list(dict.fromkeys(e.period for e in every if e.period)) or [""]
    sets = [[e for e in linked if e.may_be_about(who, when)] for who in populations for when in periods]
    ids = [{e.id for e in group} for group in sets]
    return [
        group
        for k, group in enumerate(sets)
        if not any(ids[k] < other or (ids[k] == other and j < k) for j, other in enumerate(ids))
    ]


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
    """Say which releases are corrected by one that has none of their dimensions."""
    return tuple(
        f"«{entry.title}» revises «{e.title}» but has none of its dimensions ({', '.join(e.dimensions)}), so "
        "their figures could not be compared; name dimensions as the first release does"
        for e in revised
        if not set(e.dimensions) & set(entry.dimensions)
    )


def _nested(earlier: Entry, entry: Entry, inside: NestedTables) -> str:
    """Say that one population may lie inside another, and how to state whether it does."""
    one, other = (" > ".join(lineage(e.population)) for e in (earlier, entry))
    outermost, *within = (name.strip() for name in entry.population.split(WITHIN))
    beside = f" {WITHIN} ".join([f"{outermost} {APART} {lineage(earlier.population)[0]}", *within])
    behind = (
        f"discreet ledger retag {earlier.id} --population '{other} > {one}' --reason …"
        if inside.larger
        else f"--population '{one} > {other}'"
    )
    return (
        f"«{earlier.title}» and «{entry.title}» are about populations that may lie inside each other, and then "
        f"{inside.text}; write one behind the other to have such differences checked ({behind}), or say that they "
        f"share nobody (--population '{beside}')"
    )
