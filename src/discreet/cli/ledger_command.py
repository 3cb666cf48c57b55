"""``discreet ledger``: what has been published, and whether one more release can join it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import bundled, options, shell_names, show
from discreet.cli.compose import argument, command, group, option, panel
from discreet.cli.deadline import left_of
from discreet.cli.options import in_output, in_published
from discreet.cli.reading_options import ReleaseFileOptions
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.decide.ledger import Ledger
    from discreet.table.release import Release

in_limits = panel("What counts as given away")
DEFAULT = Path("ledger.sqlite")

ledger = group("ledger", "Keep what has been published, and check new releases against all of it.")

File = Annotated[Path | None, argument("What is published: .csv, .parquet, .xlsx or .tab.", "RELEASE")]
Id = Annotated[str | None, argument("The release's id, or its title.", "ID")]
Tried = Annotated[str | None, option("A bundled table, tried on a temporary ledger that holds it.")]
Reason = Annotated[str, option("Why, for the record.")]


@dataclass(frozen=True)
class LedgerFile:
    """Where releases are kept, and how what is done is told."""

    ledger: Annotated[Path, option("The ledger's file.", envvar="DISCREET_LEDGER", show_default=str(DEFAULT))] = DEFAULT
    key: Annotated[
        Path | None,
        option(
            "The file of the office's key: entries are signed, and signatures checked.",
            "--office-key",
            envvar="DISCREET_LEDGER_KEY",
        ),
    ] = None
    json: options.Json = False

    def opened(self, *, create: bool = False, whole: bool = False) -> Ledger:
        """Open the ledger."""
        from discreet.decide.ledger import Ledger

        return Ledger(self.ledger, create=create, key=self.key, whole=whole)


@dataclass(frozen=True)
class Stated:
    """What is said about a release."""

    title: Annotated[str | None, option("What the release is called; the file's name by default.")] = None
    population: Annotated[
        str, option("Whom the figures are about; a part after the whole: 'residents > 18+'. If not stated, anybody.")
    ] = ""
    period: Annotated[str, option("When, such as 2024; if not stated, any time.")] = ""
    variable: Annotated[str, option("What is added up, if it is not people or firms.")] = ""
    revises: Annotated[list[str] | None, option("An earlier release, by id or title, that this one corrects.")] = None

    def about(self, release: Path) -> dict[str, Any]:
        """Return it as the ledger takes it; without a title, a release is called by its file."""
        return {**vars(self), "title": self.title or release.stem, "revises": self.revises or ()}


@dataclass(frozen=True)
class EntryOptions(ReleaseFileOptions):
    """How the figures were published, and how their file is read."""

    published_as: options.PublishedAs = None
    least: Annotated[
        float | None,
        in_published("What hidden values are at least; by default above 0 if a table shows zeros.", min=0.0),
    ] = None

    measure: Annotated[
        str | None,
        in_published("Which column of figures to enter, where a file has several: value or records. Each is an entry."),
    ] = None

    def release(self, path: Path) -> Release:
        """Read what is published."""
        from discreet.feasible.implied_statistics import one_measure
        from discreet.table.release_writer import kind_from_text

        given = {"--mark": self.mark, "--least": self.least} if path.suffix.lower() == ".tab" else {}
        if name := next((name for name, one in given.items() if one is not None), None):
            raise RequestError(f"{path} itself states what is hidden; {name} is for other files, leave it out")
        found = self.releases([path], self.least, kind=kind_from_text(self.published_as or "exact"))[0]
        return found if self.measure is None else one_measure(found, self.measure)


@dataclass(frozen=True)
class GivenOptions:
    """What counts as given away, and beside what."""

    policy: Annotated[
        str | None,
        in_limits(
            "A profile or a .toml file, for its threshold, limits and zeros.", autocompletion=shell_names.profiles
        ),
    ] = None
    min_width: Annotated[float | None, in_limits("The least width of the interval of a protected figure.")] = None
    max_dr: Annotated[float | None, in_limits("The largest disclosure risk 1/H of a protected figure.")] = None
    threshold: Annotated[
        float | None,
        in_limits(
            "No unpublished count, or sum of them, below this may be worked out; 0 means of any size.",
            min=0,
            show_default="10",
        ),
    ] = None
    fewest: Annotated[int, in_limits("The least number of people behind a change over time or population.", min=1)] = 3
    beside: Annotated[list[str] | None, option("Look at this earlier release only, by id or title; repeat it.")] = None
    original: Annotated[
        list[Path] | None,
        option("The true table of a correction, and ID=FILE for that of what it corrects, if the ledger has none."),
    ] = None
    apart: Annotated[
        list[str] | None,
        option("NAME=NAME, dimensions that have the same categories and are not the same; repeat it."),
    ] = None
    time_limit: options.TimeLimit = None

    def limits(self) -> dict[str, Any]:
        """Return it as the ledger takes it."""
        from discreet.table.spelling import pairs_of

        given = {name: value for name, value in vars(self).items() if name != "original"} | {
            "time_limit": left_of(self.time_limit),
            "threshold": "default" if self.threshold is None else self.threshold or None,
            "apart": pairs_of(self.apart or ()),
        }
        return given | {"width": given.pop("min_width"), "dr": given.pop("max_dr")}

    def originals(self, title: str) -> dict[str, Path]:
        """Return the true tables by release; one without a name is that of the release to be checked."""
        found: dict[str, Path] = {}
        for given in self.original or ():
            named, equals, file = str(given).partition("=")
            name, path = (named, Path(file)) if equals and not given.is_file() else (title, given)
            if name in found:
                raise RequestError(f"{name!r} is given two originals, {found[name]} and {path}; give one (--original)")
            found[name] = path
        return found


@contextmanager
def _opened(kept: LedgerFile, example: str | None, *, whole: bool = False) -> Iterator[Ledger]:
    """Open the ledger, or one that holds a bundled table and is gone afterwards."""
    with ExitStack() as stack:
        if example is not None:
            kept = replace(kept, ledger=stack.enter_context(bundled.earlier_and_new(example))[0])
        yield stack.enter_context(kept.opened(whole=whole))


def _named(release: str | None, example: str | None) -> str:
    """Return which release is meant: by id or title, or the one of a bundled table."""
    bundled.one_of(release, example, "a release by its id or title")
    return release or bundled.gaps(str(example))


@command
def add(
    release: File = None,
    example: Annotated[
        str | None,
        option("A bundled table, published without its counts of 1 and 2.", autocompletion=shell_names.examples),
    ] = None,
    *,
    stated: Stated,
    how: EntryOptions,
    published: Annotated[str | None, option("The day, such as 2024-05-31; today by default.")] = None,
    original: Annotated[Path | None, option("The true table: kept beside the ledger, readable by you alone.")] = None,
    kept: LedgerFile,
) -> None:
    """Record a release as published. It is on disk when the command ends; a ledger that does not exist is made.

    A file that shows counts of 1 or 2, and does not say how its figures were made, may be the original: it is refused
    unless --published-as says that this is what was published.

    Examples:
        discreet ledger add release.csv --title 'Firms by size' --period 2024  # what is published today
        discreet ledger add old.csv --published-as exact  # published long ago, as it was
        discreet ledger add --example religion --ledger trial.sqlite  # a bundled table, in a ledger to try things on
    """
    bundled.one_of(release, example, "what is published")
    if release is None:
        assert example is not None
        shown, about = bundled.with_gaps(example), stated.about(Path(bundled.gaps(example)))
    else:
        shown, about = how.release(release), stated.about(release)
        if how.published_as is None and not stated.variable:
            from discreet.decide.ledger.unstated import refuse_original

            refuse_original(release, shown)
    with kept.opened(create=True) as book:
        entry = book.add(shown, published=published, original=original, **about)
        head = book.head

    def face(console: show.Console) -> None:
        from discreet.table.release import AS_PUBLISHED

        console.print(f"Added {entry} to {kept.ledger}.")
        made = "" if entry.method == AS_PUBLISHED else f"; by {entry.method}"
        console.print(f"{entry.figures:,} figures, {entry.hidden:,} hidden{made}", style="dim")
        console.print(f"head {head}\nKeep the head elsewhere: discreet ledger verify --head checks it.", style="dim")

    show.deliver("ledger add", entry, kept.json, None, face)


@command
def entries(example: Tried = None, *, kept: LedgerFile) -> None:
    """Show what has been published.

    Examples:
        discreet ledger list --ledger office.sqlite  # everything published so far
        discreet ledger list --example religion  # a ledger with one bundled table
    """
    from discreet.decide.ledger.entry import HEADER

    with _opened(kept, example) as book:
        past = book.history()
    found = list(past.entries.values())

    def face(console: show.Console) -> None:
        if not found:
            console.print(f"{kept.ledger} is empty.")
        else:
            show.table(console, HEADER, [entry.row() for entry in found], left=(0, 1, 2, 3))
            console.print(f"\nhead {past.head.digest}", style="dim")

    told = {"releases": [entry.to_dict() for entry in found], "head": past.head.digest}
    show.deliver("ledger list", told, kept.json, None, face)


@command
def verify(
    head: Annotated[str | None, option("A head of the chain that was kept elsewhere, as a check prints it.")] = None,
    whole: Annotated[
        bool, option("Nothing is missing from a ledger of an earlier version, though its -wal file is.")
    ] = False,
    example: Tried = None,
    *,
    kept: LedgerFile,
) -> None:
    """Check that the ledger is as it was written: its file, the chain of its entries, and the figures of every release.

    Exit code 2 if it is not, with the place where the chain breaks. Every other command checks the chain too. Nobody
    can see from the file alone that its last entries were cut off: keep the head elsewhere, and name it here.

    Examples:
        discreet ledger verify  # is everything as it was added?
        discreet ledger verify --head 5f0c1d2e9ab34c77  # and is nothing missing that was there then?
        discreet ledger verify --example religion  # a ledger with one bundled table
    """
    with _opened(kept, example, whole=whole) as book, show.ProgressBar() as bar:
        result = book.verify(head, progress=bar)

    def face(console: show.Console) -> None:
        console.print(result.sentence)
        console.print(f"head {result.head}", style="dim")

    show.deliver("ledger verify", result, kept.json, None, face)


@command
def check(
    release: Annotated[Path | None, argument("What is published: .csv, .parquet, .xlsx or .tab.", "RELEASE")] = None,
    example: options.Example = None,
    *,
    stated: Stated,
    given: GivenOptions,
    how: EntryOptions,
    workers: options.Workers = None,
    kept: LedgerFile,
    output: Annotated[Path | None, in_output("Also write the result: .json or .txt.")] = None,
    top: Annotated[int, in_output("How many findings to show.", min=0)] = 10,
) -> None:
    """Say what a new release would give away together with everything published before, and show the subtraction.

    Exit code 0 if nothing is given away; 1 if something is, or could not be judged ("incomplete"). Nothing is added to
    the ledger. A population or period that is not stated may be the same, and is taken to be.

    Examples:
        discreet ledger check new.csv --period 2024  # beside all earlier releases
        discreet ledger check new.csv --min-width 10  # every protected figure must stay 10 wide
        discreet ledger check new.csv --policy census  # by the rules and limits of a policy
        discreet ledger check final.csv --revises 3f2a91  # a corrected release
        discreet ledger check final.csv --revises 3f2a91 --original true.csv  # what was corrected is known
        discreet ledger check new.csv --beside 3f2a91  # what a reader of one earlier release learns
        discreet ledger check --example religion  # a bundled table as it is, after it was published with gaps
    """
    bundled.one_of(release, example, "what is to be published")
    show.check_output(output, release, kept.ledger, endings=(".json", ".txt"))
    from discreet.decide.ledger.check_result import HEADER
    from discreet.decide.ledger.unstated import with_small_counts

    with ExitStack() as stack:
        if example is not None:
            at, release = stack.enter_context(bundled.earlier_and_new(example))
            kept = replace(kept, ledger=at)
        assert release is not None
        shown = how.release(release)
        book, bar = stack.enter_context(kept.opened()), stack.enter_context(show.ProgressBar())
        about = stated.about(release)
        truth = given.originals(about["title"])
        result = book.check(shown, **about, **given.limits(), originals=truth, workers=workers, progress=bar)
        if how.published_as is None and not stated.variable:
            result = with_small_counts(result, release, shown)

    def face(console: show.Console) -> None:
        show.verdict(console, result.verdict)
        console.print(result.sentence)
        console.print(f"{result.meaning}.", style="dim")
        if result.findings and top:
            console.print()
            show.table(console, HEADER, result.rows(top), left=(0, 3, 4))
        if sums := result.arithmetic(min(top, 5)):
            console.print("\n".join(["", *(f"  {line}" for line in sums)]))
        console.print(f"\nhead of the ledger {result.head}", style="dim")

    show.deliver("ledger check", result, kept.json, output, face)
    if result.verdict != "safe":
        raise typer.Exit(1)


@command
def withdraw(
    reason: Reason,
    release: Id = None,
    unseen: Annotated[bool, option("Nobody saw it: checks leave it out from now on.")] = False,
    example: Tried = None,
    *,
    kept: LedgerFile,
) -> None:
    """Mark a release as withdrawn. Readers may have kept it, so checks still count it unless nobody saw it.

    Examples:
        discreet ledger withdraw 3f2a91 --reason 'wrong year'  # take a release back
        discreet ledger withdraw --example religion --reason 'wrong year'  # a bundled table, to see what is said
    """
    named = _named(release, example)
    with _opened(kept, example) as book:
        entry = book.withdraw(named, reason=reason, unseen=unseen)
    counts = "Checks leave it out." if entry.unseen else "Checks still count it: readers may have kept it."
    face = f"Withdrawn: {entry}. {counts}"
    show.deliver("ledger withdraw", entry, kept.json, None, lambda console: console.print(face))


@command
def retag(
    reason: Reason,
    release: Id = None,
    population: Annotated[str | None, option("Whom the figures are about; unchanged by default.")] = None,
    period: Annotated[str | None, option("When; unchanged by default.")] = None,
    variable: Annotated[str | None, option("What is added up; unchanged by default.")] = None,
    least: Annotated[
        float | None, option("1 if its hidden values are above 0, 0 if they can be 0, where no mark says it.", min=0.0)
    ] = None,
    who: Annotated[str, option("Who says so; the user of this machine by default.")] = "",
    example: Tried = None,
    *,
    kept: LedgerFile,
) -> None:
    """Correct what is said about a release: its population, period or variable, or whether marks can hide zeros.

    What was said before is kept.

    Examples:
        discreet ledger retag 3f2a91 --period 2023 --reason 'period was left out'  # correct what is said about it
        discreet ledger retag 3f2a91 --least 1 --reason 'zeros are always shown'  # what its marks can hide
        discreet ledger retag --example religion --period 2023 --reason 'left out'  # a bundled table, to see it done
    """
    named = _named(release, example)
    with _opened(kept, example) as book:
        entry = book.retag(
            named, reason=reason, population=population, period=period, variable=variable, least=least, who=who
        )
    was = entry.amended[-1]
    told = [
        f"{name} {_or_silent(getattr(was, name))} → {_or_silent(getattr(entry, name))}"
        for name in ("population", "period", "variable", "least")
        if getattr(was, name) != getattr(entry, name)
    ]
    face = f"Retagged: {entry}. {'; '.join(told)} ({was.who}, {was.day}: {was.reason})."
    show.deliver("ledger retag", entry, kept.json, None, lambda console: console.print(face))


def _or_silent(stated: str | int | None) -> str:
    return "not stated" if stated in ("", None) else str(stated)


_commands = {"add": add, "list": entries, "check": check, "verify": verify, "retag": retag, "withdraw": withdraw}
for _name, _command in _commands.items():
    ledger.command(name=_name)(_command)
