"""The ledger: a safe register of what has been published, and the check whether one more release can join it."""

from __future__ import annotations

import datetime
import getpass
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from discreet.core.clock import Clock
from discreet.core.effort import Effort, WorkOptions
from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.progress import Progress
from discreet.core.text import Readable
from discreet.decide.ledger.check_result import LedgerCheck, Verification
from discreet.decide.ledger.corrections import TruePair, refuse_foreign
from discreet.decide.ledger.entry import Entry
from discreet.decide.ledger.history import History, Stored, addition, event, read_key, said_of
from discreet.decide.ledger.joined_tables import refuse_contradiction
from discreet.decide.ledger.packing import compressed, decompressed, digest, packed, unpacked
from discreet.decide.ledger.release_check import ReleaseCheck, Shelf
from discreet.decide.ledger.settings import CheckOptions, Settings, Tags
from discreet.decide.ledger.store import WAIT, Originals, Store
from discreet.decide.ledger.unstated import refuse_original, release_of, with_small_counts
from discreet.decide.policy import Policy
from discreet.reading.original import open_originals
from discreet.reading.reading import Reading
from discreet.table.listed_zeros import cells_shown
from discreet.table.release import Release
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation

FEWEST = 3
"""A change between two times made by fewer people than this shows who they are."""


@dataclass(frozen=True)
class Announced:
    """A release to be published together with another one."""

    release: Release
    title: str
    tags: Tags


