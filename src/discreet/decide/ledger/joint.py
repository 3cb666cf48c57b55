"""The joint check: what a new release gives away together with all earlier ones about the same population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.text import many
from discreet.decide.ledger.check_result import Cause, LedgerFinding
from discreet.decide.ledger.corrections import OtherVersion
from discreet.decide.ledger.entry import PublishedTable
from discreet.decide.ledger.given_away import PROOFS, Given, GivenAway, Known
from discreet.decide.ledger.joined_tables import JoinedTables, lay
from discreet.decide.ledger.joining import unrelated
from discreet.decide.ledger.presence import Presence
from discreet.decide.ledger.settings import Settings

SUMS = "of hidden amounts can be worked out from several releases"
"""What is said of sums of amounts that follow, which nobody can judge without contributors."""


@dataclass(frozen=True)
class Joint:
    """What tables give away together, how many figures were not bounded in time, and what else was not judged.

    ``more_zeros`` says that not all figures of 0 that follow are among the findings.
    """

    findings: tuple[LedgerFinding, ...] = ()
    unfinished: int = 0
    unjudged: tuple[str, ...] = ()
    more_zeros: bool = False

    def __or__(self, other: Joint) -> Joint:
        """Return what either finds: releases that state less may belong to more than one set."""
        seen = {(finding.name, finding.subtraction) for finding in self.findings}
        more = [finding for finding in other.findings if (finding.name, finding.subtraction) not in seen]
        return Joint(
            tuple(sorted([*self.findings, *more], key=_order)),
            self.unfinished + other.unfinished,
            tuple(dict.fromkeys([*self.unjudged, *other.unjudged])),
            self.more_zeros or other.more_zeros,
        )


def joint_findings(
    new: Sequence[PublishedTable], earlier: Sequence[PublishedTable], settings: Settings, *, same: bool = True
) -> Joint:
    """Return what all tables give away together; without ``same``, whether they share values is only a guess."""
    laid = lay([*earlier, *new])
    found = findings_of(laid[len(earlier) :], laid[: len(earlier)], settings, same=same)
    return replace(found, unjudged=(*found.unjudged, *of_unrelated(laid, new, earlier)))


def findings_of(
    new: Sequence[PublishedTable],
    earlier: Sequence[PublishedTable],
    settings: Settings,
    presence: Presence | None = None,
    before: Presence | None = None,
    *,
    same: bool = True,
    others: Sequence[OtherVersion] = (),
    whole: Sequence[PublishedTable] = (),
) -> Joint:
    """Return what joined tables give away, except where nothing relates them.

    ``presence`` is what tables of other variables say about who is there, and ``before`` what earlier ones say.
    ``others`` are what other versions of the figures say beside their unchanged tables, which are among the others, and
    ``whole`` are all tables of the only one.
    """
    tables = JoinedTables([*earlier, *new], settings, len(earlier), presence, others)
    work = GivenAway(tables)
    given = work.all()
    known: list[Known | None] = [None] * len(given)
    itself = known
    if given and earlier and (new or presence is not None):
        known = GivenAway(JoinedTables(earlier, settings, presence=before)).known(given)
    if given and new and (earlier or presence is not None):
        itself = GivenAway(JoinedTables(new, settings)).known(given)
    alone = not earlier and presence is None
    judged = _judged_with(others[0], whole, given, settings) if whole else set()
    proofs = work.proofs(given[:PROOFS])
    findings, sums = [], []
    for k, (one, past, own) in enumerate(zip(given, known, itself, strict=True)):
        cause: Cause = "before" if past and past[2] else "itself" if alone or (own and own[2]) else "together"
        if one.joint and (cause != "together" or k in judged):
            # What suppression leaves of the sum of hidden figures in its own release is judged with that release.
            continue
        terms, releases, text = proofs[k] if k < len(proofs) else ((), (), "")
        if one.joint and settings.amounts:
            sums.append(text or one.name)
            continue
        left = min((ends[:2] for ends in (past, own) if ends), key=lambda ends: ends[1] - ends[0], default=None)
        found = LedgerFinding(one.cell, one.name, one.lower, one.upper, left, cause, one.reason, releases, terms, text)
        findings.append(replace(found, units=one.units, sensitive=one.sensitive))
    unjudged = (*work.unjudged(), *_of_amounts(sums), *(tables.drawn_again() if same else ()))
    stepped, told = tables.in_steps()
    if told and not (earlier and new and stepped <= JoinedTables(earlier, settings).in_steps()[0]):
        unjudged = (*unjudged, told)
    return Joint(tuple(sorted(findings, key=_order)), tables.unfinished(), unjudged, work.more_zeros)


def _judged_with(
    other: OtherVersion, whole: Sequence[PublishedTable], given: Sequence[Given], settings: Settings
) -> set[int]:
    """Return which sums of hidden figures another version tells by itself, no figure of them being corrected."""
    same = [k for k, one in enumerate(given) if one.joint and not np.isin(one.held, other.positions).any()]
    if not same:
        return set()
    known = GivenAway(JoinedTables(whole, settings)).known([given[k] for k in same])
    return {k for k, found in zip(same, known, strict=True) if found is not None and found[2]}


def of_unrelated(
    laid: Sequence[PublishedTable], new: Sequence[PublishedTable], earlier: Sequence[PublishedTable]
) -> list[str]:
    """Say which dimensions, and which populations, nothing relates in joined tables, the new ones last."""
    names, texts = {name for sheet in (*earlier, *new) for name in sheet.figures.names}, []
    for name, tables in unrelated([sheet.figures for sheet in laid], len(new)).items():
        titles = ", ".join(dict.fromkeys(f"«{laid[k].entry.title}»" for k in tables))
        if name not in names:
            texts.append(
                f"how the populations of {titles} lie in the one checked is not stated, so their differences "
                "could not be checked; write each behind the one that it is inside (--population 'a > b'), say that "
                "they share nobody (--population 'a > b | c'), or, if they overlap as women and 16+ do, give the one "
                "checked a column in place of a population: sex, which is women in all its rows, with a hierarchy that "
                "has the others too (--hierarchy sex=FILE, --absent unpublished)"
            )
        else:
            texts.append(
                f"dimension {name} has other categories in {titles} and no hierarchy relates them, so their "
                "differences could not be checked; give one with the categories of both (hierarchies=, --hierarchy)"
            )
    return texts


def _of_amounts(sums: Sequence[str]) -> list[str]:
    """Say which sums of hidden amounts follow."""
    if not sums:
        return []
    more = f"; and {len(sums) - 3:,} more" if len(sums) > 3 else ""
    return [
        f"{many(len(sums), 'sum')} {SUMS} ({'; '.join(sums[:3])}"
        f"{more}), and whether that is too much depends on who contributed, which no published figure says; hide more "
        "figures until they no longer follow, or apply the rules to the cells of each sum taken as one"
    ]


def _order(finding: LedgerFinding) -> tuple[bool, int, bool, float, str]:
    rank = {"together": 0, "itself": 1, "before": 2}
    return not finding.sensitive, rank[finding.cause], not finding.exact, finding.upper, finding.name
