"""What checks of a ledger return: cells that can be worked out, the arithmetic, the verdict; or that it is whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from discreet.core.errors import with_arguments
from discreet.core.json_types import Json
from discreet.core.text import Readable, columns, finite, html_table, many, number_text
from discreet.decide.ledger.entry import Entry

Verdict: TypeAlias = Literal["safe", "unsafe", "incomplete"]
Cause: TypeAlias = Literal["together", "itself", "before"]
HEADER = ["cell", "now between", "without", "because", "how"]


@dataclass(frozen=True)
class Term:
    """One figure in a sum: its multiplier, its cell, its value, and where it is published."""

    times: str
    cell: str
    value: str
    release: str


@dataclass(frozen=True)
class LedgerFinding:
    """One cell, or sum of cells, that readers of all releases can work out, exactly or too closely.

    ``without`` is what was left before the new release joined the earlier ones, None where nothing bounded the cell.
    ``cause`` says whether the releases give it away together, the new one on its own, or the earlier ones already.
    ``units`` are the cells of a sum. A finding that is not ``sensitive`` is reported, but makes no release unsafe: a 0
    that follows where zeros are safe.
    """

    cell: Mapping[str, str]
    name: str
    lower: float
    upper: float
    without: tuple[float, float] | None
    cause: Cause
    reason: str
    releases: tuple[str, ...]
    terms: tuple[Term, ...] = ()
    subtraction: str = ""
    units: tuple[Mapping[str, str], ...] = ()
    sensitive: bool = True

    @property
    def exact(self) -> bool:
        """Whether a single value is left."""
        return self.lower == self.upper

    def to_dict(self) -> dict[str, Json]:
        """Return plain data; a missing bound is None."""
        return {
            "cell": dict(self.cell),
            "units": [dict(unit) for unit in self.units],
            "sensitive": self.sensitive,
            "lower": finite(self.lower),
            "upper": finite(self.upper),
            "exact": self.exact,
            "without": None if self.without is None else [finite(end) for end in self.without],
            "cause": self.cause,
            "reason": self.reason,
            "releases": list(self.releases),
            "terms": [dict(vars(term)) for term in self.terms],
            "subtraction": self.subtraction,
        }

    def row(self) -> list[str]:
        """Return the finding as texts."""
        without = "not bounded" if self.without is None else between(*self.without)
        return [self.name, between(self.lower, self.upper), without, " + ".join(self.releases), self.reason]


@dataclass(frozen=True)
class Change:
    """A part of the table that changed between two releases because of so few people that the change shows them."""

    earlier: str
    where: str
    people: int
    cells: tuple[tuple[str, float, float], ...]

    @property
    def sentence(self) -> str:
        """The change in words, with the subtraction."""
        who = "one person accounts" if self.people == 1 else f"{self.people} people account"
        shown = [f"{name}: {new:,} − {old:,} = {new - old:+,}" for name, old, new in self.cells[:8]]
        more = f"; and {len(self.cells) - 8} more cells" if len(self.cells) > 8 else ""
        return f"{who} for all that changed in {self.where} since {self.earlier}: {'; '.join(shown)}{more}"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        cells: list[Json] = [
            {"cell": name, "before": old, "after": new, "change": new - old} for name, old, new in self.cells
        ]
        return {"earlier": self.earlier, "where": self.where, "people": self.people, "cells": cells}


@dataclass(frozen=True, repr=False)
class LedgerCheck(Readable):
    """Whether a new release can join all earlier ones, and what readers could work out if it did.

    ``unfinished`` counts figures that were not bounded in time, and ``unjudged`` says what else was not judged and what
    to do; if there is any of either, nothing is called safe. ``assumed`` lists assumptions about releases, such as that
    one without a period is about the same time. ``left_out`` counts the releases of the ledger that were excluded; if
    there are any, nothing is claimed about joining the ledger. ``more_zeros`` says that not all zeros that follow are
    listed, and ``meaning`` what "safe" promises, and against whom. ``head`` is the head of the ledger's chain: kept
    elsewhere, it shows whether anything was cut off later (``ledger verify --head``). ``beside`` are the releases of
    amounts beside numbers, or of numbers beside amounts, that said who is there. ``closer`` says which cells miss the
    levels that were asked for by what other versions say, whatever the new release hides.
    """

    verdict: Verdict
    title: str
    findings: tuple[LedgerFinding, ...]
    changes: tuple[Change, ...]
    linked: tuple[Entry, ...]
    compared: tuple[Entry, ...]
    apart: int = 0
    unfinished: int = 0
    unjudged: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    left_out: int = 0
    more_zeros: bool = False
    meaning: str = ""
    policy: str = ""
    head: str = ""
    beside: tuple[Entry, ...] = ()
    closer: tuple[str, ...] = ()

    @property
    def new(self) -> tuple[LedgerFinding, ...]:
        """The sensitive findings due to the new release, without those already known."""
        return tuple(finding for finding in self.findings if finding.cause != "before" and finding.sensitive)

    @property
    def zeros(self) -> tuple[LedgerFinding, ...]:
        """Figures that the new release shows to be 0, which is safe."""
        return tuple(finding for finding in self.findings if finding.cause != "before" and not finding.sensitive)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        old = sum(finding.cause == "before" and finding.sensitive for finding in self.findings)
        known = f" Without it, {many(old, 'figure')} can be worked out from earlier releases already." if old else ""
        dark = "".join(f" Not judged: {text}." for text in self.unjudged)
        aside = f" {_were(self.apart, 'release about something else', 'left aside')}." if self.apart else ""
        taken = "".join(f" {text[0].upper()}{text[1:]}." for text in self.assumed)
        closer, part = "".join(f" {text}." for text in self.closer), ""
        if self.left_out:
            out = _were(self.left_out, "release of the ledger", "left out")
            part = f" {out}: this does not say whether it can join the ledger."
        return f"«{self.title}», {self._met()}: {'; '.join(self._found(old))}.{dark}{known}{closer}{aside}{taken}{part}"

    def _met(self) -> str:
        """Say which releases it was joined and compared with."""
        met = f"put together with {many(len(self.linked), 'earlier release')}" if self.linked else "on its own"
        if self.beside:
            met += f", beside {many(len(self.beside), 'release')} of other variables (who is there)"
        if self.compared:
            others = "about other times or populations, or with other versions of the figures"
            met += f", compared with {many(len(self.compared), 'release')} {others}"
        return met

    def _found(self, old: int) -> list[str]:
        """Say what can be worked out; ``old`` is the number of figures that could be worked out before."""
        exact, zeros = sum(finding.exact for finding in self.new), len(self.zeros)
        counted = {
            "can be worked out exactly": (exact, "figure"),
            "can be worked out too closely": (len(self.new) - exact, "figure"),
            "can be traced to very few people": (len(self.changes), "change"),
            "could not be bounded in time, and none is called safe": (self.unfinished, "figure"),
        }
        parts = [f"{many(count, what)} {text}" for text, (count, what) in counted.items() if count]
        if not parts:
            what = "nothing more that is protected" if old else "nothing that is protected"
            parts.append(f"{what} can be worked out{', as far as judged' if self.unjudged else ''}")
        if zeros:
            more = ", and more that are not listed" if self.more_zeros else ""
            parts.append(f"{many(zeros, 'figure')} of 0 {'follows' if zeros == 1 else 'follow'}{more}")
        return parts

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        parts = {name: value for name, value in vars(self).items() if isinstance(value, tuple)}
        lists = {
            name: [one if isinstance(one, str) else one.to_dict() for one in value] for name, value in parts.items()
        }
        first = {"verdict": self.verdict, "title": self.title, "sentence": self.sentence}
        return {**first, **vars(self), **lists, "policy": self.policy or None}

    def rows(self, n: int) -> list[list[str]]:
        """Return the first findings as rows of text, new ones first."""
        return [finding.row() for finding in self.findings[:n]]

    def arithmetic(self, n: int) -> list[str]:
        """Return the sums that give the first findings away."""
        sums = [finding.subtraction for finding in self.findings[:n] if finding.subtraction]
        return [*sums, *(change.sentence for change in self.changes[:n])]

    def __str__(self) -> str:
        """Return the verdict, the findings and how they follow."""
        lines = [f"Ledger check: {self.verdict}", self.sentence, f"{self.meaning}."]
        if self.findings:
            lines += ["", columns(HEADER, self.rows(10))]
        if sums := self.arithmetic(5):
            lines += ["", *(f"  {text}" for text in sums)]
        return with_arguments("\n".join([*lines, *([f"Head of the ledger: {self.head}"] if self.head else [])]))

    def _repr_html_(self) -> str:
        import html

        head = f"<p><b>Ledger check: {self.verdict}</b><br>{html.escape(self.sentence)}"
        head += f"<br><small>{html.escape(self.meaning)}.</small></p>"
        table = html_table(HEADER, self.rows(20)) if self.findings else ""
        table += f"<p><small>Head of the ledger: {html.escape(self.head)}</small></p>" if self.head else ""
        sums = "".join(f"<p>{html.escape(text)}</p>" for text in self.arithmetic(5))
        return with_arguments(head + table + sums)


@dataclass(frozen=True)
class Verification:
    """An intact ledger: its head, its size, and what else it was checked against.

    ``signed`` says that signatures were checked with a key; ``kept`` is a head that was kept elsewhere and found in the
    chain.
    """

    head: str
    events: int
    releases: int
    signed: bool
    kept: str | None = None

    @property
    def sentence(self) -> str:
        """The result in words."""
        by = " Its signatures are those of the key." if self.signed else ""
        found = f" It holds everything up to the head {self.kept[:16]}… that was kept." if self.kept else ""
        return f"The chain of {many(self.events, 'event')} and {many(self.releases, 'release')} is whole.{by}{found}"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {**asdict(self), "sentence": self.sentence}

    def __str__(self) -> str:
        """Return the result and the head."""
        return f"{self.sentence}\nhead {self.head}"


def _were(count: int, what: str, done: str) -> str:
    noun, _, rest = what.partition(" ")
    return f"{many(count, noun)} {rest} {'was' if count == 1 else 'were'} {done}"


def between(lower: float, upper: float) -> str:
    """Return a value, or the ends between which it lies."""
    return number_text(lower) if lower == upper else f"{number_text(lower)} and {number_text(upper)}"