class Ledger(Readable):
    """An embedded database of what has been published, and the check of a new release against all of it.

    It holds published figures only: nothing in it is confidential. Originals can be kept beside it, in a folder that
    only its owner can enter (see :class:`~discreet.decide.ledger.store.Originals`). Additions are atomic, even in a
    crash; two writers wait for each other.

    >>> import tempfile
    >>> from discreet.table.figures import Figures
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    >>> hidden = Figures.from_array([None, None, 40], {"size": ["small", "medium", "large"]}, name="firms")
    >>> _ = ledger.add(Release.of(hidden), title="Firms by size")
    >>> total = Figures.from_array([7, 47], {"size": ["small", "Total"]}, name="total")
    >>> print(ledger.check(Release.of(total), title="Totals").arithmetic(2)[0])
    size=medium = [total in «Totals»] − [size=small in «Totals»] − [size=large in «Firms by size»] = 47 − 7 − 40 = 0
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        wait: float = WAIT,
        key: str | Path | bytes | None = None,
        whole: bool = False,
    ) -> None:
        """Open a ledger, or create it, and wait this many seconds for another writer.

        With a key, or its file, additions are signed, and earlier signatures are checked. ``whole`` says
        that a ledger of an earlier version has all its entries, although no log (``-wal``) is beside it.
        """
        self.path = Path(path)
        self._key = read_key(key)
        self._store = Store(self.path, create=create, wait=wait, whole=whole)
        self.originals = Originals(self.path)
        self._seen: tuple[int, History] | None = None

    # --- what is in it ------------------------------------------------------------------------------------

    def history(self) -> History:
        """Return the history of the ledger, checked link by link; a changed ledger is refused."""
        with self._store.reading():
            return self._verified()

    def _verified(self) -> History:
        """Return the history in the open transaction; nothing is checked again unless somebody wrote meanwhile."""
        written = self._store.written_by_others()
        if self._seen is None or self._seen[0] != written:
            bodies = [name for (name,) in self._store.read("SELECT id FROM figures")]
            self._seen = written, History(self.path, self._store.events(), self._store.head(), bodies, self._key)
        return self._seen[1]

    def entries(self) -> tuple[Entry, ...]:
        """Return what was published, in the order of addition."""
        return tuple(self.history().entries.values())

    def entry(self, name: str) -> Entry:
        """Return one release's line, by its id, the beginning of its id, or its title."""
        return _named(self.entries(), name)

    def release(self, name: str) -> Release:
        """Return what one release publishes."""
        past = self.history()
        return self._read(_named(tuple(past.entries.values()), name), past)

    def _read(self, entry: Entry, past: History) -> Release:
        """Return what a release publishes, with what was said of its marks afterwards."""
        found = unpacked(self._texts([entry], past)[0])
        return found if entry.least is None else found.marked(entry.least)

    def _texts(self, entries: Sequence[Entry], past: History) -> list[bytes]:
        """Return what releases publish, packed, as they were added."""
        marks = ",".join("?" * len(entries))
        found = self._store.read(f"SELECT id, body FROM figures WHERE id IN ({marks})", *(one.id for one in entries))
        bodies, texts = dict(found), []
        for entry in entries:
            stored = past.stored[entry.id]
            text = decompressed(bodies[entry.id], stored.size)
            if digest(text, said_of(entry)) != stored.digest:
                raise DataError(f"{self.path}: release {entry} is not as it was added; restore the ledger from a copy")
            texts.append(text)
        return texts

    @property
    def head(self) -> str:
        """The digest of the whole history; kept elsewhere, it shows whether anything was cut off later."""
        return self._store.head().digest

    def verify(self, head: str | None = None, progress: Progress | None = None) -> Verification:
        """Check the whole ledger: its file, its chain and the figures of every release.

        ``head`` is one that was kept elsewhere: if it is in the chain, nothing up to it was cut off or replaced.
        """
        if faults := self._store.faults():
            raise DataError(f"{self.path} is damaged ({faults[0]}); restore it from a copy")
        past = self.history()
        if head is not None:
            past.refuse_other(head)
        for number, entry in enumerate(past.entries.values()):
            if progress is not None:
                progress(number, len(past.entries), "verifying releases")
            self._read(entry, past)
        return Verification(past.head.digest, past.head.events, len(past.entries), self._key is not None, head)

    # --- changing it --------------------------------------------------------------------------------------

    def add(
        self,
        release: object,
        *,
        title: str,
        published: str | None = None,
        original: str | Path | None = None,
        revises: str | Sequence[str] = (),
        exact: bool = False,
        **tags: Unpack[Tags],
    ) -> Entry:
        """Record a release as published. When this returns, it is on disk.

        Args:
            release: what is published: a release, or a file or frame of it.
            title: what to call it.
            published: the day, today by default.
            original: the confidential table, to be kept beside the ledger.
            revises: the ids or titles of the releases that it corrects.
            exact: the figures of a table, file or frame were published as they are, counts of 1 and 2 among them. A
                table that does not say so is refused: it may be the original.
            tags: those below.

        Keyword Args:
            population: whom the figures are about; releases about one population are checked together. One inside
                another is written behind it, as ``residents > 18+``.
            period: when.
            variable: what is added up, where it is not people or firms.
        """
        new = release_of(release)
        new.refuse_trial("entered in a ledger, which holds what is published", "")
        if not exact and not tags.get("variable"):
            refuse_original(release, new)
        entry = _described(new, title, published, **tags)
        refuse_contradiction(new)
        text = packed(new)
        body = compressed(text)
        with self._writing() as past:
            entry = replace(entry, revises=_ids(tuple(past.entries.values()), revises) if revises else ())
            mark = digest(text, said_of(entry))
            entry = replace(entry, id=mark[:10])
            if entry.id in past.entries:
                raise RequestError(f"this release is in the ledger already, as {entry.id}; nothing was added")
            if original is not None:
                # What a process left that was killed before its release was in the ledger is no longer needed.
                self.originals.settle(set(past.entries))
                self.originals.prepare(entry.id, Path(original))
            self._store.keep(entry.id, body)
            self._append(past, addition(entry, Stored(mark, len(text))))
        if original is not None:
            self.originals.settle({entry.id})
        return entry

    @contextmanager
    def _writing(self) -> Iterator[History]:
        """Hold the exclusive right to write, with the current history; a changed ledger is refused."""
        try:
            with self._store.writing():
                yield self._verified()
        except BaseException:
            # What was not committed did not happen.
            self._seen = None
            raise

    def _append(self, past: History, said: dict[str, object]) -> None:
        """Append an event to the chain."""
        if past.signed and self._key is None:
            raise RequestError(
                f"{self.path} is signed; name the key of the office (key=, --office-key). Nothing was changed"
            )
        made = event(past.head, said, self._key)
        self._store.append(past.head.events + 1, made)
        past.follow(made)

    def withdraw(self, name: str, *, reason: str, unseen: bool = False) -> Entry:
        """Mark a release as withdrawn, by its id or title; the reason is kept.

        Readers may have kept it, so it still counts in checks, unless it never left the office (``unseen``).
        """
        with self._writing() as past:
            entry = _amendable(past, name, reason, "withdrawing")
            if entry.withdrawn:
                raise RequestError(
                    f"release {entry} was withdrawn on {entry.withdrawn} ({entry.reason}); nothing was changed"
                )
            told = {"day": _today(), "reason": reason.strip(), "unseen": unseen}
            self._append(past, {"event": "withdraw", "release": entry.id, **told})
        return past.entries[entry.id]

    def retag(
        self,
        name: str,
        *,
        reason: str,
        population: str | None = None,
        period: str | None = None,
        variable: str | None = None,
        least: float | None = None,
        who: str = "",
    ) -> Entry:
        """Correct the description of a release that people may have seen; the old description is kept.

        Args:
            name: its id or title.
            reason: why, for the record.
            population: whom the figures are about; what is not given stays as it was.
            period: when.
            variable: what is added up.
            least: 1 if its hidden figures are above 0, 0 if they can be 0, where their marks do not say it.
            who: who says so; the user of this machine by default.
        """
        with self._writing() as past:
            entry = _amendable(past, name, reason, "retagging")
            given = {"population": population, "period": period, "variable": variable}
            now = {tag: getattr(entry, tag) if text is None else text.strip() for tag, text in given.items()}
            if least is not None and least != entry.least:
                least = _zero_or_one(least)
                refuse_contradiction(_of_at_least(unpacked(self._texts([entry], past)[0]), least, entry))
            elif all(now[tag] == getattr(entry, tag) for tag in now):
                said = ", ".join(filter(None, now.values()))
                raise RequestError(
                    f"release {entry} says the same already{f' ({said})' if said else ''}; "
                    "give another population, period or variable, or what hidden figures are at least (population=, "
                    "period=, variable=, least=, --population, --period, --variable, --least)"
                )
            told = {"day": _today(), "who": who.strip() or getpass.getuser(), "reason": reason.strip()}
            marks = {} if least is None else {"least": least}
            self._append(past, {"event": "retag", "release": entry.id, **told, **now, **marks})
        return past.entries[entry.id]

    # --- asking it ----------------------------------------------------------------------------------------

    def check(
        self,
        release: object,
        *,
        title: str = "the new release",
        revises: str | Sequence[str] = (),
        policy: str | Path | Policy | None = None,
        fewest: int = FEWEST,
        beside: Sequence[str] | None = None,
        together: Sequence[Announced] = (),
        **options: Unpack[CheckOptions],
    ) -> LedgerCheck:
        """Say what a new release gives away together with everything published before.

        Releases about the same population, period and variable are put into one set of equations, linked by the
        dimensions that they share; those about other times or populations are compared cell by cell. A population or
        period that is not stated is taken to be the same. A release and the one that it revises describe the same
        values: what one hides and the other prints is known. So do releases that print nearly the same figures, however
        they are described. Numbers and amounts of the same respondents say about each other who is there. The release
        is described as for :meth:`add`.

        Args:
            release: what is to be published: a release, or a file or frame of it.
            title: what to call it.
            revises: the ids or titles of the releases that it corrects.
            policy: a named profile or a TOML file, for the threshold, the limits and the meaning of zeros; replaces
                ``width``, ``dr`` and ``threshold``.
            fewest: changes between two times or populations must be made by at least this many people.
            beside: ids or titles of the earlier releases that a reader holds; all of them by default, which alone shows
                whether the release can join the ledger.
            together: releases published with it that are not in the ledger yet.
            options: those below.

        Keyword Args:
            population: whom its figures are about.
            period: when.
            variable: what is added up.
            width: how wide the interval of every protected figure must stay; by default, more than one value.
            dr: the largest disclosure risk 1/H of a protected figure, all values in its interval being equally likely.
            threshold: counts that no release shows, and sums of them, must not be worked out if they are below this
                (10 by default); None for all.
            apart: pairs of dimensions that have the same categories and are not the same.
            originals: the true tables behind the release, under its title, and behind those that it corrects, by id or
                title (by default the one kept beside the ledger): they say what was corrected, and a reader is taken to
                know which of the finest cells went up, and which down. Nothing of them is kept.
            levels: values that the intervals of cells must reach on either side, as in ``Limits`` of an audit, to a
                reader of this version and of all that it corrects; judged with the true tables of all.
            time_limit: seconds for the whole check; nothing unfinished is called safe.
            workers: threads.
            progress: called as the work advances.
        """
        new = release_of(release)
        if isinstance(fewest, bool) or not isinstance(fewest, int) or fewest < 1:
            raise RequestError(f"the fewest people behind a change are {fewest!r}; give 1 or more (fewest=, --fewest)")
        effort, rest = Effort().among(options, WorkOptions)
        clock = Clock.within(effort.time_limit)
        tags = {name: rest.pop(name) for name in Tags.__annotations__ if name in rest}
        entry = _described(new, title, None, **tags)
        different, originals = rest.pop("apart", ()), rest.pop("originals", None) or {}
        levels = rest.pop("levels", None) or {}
        rules = Settings.of(policy, **rest, amounts=not entry.counts)
        rules = replace(rules, clock=clock, workers=effort.workers, progress=effort.progress)
        others = rules.of_others(policy, rest.get("threshold", "default"))
        past = self.history()
        every = tuple(past.entries.values())
        announced = {f"new {number}": one for number, one in enumerate(together)}
        coming = [_described(one.release, one.title, None, **one.tags) for one in together]
        held = every if beside is None else _held(every, beside)
        held = (*held, *(replace(one, id=name) for name, one in zip(announced, coming, strict=True)))
        revised = set(_ids(every, revises))
        # What they revise themselves is revised, too.
        while more := {n for one in revised for n in past.entries[one].revises if n in past.entries} - revised:
            revised |= more

        def read(name: str) -> Release:
            return announced[name].release if name in announced else self._read(past.entries[name], past)

        def texts(names: Sequence[str]) -> list[bytes]:
            return self._texts([past.entries[name] for name in names], past)

        pairs = self._pairs(new, entry, [e for e in held if e.id in revised], read, originals)
        shelf = Shelf(read, texts, frozenset(past.entries), pairs)
        checked = ReleaseCheck(new, entry, held, revised, shelf, rules, others)
        checked.name_apart(different)
        checked.levels = levels
        found = checked.outcome(fewest, len(every) + len(coming))
        if not tags.get("variable"):
            found = with_small_counts(found, release, new)
        return replace(found, head=past.head.digest, assumed=(*found.assumed, *_there_already(new, found, past)))

    def _pairs(
        self,
        release: Release,
        entry: Entry,
        revised: Sequence[Entry],
        read: Callable[[str], Release],
        given: Mapping[str, object],
    ) -> dict[str, TruePair]:
        """Return the true tables behind a release and those that it corrects, by the ids of these."""
        if not given:
            return {}
        if entry.title not in given:
            raise RequestError(
                f"originals are given, but not that of «{entry.title}»; give it too (originals=, --original FILE)"
            )
        if not revised:
            raise RequestError(
                "originals say what a release corrects, and it corrects none; name the one that it corrects "
                "(revises=, --revises), or leave them out"
            )
        named = {_named(revised, name).id: table for name, table in given.items() if name != entry.title}
        pairs = {}
        now = _true_tables(release, entry.title, given[entry.title])
        for e in revised:
            if e.id not in named and not self.originals.has(e.id):
                raise RequestError(
                    f"the original of «{e.title}» is not given, and was not kept beside the ledger; give it too "
                    "(originals=, --original ID=FILE)"
                )
            table = named[e.id] if e.id in named else self.originals.path(e.id)
            pairs[e.id] = TruePair(_true_tables(read(e.id), e.title, table), now)
        return pairs

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
        """Return the number of releases, including withdrawn ones."""
        return int(self._store.read("SELECT count(*) FROM figures")[0][0])

    def __str__(self) -> str:
        """Say how much the ledger holds."""
        return f"Ledger {self.path}: {len(self):,} releases"


