"""``discreet assess``: from a table to a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, shell_names, show
from discreet.cli.compose import command, panel
from discreet.cli.deadline import in_time
from discreet.cli.options import in_output
from discreet.cli.reading_options import Beside, Mark, NamedOriginal, OriginalOptions
from discreet.core.effort import EACH
from discreet.core.errors import RequestError, nearest
from discreet.core.proof_text import proof_text
from discreet.table.presentation import ENDINGS as PUBLISHED

if TYPE_CHECKING:
    from discreet.decide.assessment import Assessment, Protect
    from discreet.table.statistic import Statistic

in_decide = panel("What to judge")


@dataclass(frozen=True)
class Asked:
    """What to judge."""

    policy: Annotated[str, in_decide(options.POLICY, autocompletion=shell_names.profiles)] = "default"
    protect: Annotated[
        str | None,
        in_decide(
            "The protection to apply and judge: random-rounding:base=3.",
            "--method",
            autocompletion=shell_names.methods,
        ),
    ] = None
    as_is: Annotated[bool, in_decide("Judge the table as it is; propose nothing.")] = False
    release: Annotated[Path | None, in_decide("Judge this release of the table.", "--released")] = None
    published_as: options.PublishedAs = None
    mark: Mark = None
    population: Annotated[
        int | None, in_decide("The table is a sample from this many people.", "--population-size", "-N", min=1)
    ] = None
    draws: Annotated[int, in_decide("How many populations to draw for a sample.", min=2)] = 1000
    time_limit: Annotated[
        float | None,
        in_decide(
            "Seconds for the whole command; by default 60 per search and audit. What is unfinished is never safe.",
            min=0.0,
        ),
    ] = None

    def protection(self, read: OriginalOptions, beside: Mapping[str, Statistic]) -> tuple[Protect, dict[str, Path]]:
        """Return what is judged: a proposal, the table as it is, a method, or a release from a file."""
        if sum([self.protect is not None, self.as_is, self.release is not None]) > 1:
            raise RequestError("give one of --method, --as-is and --released")
        if self.release is None:
            if self.published_as is not None or self.mark:
                raise RequestError("--published-as and --mark say how --released was made; name it")
            return ("none" if self.as_is else self.protect or "propose"), {}
        from discreet.cli.audit_texts import kind_of
        from discreet.reading.published import open_release

        how = {"kind": kind_of(self.published_as), "total": read.total or "Total"}
        how |= {"dimensions": options.names(read.dimensions), "encoding": read.encoding, "delimiter": read.delimiter}
        how |= {"statistics": beside} if beside else {}
        how |= {"marks": tuple(self.mark)} if self.mark else {}
        return open_release(self.release, how), {"release": self.release}


@dataclass(frozen=True)
class WrittenFiles(options.Publishing):
    """What is shown and written."""

    json: options.Json = False
    output: Annotated[Path | None, in_output("Write what may be published: .csv, .parquet, .xlsx or .tab.")] = None
    report: options.Report = None
    edition: Annotated[str, in_output("Edition of --report and --json: internal, public or public-intervals.")] = (
        "internal"
    )
    author: options.Author = ""
    date: options.ReportDate = ""
    head_of: options.HeadOf = None
    record: Annotated[Path | None, in_output("Keep a record for discreet replay, as secret as the table: .json.")] = (
        None
    )
    top: Annotated[int, in_output("How many cells to show.", min=0)] = 10

    def check(self, *inputs: Path | None) -> None:
        """Refuse what cannot be written, before any work is done."""
        from discreet.report.edition import EDITIONS

        if self.edition not in EDITIONS:
            raise RequestError(f"there is no edition {self.edition!r}; {nearest(self.edition, EDITIONS)}")
        if self.edition != "internal" and self.report is None and not self.json:
            raise RequestError(
                f"--edition {self.edition} applies to a report or to --json; name a report (--report), or add --json"
            )
        if (self.author or self.date) and (self.report is None or self.edition != "internal"):
            raise RequestError("--author and --date sign an internal report; name one (--report), or leave them out")
        if self.head_of is not None and (self.report is None or self.edition != "internal"):
            raise RequestError("--head-of is kept in an internal report; name one (--report), or leave it out")
        show.check_output(self.output, *inputs, endings=PUBLISHED)
        self.style(self.output)
        show.check_output(self.report, *inputs, self.output, endings=options.REPORTS)
        show.check_output(self.record, *inputs, self.output, self.report, endings=(".json",))

    def write(self, found: Assessment) -> str | None:
        """Write record, release and report on request; return what is printed if only the public part may be seen."""
        in_time()
        public, head = None, options.head_of(self.head_of)
        if self.json and self.edition != "internal":
            from discreet.report.writing import report_text

            # Made before anything is written: there may be nothing to say in public.
            public = report_text(found.to_dict(), ".json", self.edition)
        if self.output is not None and found.release is not None:
            value = "value" if found.subject.magnitudes else "count"
            style, formulas = self.style(self.output), self.formulas
            found.release.write(self.output, value=value, trial=found.trial, style=style, formulas=formulas)
        if self.record is not None:
            found.write_record(self.record)
        if self.report is not None:
            found.report(self.report, edition=self.edition, author=self.author, date=self.date, ledger=head)
        return public

    def told(self, console: show.Console, found: Assessment) -> None:
        """Say what was written."""
        files = [path for path in (self.record, self.output if found.release else None, self.report) if path]
        if files:
            show.written(console, *files)
        if self.output is not None and found.release is None:
            console.print(f"{self.output} was not written, as nothing may be released.", style="red")
        if found.release is None or found.trial:
            return
        if not files:
            console.print()
        if self.output is None:
            wanted = "-o release.csv writes what may be published"
            wanted += "" if self.report else ", --report report.html a report to read and sign"
            show.next_step(console, f"{wanted}.")
        else:
            show.next_step(
                console, f"once it is published, discreet ledger add {self.output} keeps it for later checks."
            )


@command
def assess(
    *,
    read: NamedOriginal,
    asked: Asked,
    draw: options.Draw,
    workers: options.Workers = None,
    beside: Beside,
    written: WrittenFiles,
) -> None:
    """Say whether a table may be released: as it is, after protection, or not at all, and why.

    The whole path under one policy: rules, risk, protection, audit, risk after, utility. By default it proposes the
    first protection of the policy that meets it. From a record (--record), discreet replay makes the assessment again.
    Exit code 1 if the table must not be released.

    Examples:
        discreet assess table.csv  # may this table be published, and how?
        discreet assess table.csv -o release.csv --report report.html  # with the protected table and a report
        discreet assess firms.csv --by region,activity --value turnover --policy business  # from records of firms
        discreet assess table.csv --statistic 'pct=percentage, over=sex' -o release.csv  # with percentages of it
        discreet assess table.csv --released published.csv  # a release that somebody else made
        discreet assess sample.csv --population-size 2449  # a sample table
    """
    from discreet.decide.assess import assess as work
    from discreet.decide.policy import Policy

    written.check(read.file, asked.release, read.impossible)
    policy = Policy.load(asked.policy)
    source = read.judged(policy.top)
    with show.ProgressBar() as bar, options.about(read.source):
        wanted = beside.defined()
        protection, others = asked.protection(read, wanted)
        found = work(
            source.with_files(others),
            policy,
            protection=protection,
            population=asked.population,
            draws=asked.draws,
            time_limit=EACH if asked.time_limit is None else asked.time_limit,
            statistics=wanted,
            workers=workers,
            progress=bar,
            **vars(draw),
        )
    public = written.write(found)

    def face(console: show.Console) -> None:
        _show(console, found, source.note, written.top)
        if draw.seed is None:
            seed = found.record["request"]["seed"]
            told = f"Seed {seed}, drawn for this assessment; --seed {seed} repeats it. Keep it as secret as the table."
            console.print(f"\n{told}", style="dim")
        written.told(console, found)

    if public is not None:
        print(show.shown(public), end="")
    else:
        show.deliver("assess", found, written.json, None, face)
    if found.verdict == "withhold":
        raise typer.Exit(1)


def _show(console: show.Console, found: Assessment, note: str, top: int) -> None:
    """Show an assessment to a person: the verdict, its checks and figures, the worst cells, what was tried."""
    show.verdict(console, found.verdict, found.verdict.upper(), f"  {found.sentence}")
    show.head(console, "", note)
    console.print()
    for one in found.checks:
        show.marked(console, f" {'✓' if one.passed else '✗'} ", "green" if one.passed else "red", one.text)
    console.print()
    show.table(console, ("", ""), found.figures())
    if found.sample is not None:
        console.print()
        header, rows = found.sample.side_by_side()
        show.table(console, header, rows, left=(0, 3))
    if found.rows_sentence:
        console.print(f"\n{found.rows_sentence}")
    if cells := found.cells(top):
        console.print()
        show.table(console, *found.side_by_side(cells), left=(0, 3, 4))
        console.print()
        for cell in cells[: 3 if found.verdict == "withhold" else 1]:
            if cell["proof"]:
                show.marked(console, "  ", "", proof_text(cell["proof"], cell["name"]), "dim")
    if len(found.candidates) > 1:
        console.print()
        tried = [[c.title, "–" if c.utility is None else f"{c.utility:.4f}", c.text] for c in found.candidates]
        show.table(console, ["tried", "utility", ""], tried, left=(0, 2))
