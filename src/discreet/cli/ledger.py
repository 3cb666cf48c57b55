"""``discreet ledger``: what has been published, and whether one more release can join it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.compose import composed
from discreet.cli.release_options import ReleaseOptions, in_published
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.table.release import Release

in_limits = options.panel("What counts as given away")
DEFAULT = Path("ledger.sqlite")

ledger = typer.Typer(
    name="ledger",
    help="Keep what has been published, and check new releases against all of it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

File = Annotated[Path, typer.Argument(metavar="RELEASE", help="What is published: .csv, .parquet or .tab.")]
Where = Annotated[
    Path, typer.Option("--ledger", envvar="DISCREET_LEDGER", help="The ledger's file.", show_default=str(DEFAULT))
]
JsonOutput = Annotated[Path | None, options.in_output("--output", "-o", help="Also write the result: .json or .txt.")]


@dataclass(frozen=True)
class Stated:
    """What is said of a release."""

    title: Annotated[
        str | None, typer.Option("--title", help="What the release is called; the file's name by default.")
    ] = None
    population: Annotated[
        str,
        typer.Option(
            "--population",
            help="Whom the figures are about; a part behind the whole, as 'residents > 18+'; may be anybody if not "
            "stated.",
        ),
    ] = ""
    period: Annotated[str, typer.Option("--period", help="When, as 2024; may be any time if not stated.")] = ""
    variable: Annotated[str, typer.Option("--variable", help="What is added up, where it is not people or firms.")] = ""
    revises: Annotated[
        list[str] | None,
        typer.Option("--revises", help="An earlier release, by id or title, whose figures this one corrects."),
    ] = None

    def about(self, release: Path) -> dict[str, Any]:
        """Return it as the ledger takes it; without a title, a release is called by its file."""
        return {**vars(self), "title": self.title or release.stem, "revises": self.revises or ()}


@dataclass(frozen=True)
class Published(ReleaseOptions):
    """How the figures were published, and how their file is read."""

    published_as: Annotated[
        str,
        in_published(
            "--published-as",
            help="How the figures were made, where the file does not say: 'random base=3', 'perturbed bound=2'.",
        ),
    ] = "exact"
    least: Annotated[
        float | None,
        in_published(
            "--least", help="What hidden values are at least; by default above 0 where a table shows zeros.", min=0.0
        ),
    ] = None

    def release(self, path: Path) -> Release:
        """Read what is published."""
        from discreet.table.release_writer import kind_from_text

        given = {"--mark": self.mark, "--least": self.least} if path.suffix.lower() == ".tab" else {}
        if name := next((name for name, one in given.items() if one is not None), None):
            raise RequestError(f"{path} states by itself what is hidden; {name} is for other files, leave it out")
        return self.releases([path], self.least, kind=kind_from_text(self.published_as))[0]


@composed
def add(
    *,
    release: File,
    stated: Stated,
    published: Annotated[str | None, typer.Option("--published", help="The day, as 2024-05-31; today.")] = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The true table: kept beside the ledger, where only you can read it."),
    ] = None,
    ledger: Where = DEFAULT,
    how: Published,
    json: options.Json = False,
) -> None:
    """Record a release as published. When this ends, it is on the disk; the ledger is begun if there is none."""
    from discreet.decide.ledger import Ledger

    shown = how.release(release)
    with Ledger(ledger) as book:
        entry = book.add(shown, published=published, original=original, **stated.about(release))

    def face(console: Any) -> None:
        console.print(f"Added {entry} to {ledger}.", markup=False)
        console.print(f"{entry.figures:,} figures, {entry.hidden:,} hidden; {entry.method}", style="dim", markup=False)

    show.deliver("ledger add", entry, json, None, face)


def entries(
    ledger: Where = DEFAULT,
    json: options.Json = False,
) -> None:
    """Show what has been published."""
    from discreet.decide.ledger import Ledger
    from discreet.decide.ledger.entry import HEADER

    with Ledger(ledger, create=False) as book:
        found = book.entries()

    def face(console: Any) -> None:
        if not found:
            console.print(f"{ledger} is empty.", markup=False)
        else:
            show.table(console, HEADER, [entry.row() for entry in found])

    show.deliver("ledger list", _Listed([entry.to_dict() for entry in found]), json, None, face)


@composed
def check(
    *,
    release: File,
    stated: Stated,
    ledger: Where = DEFAULT,
    policy: Annotated[
        str | None,
        in_limits("--policy", help="A profile or a .toml file, for the threshold, the limits and what zeros are."),
    ] = None,
    min_width: Annotated[
        float | None, in_limits("--min-width", help="The least width of the interval of a protected figure.")
    ] = None,
    max_dr: Annotated[
        float | None, in_limits("--max-dr", help="The largest disclosure risk 1/H of a protected figure.")
    ] = None,
    threshold: Annotated[
        float | None,
        in_limits(
            "--threshold",
            help="Counts that no release shows, and sums of them, must not be worked out below this; 0 for all.",
            min=0,
            show_default="10",
        ),
    ] = None,
    fewest: Annotated[
        int,
        in_limits("--fewest", help="Changes between two times or populations must be made by this many people.", min=1),
    ] = 3,
    beside: Annotated[
        list[str] | None,
        typer.Option("--beside", help="Look at this earlier release only, by id or title; several can be named."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds; the rest is not called safe.", min=0.0)
    ] = None,
    how: Published,
    workers: options.Workers = None,
    json: options.Json = False,
    output: JsonOutput = None,
    top: Annotated[int, options.in_output("--top", help="How many findings to show.", min=0)] = 10,
) -> None:
    """Say what a new release would give away together with everything published before, and show the subtraction.

    Exit code 0 if nothing is given away, 1 if something is, or if something could not be judged ("incomplete").
    Nothing is added to the ledger. A population or period that is not stated may be the same, and is taken to be.
    """
    show.check_output(output, release, ledger, endings=(".json", ".txt"))
    from discreet.decide.ledger import Ledger
    from discreet.decide.ledger.findings import HEADER

    shown = how.release(release)
    with Ledger(ledger, create=False) as book, show.Bar() as bar:
        result = book.check(
            shown,
            **stated.about(release),
            policy=policy,
            width=min_width,
            dr=max_dr,
            threshold="default" if threshold is None else threshold or None,
            fewest=fewest,
            beside=beside,
            time_limit=time_limit,
            workers=workers,
            progress=bar,
        )

    def face(console: Any) -> None:
        colour = {"safe": "green", "unsafe": "red", "incomplete": "yellow"}[result.verdict]
        console.print(f"[bold {colour}]{result.verdict}[/bold {colour}]")
        console.print(result.sentence, markup=False)
        console.print(f"{result.meaning}.", style="dim", markup=False)
        if result.findings and top:
            console.print()
            show.table(console, HEADER, result.rows(top))
        if sums := result.arithmetic(min(top, 5)):
            console.print()
            for line in sums:
                console.print(f"  {line}", markup=False)

    show.deliver("ledger check", result, json, output, face)
    if result.verdict != "safe":
        raise typer.Exit(1)


def withdraw(
    release: Annotated[str, typer.Argument(metavar="ID", help="The release's id, or its title.")],
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record.")],
    unseen: Annotated[bool, typer.Option("--unseen", help="Nobody saw it: checks leave it out from now on.")] = False,
    ledger: Where = DEFAULT,
    json: options.Json = False,
) -> None:
    """Mark a release as taken back. Readers may have kept it, so that checks still count it, unless nobody saw it."""
    from discreet.decide.ledger import Ledger

    with Ledger(ledger, create=False) as book:
        entry = book.withdraw(release, reason=reason, unseen=unseen)

    def face(console: Any) -> None:
        counts = "Checks leave it out." if entry.unseen else "Checks still count it: readers may have kept it."
        console.print(f"Withdrawn: {entry}. {counts}", markup=False)

    show.deliver("ledger withdraw", entry, json, None, face)


def retag(
    release: Annotated[str, typer.Argument(metavar="ID", help="The release's id, or its title.")],
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record.")],
    population: Annotated[
        str | None, typer.Option("--population", help="Whom the figures are about; as it was by default.")
    ] = None,
    period: Annotated[str | None, typer.Option("--period", help="When; as it was by default.")] = None,
    variable: Annotated[str | None, typer.Option("--variable", help="What is added up; as it was by default.")] = None,
    who: Annotated[str, typer.Option("--who", help="Who says so; the user of this machine by default.")] = "",
    ledger: Where = DEFAULT,
    json: options.Json = False,
) -> None:
    """Correct what is said about a release: its population, period or variable. What was said before is kept."""
    from discreet.decide.ledger import Ledger

    with Ledger(ledger, create=False) as book:
        entry = book.retag(release, reason=reason, population=population, period=period, variable=variable, who=who)

    def face(console: Any) -> None:
        was = entry.amended[-1]
        told = [
            f"{name} {getattr(was, name) or 'not stated'} → {getattr(entry, name) or 'not stated'}"
            for name in ("population", "period", "variable")
            if getattr(was, name) != getattr(entry, name)
        ]
        console.print(f"Retagged: {entry}. {'; '.join(told)} ({was.who}, {was.day}: {was.reason}).", markup=False)

    show.deliver("ledger retag", entry, json, None, face)


class _Listed:
    """The ledger's lines for programs."""

    def __init__(self, releases: list[dict[str, Any]]) -> None:
        self.releases = releases

    def to_dict(self) -> dict[str, Any]:
        return {"releases": self.releases}


for _name, _command, _examples in (
    (
        "add",
        add,
        {"discreet ledger add release.csv --title 'Firms by size' --period 2024": "what is published today"},
    ),
    ("list", entries, {"discreet ledger list --ledger office.sqlite": "everything published so far"}),
    (
        "check",
        check,
        {
            "discreet ledger check new.csv --period 2024": "beside all earlier releases",
            "discreet ledger check new.csv --min-width 10": "every protected figure must stay 10 wide",
            "discreet ledger check new.csv --policy census": "by the rules and limits of a policy",
            "discreet ledger check final.csv --revises 3f2a91": "a corrected release",
            "discreet ledger check new.csv --beside 3f2a91": "what a reader of one earlier release learns",
        },
    ),
    (
        "retag",
        retag,
        {"discreet ledger retag 3f2a91 --period 2023 --reason 'period was left out'": "correct what is said about it"},
    ),
    ("withdraw", withdraw, {"discreet ledger withdraw 3f2a91 --reason 'wrong year'": "take a release back"}),
):
    _command.__doc__ = options.explained(_command, _examples)
    ledger.command(name=_name)(_command)