def _true_tables(release: Release, title: str, given: object) -> list[Table | Tabulation]:
    """Return the table that a release was made from, or the linked ones."""
    found = open_originals(given, Reading())
    refuse_foreign(release, title, found)
    return found


def _zero_or_one(least: float) -> int:
    """Return what is at least behind marks: whether that can be 0 is all that is said afterwards."""
    if least not in (0, 1):
        raise RequestError(
            f"what hidden figures are at least is {least!r}; give 1 if they are above 0, or 0 if they can be 0 "
            "(least=, --least)"
        )
    return int(least)


def _of_at_least(release: Release, least: int, entry: Entry) -> Release:
    """Return a release with marks that say what is at least behind them; they must not say it already."""
    found = release.marked(least)
    if found is release:
        raise RequestError(
            f"release {entry} hides no figure, or its marks say already what is at least behind them; leave that out "
            "(least=, --least)"
        )
    return found


def _described(
    release: Release,
    title: str,
    published: str | None,
    *,
    population: str = "",
    period: str = "",
    variable: str = "",
) -> Entry:
    told = {"title": title, "population": population, "period": period, "variable": variable}
    for what, text in told.items():
        if not isinstance(text, str):
            raise RequestError(f"the {what} is {text!r}; give a text, or leave it out")
    if not title.strip():
        raise RequestError("give the release a title (title=, --title)")
    day = _today() if published is None else published
    try:
        datetime.date.fromisoformat(day)
    except ValueError:
        raise RequestError(f"the day of publication is {day!r}; write it as 2024-05-31") from None
    for what, text in told.items():
        if not text.isprintable():
            raise RequestError(f"the {what} {text!r} has characters that cannot be shown; leave them out")
    parts = release.parts()
    if beside := next((part.measure for part in parts if part.measure), None):
        raise RequestError(
            f"{beside} stands beside the figures, and a ledger keeps one measure of a release; enter each as a release "
            "of its own (variable=, --measure, --variable), leave out statistics that say more than they do, "
            "and audit the file as it is (dc.audit, discreet audit)"
        )
    return Entry(
        "",
        title.strip(),
        day,
        release.method,
        tuple(dict.fromkeys(name for part in parts for name in part.names)),
        sum(map(cells_shown, parts)),
        sum(int(part.hidden.sum()) for part in parts),
        population.strip(),
        period.strip(),
        variable.strip(),
    )


