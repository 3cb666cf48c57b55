"""The ledger: what has been published, kept safely, and the question whether one more release can join it."""

from __future__ import annotations

import datetime
import getpass
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.progress import Progress
from discreet.decide.ledger.check_result import LedgerCheck
from discreet.decide.ledger.entry import Amendment, Entry
from discreet.decide.ledger.release_check import ReleaseCheck
from discreet.decide.ledger.settings import Settings
from discreet.decide.ledger.store import WAIT, Originals, Store, digest, packed, unpacked
from discreet.decide.policy import Policy
from discreet.reading.published import open_release
from discreet.table.release import Release

TAGS = ("population", "period", "variable")
ADDED = ("id", "title", "published", "method", "dimensions", "figures", "hidden", *TAGS)
COLUMNS = ", ".join((*ADDED, "withdrawn", "reason", "unseen", "revises"))
FEWEST = 3
"""A change between two times that fewer people made shows who they are."""


class Ledger:
    """An embedded database of what has been published, and the check of a new release against all of it.

    It holds published figures only: nothing in it is confidential. Originals can be kept beside it, in a folder that
    only its owner can enter (see :class:`~discreet.decide.ledger.store.Originals`). A release that was added is
    there whole after a crash, or was never there; two writers wait for each other.

    >>> import tempfile
    >>> from discreet.table.figures import Figures
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    >>> hidden = Figures.from_array([None, None, 40], {"size": ["small", "medium", "large"]}, name="firms")
    >>> _ = ledger.add(Release.of(hidden), title="Firms by size")
    >>> total = Figures.from_array([7, 47], {"size": ["small", "Total"]}, name="total")
    >>> print(ledger.check(Release.of(total), title="Totals").arithmetic(2)[0])
    size=medium = [total in «Totals»] − [size=small in «Totals»] − [size=large in «Firms by size»] = 47 − 7 − 40 = 0
    """

    def __init__(self, path: str | Path, *, create: bool = True, wait: float = WAIT) -> None:
        """Open a ledger, or begin one where there is none, and wait so many seconds for another writer."""
        self.path = Path(path)
        self._store = Store(self.path, create=create, wait=wait)
        self.originals = Originals(self.path)

    # --- what is in it ------------------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """Return what was published, in the order in which it was added."""
        said: dict[str, list[Amendment]] = {}
        for name, *now in self._store.read(
            "SELECT release, day, who, reason, population, period, variable FROM amendment ORDER BY number"
        ):
            said.setdefault(name, []).append(Amendment(*now))
        found = []
        for row in self._store.read(f"SELECT {COLUMNS} FROM release ORDER BY number"):
            fields = list(row)
            fields[4] = tuple(fields[4].split("\n"))
            fields[-2:] = [bool(fields[-2]), tuple(fields[-1].split("\n")) if fields[-1] else ()]
            entry = Entry(*fields)
            found.append(_amended(entry, said.get(entry.id, [])))
        return tuple(found)

    def entry(self, name: str) -> Entry:
        """Return one release's line, by its id, the beginning of its id, or its title."""
        every = self.entries()
        found = [e for e in every if e.id == name] or [e for e in every if name and e.id.startswith(name)]
        found = found or [e for e in every if e.title == name]
        if len(found) > 1:
            raise RequestError(f"{name!r} names {len(found)} releases: {', '.join(map(str, found[:5]))}; give one id")
        if not found:
            raise RequestError(f"the ledger has no release {name!r}; {nearest(name, [e.id for e in every])}")
        return found[0]

    def release(self, name: str) -> Release:
        """Return what one release publishes."""
        entry = self.entry(name)
        ((body, kept),) = self._store.read("SELECT body, digest FROM release WHERE id = ?", entry.id)
        if digest(body, _said(entry)) != kept:
            raise DataError(f"{self.path}: release {entry} is not as it was added; restore the ledger from a copy")
        return unpacked(body)

    # --- changing it --------------------------------------------------------------------------------------

    def add(
        self,
        release: Any,
        *,
        title: str,
        population: str = "",
        period: str = "",
        variable: str = "",
        published: str | None = None,
        original: str | Path | None = None,
        revises: str | Sequence[str] = (),
    ) -> Entry:
        """Record a release as published. When this returns, it is on the disk.

        Args:
            release: what is published: a release, or a file or frame of it.
            title: what to call it.
            population: whom the figures are about; releases about one population are checked together. One inside
                another is written behind it, as ``residents > 18+``.
            period: when.
            variable: what is added up, where it is not people or firms.
            published: the day, today by default.
            original: the confidential table, to be kept beside the ledger.
            revises: the ids or titles of the releases that it corrects.
        """
        release = open_release(release)
        release.refuse_trial("entered in a ledger, which holds what is published", "")
        entry = _described(release, title, population, period, variable, published)
        entry = replace(entry, revises=self._named(revises))
        body = packed(release)
        mark = digest(body, _said(entry))
        entry = replace(entry, id=mark[:10])
        if original is not None:
            self.originals.keep(entry.id, Path(original))
        row = {name: getattr(entry, name) for name in ADDED} | {"digest": mark, "body": body}
        row |= {"dimensions": "\n".join(entry.dimensions), "revises": "\n".join(entry.revises)}
        with self._store.writing() as db:
            same = db.execute("SELECT id FROM release WHERE digest = ? OR id = ?", (mark, entry.id)).fetchone()
            if same is not None:
                raise RequestError(f"this release is in the ledger already, as {same[0]}; nothing was added")
            self._store.insert(db, "release", row)
        return entry

    def withdraw(self, name: str, *, reason: str, unseen: bool = False) -> Entry:
        """Mark a release as taken back, by its id or title; the reason is kept.

        Readers may have kept it, so checks go on counting it, unless it never left the office (``unseen``).
        """
        entry = self._amendable(name, reason, "withdrawing")
        if entry.withdrawn:
            raise RequestError(
                f"release {entry} was withdrawn on {entry.withdrawn} ({entry.reason}); nothing was changed"
            )
        with self._store.writing() as db:
            db.execute(
                "UPDATE release SET withdrawn = ?, reason = ?, unseen = ? WHERE id = ?",
                (_today(), reason.strip(), int(unseen), entry.id),
            )
        return self.entry(entry.id)

    def retag(
        self,
        name: str,
        *,
        reason: str,
        population: str | None = None,
        period: str | None = None,
        variable: str | None = None,
        who: str = "",
    ) -> Entry:
        """Correct what is said about a release that people may have seen; what was said before is kept.

        Args:
            name: its id or title.
            reason: why, for the record.
            population: whom the figures are about; what is not given stays as it was.
            period: when.
            variable: what is added up.
            who: who says so; the user of this machine by default.
        """
        entry = self._amendable(name, reason, "retagging")
        given = {"population": population, "period": period, "variable": variable}
        now = {tag: getattr(entry, tag) if text is None else text.strip() for tag, text in given.items()}
        if all(now[tag] == getattr(entry, tag) for tag in now):
            raise RequestError(
                f"release {entry} says the same already ({', '.join(filter(None, now.values())) or 'nothing'}); give "
                "another population, period or variable (--population, --period, --variable)"
            )
        with self._store.writing() as db:
            told = {"day": _today(), "who": who.strip() or getpass.getuser(), "reason": reason.strip()}
            self._store.insert(db, "amendment", {"release": entry.id, **told, **now})
        return self.entry(entry.id)

    def _amendable(self, name: str, reason: str, what: str) -> Entry:
        """Return a line that is to be changed, for a reason."""
        if not reason.strip():
            raise RequestError(f"give the reason for {what} the release (reason=, --reason)")
        return self.entry(name)

    # --- asking it ----------------------------------------------------------------------------------------

    def check(
        self,
        release: Any,
        *,
        title: str = "the new release",
        population: str = "",
        period: str = "",
        variable: str = "",
        revises: str | Sequence[str] = (),
        policy: str | Path | Policy | None = None,
        width: float | None = None,
        dr: float | None = None,
        threshold: float | Literal["default"] | None = "default",
        fewest: int = FEWEST,
        beside: Sequence[str] | None = None,
        time_limit: float | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> LedgerCheck:
        """Say what a new release gives away together with everything published before.

        Releases about the same population, period and variable are put into one set of equations, linked by the
        dimensions that they share; those about other times or populations are compared cell by cell. A population or
        period that is not stated may be the same, and is taken to be. A release and the one that it revises describe
        the same values: what one hides and the other prints is known. So do releases that print nearly the same
        figures, whatever is said about them. The release is described as for :meth:`add`.

        Args:
            release: what is to be published: a release, or a file or frame of it.
            title: what to call it.
            population: whom its figures are about.
            period: when.
            variable: what is added up.
            revises: the ids or titles of the releases that it corrects.
            policy: a named profile or a TOML file, for the threshold, the limits and what zeros are; in place of
                ``width``, ``dr`` and ``threshold``.
            width: how wide the interval of every protected figure must stay; by default, more than one value.
            dr: the largest disclosure risk 1/H of a protected figure, all values in its interval being equally likely.
            threshold: counts that no release shows, and sums of them, must not be worked out if they are below this
                (10 by default); None for all.
            fewest: changes between two times or populations must be made by this many people at least.
            beside: ids or titles of the earlier releases that a reader holds; all of them by default, and only that
                says whether the release can join the ledger.
            time_limit: seconds; what is not finished then is not called safe.
            workers: threads.
            progress: told how far the work is.
        """
        release = open_release(release)
        entry = _described(release, title, population, period, variable, None)
        rules = Settings.of(policy, width, dr, threshold, amounts=not entry.counts)
        rules = replace(rules, time_limit=time_limit, workers=workers, progress=progress)
        every = self.entries() if beside is None else self._held(beside)
        revised = self._revised(self._named(revises))
        return ReleaseCheck(release, entry, every, revised, self.release, rules).outcome(fewest, len(self))

    def _named(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Return the ids of releases that are given by id or title."""
        return tuple(self.entry(name).id for name in ([names] if isinstance(names, str) else names) if name)

    def _revised(self, ids: Sequence[str]) -> set[str]:
        """Return releases and all that they revise in turn."""
        by_id = {e.id: e.revises for e in self.entries()}
        found = set(ids)
        while more := {name for one in found for name in by_id[one]} - found:
            found |= more
        return found

    def _held(self, names: Sequence[str]) -> tuple[Entry, ...]:
        """Return the releases that somebody holds, by ids or titles; one that nobody saw is held by nobody."""
        if not names:
            raise RequestError("no earlier release is named; name some, or leave this out to check all of them")
        chosen = {self.entry(name).id for name in names}
        found = tuple(e for e in self.entries() if e.id in chosen)
        unseen = next((e for e in found if e.unseen), None)
        if unseen is not None:
            raise RequestError(f"release {unseen} was withdrawn and nobody saw it, so nobody holds it; leave it out")
        return found

    # --- its life -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Ledger:
        """Use the ledger for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def __len__(self) -> int:
        """Return the number of releases, withdrawn ones among them."""
        return int(self._store.read("SELECT count(*) FROM release")[0][0])

    def __str__(self) -> str:
        """Say how much is in it."""
        return f"Ledger {self.path}: {len(self):,} releases"

    __repr__ = __str__


def _described(
    release: Release, title: str, population: str, period: str, variable: str, published: str | None
) -> Entry:
    if not title.strip():
        raise RequestError("give the release a title (title=, --title)")
    day = _today() if published is None else published
    try:
        datetime.date.fromisoformat(day)
    except ValueError:
        raise RequestError(f"the day of publication is {day!r}; write it as 2024-05-31") from None
    parts = release.parts()
    if beside := next((part for part in parts if part.statistics or part.measure), None):
        name = beside.measure or beside.statistics[0].name
        raise RequestError(
            f"{name} stands beside the figures, and a ledger does not judge statistics; leave the definition out "
            "to enter the figures alone, and audit the statistics with earlier releases (discreet audit)"
        )
    return Entry(
        "",
        title.strip(),
        day,
        release.method,
        tuple(dict.fromkeys(name for part in parts for name in part.names)),
        sum(len(part) for part in parts),
        sum(int(part.hidden.sum()) for part in parts),
        population.strip(),
        period.strip(),
        variable.strip(),
    )


def _amended(entry: Entry, amendments: Sequence[Amendment]) -> Entry:
    """Return a line as it reads now; each amendment says what it replaced."""
    told = []
    for one in amendments:
        told.append(replace(one, **{tag: getattr(entry, tag) for tag in TAGS}))
        entry = replace(entry, **{tag: getattr(one, tag) for tag in TAGS})
    return replace(entry, amended=tuple(told))


def _said(entry: Entry) -> dict[str, str]:
    """Return what was said about a release when it was added."""
    first = entry.amended[0] if entry.amended else entry
    said = {"title": entry.title} | {tag: getattr(first, tag) for tag in TAGS}
    return said | ({"revises": "\n".join(entry.revises)} if entry.revises else {})


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()
