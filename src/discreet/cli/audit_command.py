"""``discreet audit``: what can be worked out from what is published."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.audit_texts import crossing_of, fact_of, insider_of, kind_of, merged_of
from discreet.cli.compose import argument, command, option, panel
from discreet.cli.options import in_output, in_published
from discreet.cli.reading_options import ReleaseFileOptions
from discreet.cli.rule_option import Rules, rules_of
from discreet.core.errors import RequestError
from discreet.core.proof_text import proof_text
from discreet.core.text import number_text

if TYPE_CHECKING:
    from discreet.auditing.audit_result import Audit
    from discreet.auditing.limits import Limits
    from discreet.rules.rule import Rule
    from discreet.rules.sensitivity import Sensitivity
    from discreet.table.attacker import Attacker
    from discreet.table.contributions import Contributions
    from discreet.table.release import Release

in_known, in_limits = panel("Who looks, and what they know"), panel("What counts as safe")


@dataclass(frozen=True)
class PublishedOptions(ReleaseFileOptions):
    """How the figures were published, and how their files are read."""

    published_as: options.PublishedAs = None
    exact_margins: Annotated[bool, in_published("Margins were not changed.")] = False
    merged: Annotated[list[str] | None, in_published("DIMENSION:CATEGORY=PART+PART.")] = None

    def made(self) -> dict[str, Any]:
        """Return how the figures were made."""
        from discreet.table.kinds import EXACT

        kind = kind_of(self.published_as)
        return {"kind": kind, "margins": EXACT if self.exact_margins else None, "merged": merged_of(self.merged)}


@dataclass(frozen=True)
class KnowledgeOptions:
    """Who looks, and what they know."""

    insider: Annotated[list[str] | None, in_known("CELL:VALUE, such as 'size=7:400', or CELL:VALUE:OTHERS.")] = None
    coalition: Annotated[
        list[str] | None, in_known("Insiders who pool what they know, as --insider; with --contributions NAME+NAME.")
    ] = None
    contributions: Annotated[
        Path | None,
        in_known(
            "A file of contributions (dimensions, whose they are, amounts, holdings): everybody is tried, knowing all "
            "that they contributed."
        ),
    ] = None
    contributor: Annotated[str, in_known("The column of that file that says whose contribution it is.")] = "respondent"
    contribution: Annotated[str, in_known("The column of that file with the amounts.")] = "value"
    holding: Annotated[str | None, in_known("The column of that file with their holding, if not 'holding'.")] = None
    insiders: Annotated[
        str, in_known("Respondents of --original to try: auto (all it knows of), respondents, singletons or none.")
    ] = "auto"
    know: Annotated[list[str] | None, in_known("CELL:LOW..HIGH, known to everybody; either end is optional.")] = None
    least: Annotated[
        float | None, in_known("What hidden values are at least; by default above 0 if a table shows zeros.")
    ] = None
    most: Annotated[float | None, in_known("What every finest cell is at most.")] = None
    apart: Annotated[
        list[str] | None,
        in_known("NAME=NAME, dimensions that have the same categories and are not the same; repeat it."),
    ] = None

    def attackers(self) -> list[Attacker]:
        """Return the insiders that are named, and their coalition."""
        from discreet.table.attacker import Attacker

        one = len(self.insider or ()) == 1
        who = [insider_of(text, "insider" if one else f"insider {i}") for i, text in enumerate(self.insider or (), 1)]
        if self.coalition and self.contributions is None:
            who.append(Attacker.coalition([insider_of(text, "member") for text in self.coalition]))
        return who

    def firms(self, published: PublishedOptions) -> Contributions | None:
        """Return the contributions in a file, which is written as the releases are."""
        from discreet.table.contributions import read_contributions

        if self.contributions is None:
            if (self.contributor, self.contribution, self.holding) != ("respondent", "value", None):
                raise RequestError(
                    "--contributor, --contribution and --holding name columns of a file of contributions; name it too "
                    "(--contributions)"
                )
            return None
        return read_contributions(
            self.contributions,
            value=self.contribution,
            respondent=self.contributor,
            holding=self.holding,
            coalitions=[text.split("+") for text in self.coalition or ()],
            encoding=published.encoding,
            delimiter=published.delimiter,
        )


@dataclass(frozen=True)
class SafetyOptions:
    """What counts as safe."""

    min_width: Annotated[float | None, in_limits("Every hidden figure keeps an interval at least this wide.")] = None
    max_dr: Annotated[
        float | None, in_limits("No figure is known better than this: 1/H is 1 with one bit left, 0.5 with two.")
    ] = None
    protection: Annotated[float | None, in_limits("Per cent of the original that intervals must reach.")] = None
    rule: Rules = None
    within: Annotated[
        float | None, in_limits("Nobody may know the largest other contribution within this per cent.")
    ] = None
    verdict_only: Annotated[bool, in_limits("Only whether levels are reached: faster on large tables.")] = False

    def limits(self) -> Limits:
        """Return the limits that hold for every figure."""
        from discreet.auditing.limits import Limits

        return Limits(self.min_width, self.max_dr, within=self.within)


@dataclass(frozen=True)
class Work:
    """How the audit works."""

    time_limit: options.TimeLimit = None
    relaxed: Annotated[
        bool, option("Intervals over real numbers: faster; never safe where those over integers may differ.")
    ] = False
    seed: options.Seed = None
    workers: options.Workers = None


@dataclass(frozen=True)
class Printing:
    """How the result is shown."""

    json: options.Json = False
    output: Annotated[
        Path | None,
        in_output("Also write the result: .json, .csv (one row per figure) or .txt."),
    ] = None
    top: Annotated[
        int | None, in_output("How many figures to show, the best known first; 10, or all with --json.", min=0)
    ] = None

    @property
    def rows(self) -> int:
        """How many figures people see."""
        return 10 if self.top is None else self.top

    @property
    def proofs(self) -> int | None:
        """How many figures get a proof; None for all."""
        every = self.output is not None or (self.json and self.top is None)
        return None if every else max(self.rows, 1)

    def deliver(self, result: Audit) -> None:
        """Show an audit, and write it where a file is named."""
        if not self.json or self.top is None:
            show.deliver("audit", result, self.json, self.output, lambda console: _face(console, result, self.rows))
            return
        if self.output is not None:
            show.write_result("audit", result, self.output)
        # An audit makes its cells when they are asked for; a copy that has some of them makes no others.
        brief = copy.copy(result)
        vars(brief)["cells"] = result.worst(self.top)
        print(show.as_json("audit", {**brief.to_dict(), "not_shown": max(len(result.findings) - self.top, 0)}))


@command
def audit(
    releases: Annotated[
        list[Path] | None, argument("Published tables, linked by the dimensions they share.", "FILE…")
    ] = None,
    example: options.Example = None,
    original: Annotated[Path | None, option("The true table: checks the release, sets protection levels.")] = None,
    about: Annotated[
        str | None,
        option(
            "Judge the finest crossing of these dimensions: area,sex. Categories where no table has them: area,sex=f+m."
        ),
    ] = None,
    law: Annotated[str, option("interval, tables or method.")] = "interval",
    *,
    published: PublishedOptions,
    known: KnowledgeOptions,
    safe: SafetyOptions,
    work: Work,
    shown: Printing,
) -> None:
    """Find out what can be worked out from what is published: intervals, bits, risk, and the proof of each.

    With --rule and --original, every cell that the rules call sensitive must reach its protection levels. Exit code 0
    if every hidden figure is safe; 1 if some are not, or if time ran out.

    Examples:
        discreet audit table.csv  # intervals, risk and proofs of all suppressed cells
        discreet audit --example sex --about output_area,sex,language=a+b  # a bundled table as it is
        discreet audit rounded.csv --published-as 'random base=3' --law method  # to a reader who knows the method
        discreet audit as.csv ar.csv sr.csv --about activity,size,region  # what linked tables give away together
        discreet audit table.csv --about activity,owner=private+public  # a crossing with what no table shows
        discreet audit t.csv --insider 'activity=5,size=7:400' --min-width 20  # an insider, against a least width
        discreet audit t.csv --statistic 'pct=percentage, over=sex'  # with the percentages beside the counts
        discreet audit t.csv --original t.parquet --rule p=10  # against the protection levels of the rules
        discreet audit t.csv --contributions firms.csv --contributor id --contribution turnover --within 10
            # what contributors learn about each other
    """
    releases = releases or []
    if bool(releases) == (example is not None):
        raise RequestError("name what is published: files, or a bundled table as it is with --example religion")
    show.check_output(shown.output, *releases, original, known.contributions)
    from discreet.auditing.audit import audit as run
    from discreet.table.spelling import pairs_of
    from discreet.table.tabulation import Tabulation

    # What is read is at least 0; what is known of values may be less.
    least = None if known.least is None else max(known.least, 0.0)
    figures = _example(example) if example else published.releases(releases, least, **published.made())
    truth, sensitive = _truth(original, published.reading(least), rules_of(safe.rule))
    counted = not isinstance(truth, Tabulation) or not truth.responses
    with show.ProgressBar() as bar, options.about(*releases):
        result = run(
            figures,
            about=crossing_of(about),
            attackers=known.attackers(),
            knows=[fact_of(text) for text in known.know or ()],
            law=law,
            contributions=known.firms(published),
            insiders=known.insiders,  # type: ignore[arg-type]
            response=None if counted else published.value,
            limits=safe.limits(),
            original=None if sensitive is not None and safe.protection is None else truth,
            protection=safe.protection,
            sensitivity=sensitive,
            verdict_only=safe.verdict_only,
            least=0.0 if known.least is None else known.least,
            most=known.most,
            apart=pairs_of(known.apart or ()),
            proofs=shown.proofs,
            progress=bar,
            **vars(work),
        )
    shown.deliver(result)
    if result.verdict != "safe":
        raise typer.Exit(1)


def _example(name: str) -> list[Release]:
    """Return a bundled table as it would be published without any protection."""
    from discreet import datasets
    from discreet.table.release import Release

    return [Release(datasets.load(name))]


def _truth(original: Path | None, reading: dict[str, Any], rules: list[Rule]) -> tuple[Any, Sensitivity | None]:
    """Read the original, and judge it by rules where there are some."""
    from discreet.reading.published import open_truth
    from discreet.rules.sensitivity import judged_cells, sensitivity

    truth = open_truth(original, reading, judged=bool(rules))
    if not rules:
        return truth, None
    if original is None:
        raise RequestError("rules judge the original; name it too (--original)")
    with options.about(original):
        cells = judged_cells(truth, rules)
        return truth, sensitivity(cells, rules, response=reading["value"] if cells.responses else None)


def _face(console: show.Console, result: Audit, rows: int) -> None:
    """Show an audit to a person."""
    from discreet.auditing.laws import LAWS

    show.verdict(console, result.verdict)
    console.print(result.sentence)
    if len(result.findings):
        console.print(str(result.criterion), style="dim")
    if not len(result.findings) or not rows:
        return
    console.print(f"{LAWS[result.law].text}\n", style="dim")
    header, *lines = result.table(rows)
    show.table(console, header, lines)
    console.print()
    seen = set[str]()
    for cell in result.worst(min(rows, 5)):
        told = proof_text(str(cell.proof), cell.name) if cell.proof else ""
        why = told.removeprefix(f"{cell.name} is ").partition(": ")[2] if " is " in told else told
        if told and why not in seen:
            seen.add(why)
            show.marked(console, "  ", "", show.clipped(told, show.PROOF, "; --json prints all"))
    if result.linked:
        console.print("\nNarrower because of another table:")
        lines = [[c.name, _interval(c.alone), _interval((c.lower, c.upper))] for c in result.linked[:rows]]
        show.table(console, ["cell", "one table alone", "together"], lines)


def _interval(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{number_text(ends[0])} to {number_text(ends[1])}"