def _amendable(past: History, name: str, reason: str, what: str) -> Entry:
    """Return a line to be changed; a reason is required."""
    if not reason.strip():
        raise RequestError(f"give the reason for {what} the release (reason=, --reason)")
    return _named(tuple(past.entries.values()), name)


def _named(every: Sequence[Entry], name: str) -> Entry:
    """Return one release's line, by its id, the beginning of its id, or its title."""
    found = [e for e in every if e.id == name]
    found = found or [e for e in every if e.title == name or (name and e.id.startswith(name))]
    if len(found) > 1:
        raise RequestError(f"{name!r} names {len(found)} releases: {', '.join(map(str, found[:5]))}; give one id")
    if not found:
        raise RequestError(f"the ledger has no release {name!r}; {nearest(name, [e.id for e in every])}")
    return found[0]


def _ids(every: Sequence[Entry], names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the ids of releases that are given by id or title."""
    return tuple(_named(every, name).id for name in ([names] if isinstance(names, str) else names) if name)


def _there_already(new: Release, found: LedgerCheck, past: History) -> list[str]:
    """Name releases of the ledger that print exactly what a new one does: perhaps it was entered before its check."""
    alike = [one for one in found.linked if one.id in past.stored]
    text = packed(new) if alike else b""
    sizes = [one for one in alike if past.stored[one.id].size == len(text)]
    there = [one for one in sizes if digest(text, said_of(one)) == past.stored[one.id].digest]
    return [f"the ledger already holds a release that prints exactly the same, {one}" for one in there]


def _held(every: Sequence[Entry], names: Sequence[str]) -> tuple[Entry, ...]:
    """Return the releases that a reader holds, by ids or titles; nobody holds one that nobody saw."""
    if not names:
        raise RequestError("no earlier release is named; name some, or leave this out to check all of them")
    chosen = set(_ids(every, names))
    found = tuple(e for e in every if e.id in chosen)
    unseen = next((e for e in found if e.unseen), None)
    if unseen is not None:
        raise RequestError(f"release {unseen} was withdrawn and nobody saw it, so nobody holds it; leave it out")
    return found


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()
