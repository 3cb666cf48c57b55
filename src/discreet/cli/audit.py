"""``discreet audit``: what can be worked out from what is published."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.audit_texts import fact_of, hierarchies_of, insider_of, kind_of, merged_of
from discreet.cli.rule_texts import Rules, rules_of
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discreet.auditing.result import Audit
    from discreet.table.release import Release

EXAMPLES = {
    "discreet audit table.csv": "intervals, risk and proofs of all suppressed cells",
    "discreet audit rounded.csv --rounded random --base 3 --law method": "to a reader who knows the method",
    "discreet audit as.csv ar.csv sr.csv --about activity,size,region": "what linked tables give away together",
    "discreet audit t.csv --insider 'activity=5,size=7:400' --min-width 20": "an insider, against a least width",
    "discreet audit t.csv --original t.parquet --rule p=10": "against the protection levels of the rules",
    "discreet audit t.csv --contributions firms.csv --contributor id --contribution turnover --within 10": (
        "what contributors learn about each other"
    ),
}
PUBLISHED = "How the figures were published"
KNOWN = "Who looks, and what they know"
LIMITS = "What counts as safe"


def audit(
    releases: Annotated[list[Path], typer.Argument(help="Published tables, linked by the dimensions that they share.")],
    original: Annotated[
        Path | None, typer.Option("--original", help="The true table: checks the release, sets protection levels.")
    ] = None,
    about: Annotated[
        str | None, typer.Option("--about", help="Dimensions whose finest crossing is asked about, with commas.")
    ] = None,
    law: Annotated[str, typer.Option("--law", help="interval, tables or method.")] = "interval",
    insider: Annotated[
        list[str] | None,
        typer.Option("--insider", help="CELL:VALUE, as 'size=7:400', or CELL:VALUE:OTHERS.", rich_help_panel=KNOWN),
    ] = None,
    coalition: Annotated[
        list[str] | None,
        typer.Option(
            "--coalition",
            help="Insiders who put their knowledge together, as --insider; with --contributions NAME+NAME.",
            rich_help_panel=KNOWN,
        ),
    ] = None,
    contributions: Annotated[
        Path | None,
        typer.Option(
            "--contributions",
            help="A file of contributions (dimensions, whose they are, amounts, holdings): everybody is tried with "
            "all that they contributed.",
            rich_help_panel=KNOWN,
        ),
    ] = None,
    contributor: Annotated[
        str,
        typer.Option(
            "--contributor", help="The column of that file that says whose contribution it is.", rich_help_panel=KNOWN
        ),
    ] = "respondent",
    contribution: Annotated[
        str, typer.Option("--contribution", help="The column of that file with the amounts.", rich_help_panel=KNOWN)
    ] = "value",
    holding: Annotated[
        str | None,
        typer.Option(
            "--holding",
            help="The column of that file that says which holding they belong to; 'holding' where there is one.",
            rich_help_panel=KNOWN,
        ),
    ] = None,
    insiders: Annotated[
        str,
        typer.Option(
            "--insiders",
            help="Respondents of --original who are tried: auto (all it knows of), respondents, singletons or none.",
            rich_help_panel=KNOWN,
        ),
    ] = "auto",
    know: Annotated[
        list[str] | None,
        typer.Option(
            "--know", help="CELL:LOW..HIGH known to everybody; either end may be left out.", rich_help_panel=KNOWN
        ),
    ] = None,
    least: Annotated[
        float | None,
        typer.Option(
            "--least",
            help="What hidden values are at least; by default above 0 where a table shows zeros.",
            rich_help_panel=KNOWN,
        ),
    ] = None,
    most: Annotated[
        float | None, typer.Option("--most", help="What every value is at most.", rich_help_panel=KNOWN)
    ] = None,
    rounded: Annotated[
        str | None,
        typer.Option("--rounded", help="conventional, random or controlled.", rich_help_panel=PUBLISHED),
    ] = None,
    base: Annotated[int, typer.Option("--base", help="The rounding base.", rich_help_panel=PUBLISHED)] = 0,
    bound: Annotated[
        int | None, typer.Option("--bound", help="Values were moved by at most this.", rich_help_panel=PUBLISHED)
    ] = None,
    exact_margins: Annotated[
        bool, typer.Option("--exact-margins", help="Margins were not changed.", rich_help_panel=PUBLISHED)
    ] = False,
    merged: Annotated[
        list[str] | None,
        typer.Option("--merged", help="DIMENSION:CATEGORY=PART+PART.", rich_help_panel=PUBLISHED),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            help="DIMENSION=FILE; several files for one dimension may be given.",
            rich_help_panel=PUBLISHED,
        ),
    ] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option(
            "--mark",
            help="A suppression mark, instead of x, .., c and nothing; 'c=1..7' says what it means.",
            rich_help_panel=PUBLISHED,
        ),
    ] = None,
    absent: Annotated[
        str, typer.Option("--absent", help="Cells without a row are empty or unpublished.", rich_help_panel=PUBLISHED)
    ] = "empty",
    min_width: Annotated[
        float | None, typer.Option("--min-width", help="The least width of an interval.", rich_help_panel=LIMITS)
    ] = None,
    max_dr: Annotated[
        float | None, typer.Option("--max-dr", help="The largest disclosure risk 1/H.", rich_help_panel=LIMITS)
    ] = None,
    protection: Annotated[
        float | None,
        typer.Option(
            "--protection", help="Per cent of the original that intervals must reach.", rich_help_panel=LIMITS
        ),
    ] = None,
    rule: Rules = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            help="Nobody may know the largest other contribution to within this per cent.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    verdict_only: Annotated[
        bool,
        typer.Option(
            "--verdict-only", help="Only whether levels are reached: faster on large tables.", rich_help_panel=LIMITS
        ),
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds; the rest is marked as incomplete.", min=0.0)
    ] = None,
    relaxed: Annotated[
        bool,
        typer.Option("--relaxed", help="Intervals over real numbers: faster; where whole ones may differ, never safe."),
    ] = False,
    value: Annotated[
        str | None,
        typer.Option(
            "--value", "--count", help="The column of figures of a long file.", rich_help_panel=options.READING
        ),
    ] = None,
    dimensions: options.Dimensions = None,
    layout: options.Layout = "auto",
    total: options.Total = "Total",
    part: options.Part = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
    seed: options.Seed = None,
    workers: options.Workers = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write the result: .json, .csv (one row per figure) or .txt.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            help="How many of the figures known best to show; 10, and with --json all.",
            min=0,
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
) -> None:
    """Work out what can be worked out from what is published: intervals, bits, risk, and the proof of each.

    With --rule and --original, every cell that the rules call sensitive must reach its protection levels. Exit code 0
    if every hidden figure is safe, 1 if some are not, or if time ran out.
    """
    show.check_output(output, *releases, original, contributions)
    from discreet.auditing.audit import audit as work
    from discreet.auditing.from_tab import read_tab_release
    from discreet.auditing.laws import LAWS
    from discreet.auditing.limits import Limits
    from discreet.table.attacker import Attacker
    from discreet.table.contributions import read_contributions
    from discreet.table.kinds import EXACT
    from discreet.table.release_reader import read_release
    from discreet.table.tabulation import Tabulation

    shown = 10 if top is None else top
    kind = kind_of(rounded, base, bound)
    reading: dict[str, Any] = {
        "value": value,
        "dimensions": options.names(dimensions),
        "layout": layout,
        "total": total,
        "marks": tuple(mark) if mark else ("x", "..", "c", ""),
        "least": None if least is None else max(least, 0.0),
        "hierarchies": hierarchies_of(hierarchy),
        "absent": absent,
        "parts": options.parts(part),
        "encoding": encoding,
        "delimiter": delimiter,
    }
    made = {"kind": kind, "margins": EXACT if exact_margins else None, "merged": merged_of(merged)}
    published = [
        read_tab_release(path, value=value, parts=reading["parts"], encoding=encoding)
        if path.suffix.lower() == ".tab"
        else read_release(path, **made, **reading)
        for path in releases
    ]
    options.check_parts(reading["parts"], _totals(published))
    rules = rules_of(rule)
    if rules and original is None:
        raise RequestError("rules judge the original; name it too (--original)")
    truth = None if original is None else _original(original, bool(rules), hierarchy, reading)
    who = [
        insider_of(text, f"insider {i}" if len(insider or ()) > 1 else "insider")
        for i, text in enumerate(insider or (), 1)
    ]
    firms = None
    if contributions is not None:
        together = [text.split("+") for text in coalition or ()]
        firms = read_contributions(
            contributions,
            value=contribution,
            respondent=contributor,
            holding=holding,
            coalitions=together,
            encoding=encoding,
            delimiter=delimiter,
        )
    elif (contributor, contribution, holding) != ("respondent", "value", None):
        raise RequestError(
            "--contributor, --contribution and --holding name columns of a file of contributions; name it too "
            "(--contributions)"
        )
    elif coalition:
        who.append(Attacker.coalition([insider_of(text, "member") for text in coalition]))
    sensitive = None
    if rules and truth is not None:
        from discreet.rules.sensitivity import judged_cells, sensitivity

        with options.about(original):
            cells = judged_cells(truth, rules)
            sensitive = sensitivity(cells, rules, response=value if cells.responses else None)
    with show.Bar() as bar, options.about(*releases):
        result = work(
            published,
            about=options.names(about) or (),
            attackers=who,
            knows=[fact_of(text) for text in know or ()],
            law=law,
            contributions=firms,
            insiders=insiders,  # type: ignore[arg-type]
            response=value if isinstance(truth, Tabulation) and truth.responses else None,
            limits=Limits(min_width, max_dr, within=within),
            original=None if rules and protection is None else truth,
            protection=protection,
            sensitivity=sensitive,
            verdict_only=verdict_only,
            least=0.0 if least is None else least,
            most=most,
            relaxed=relaxed,
            time_limit=time_limit,
            proofs=None if output is not None or (json and top is None) else max(shown, 1),
            seed=seed,
            workers=workers,
            progress=bar,
        )

    def face(console: Any) -> None:
        colour = {"safe": "green", "unsafe": "red", "incomplete": "yellow"}[result.verdict]
        console.print(f"[bold {colour}]{result.verdict}[/bold {colour}]")
        console.print(result.sentence, markup=False)
        console.print(str(result.criterion), style="dim", markup=False)
        if len(result.findings) and shown:
            console.print(LAWS[result.law].text, style="dim", markup=False)
            console.print()
            header, *rows = result.table(shown)
            show.table(console, header, rows)
            console.print()
            for cell in result.worst(min(shown, 5)):
                if cell.proof:
                    console.print(f"  {cell.proof}", markup=False)
            if result.linked:
                console.print("\nNarrower because of another table:")
                rows = [[c.name, *_interval(c.alone), *_interval((c.lower, c.upper))] for c in result.linked[:shown]]
                show.table(console, ["cell", "one table alone", "together"], rows)

    if json and top is not None:
        if output is not None:
            show.write_result("audit", result, output)
        print(show.as_json("audit", _Best(result, top)))
    else:
        show.deliver("audit", result, json, output, face)
    if result.verdict != "safe":
        raise typer.Exit(1)


class _Best:
    """An audit with the figures known best, and the number of the others."""

    def __init__(self, audit: Audit, n: int) -> None:
        self.audit, self.n = audit, n

    def to_dict(self) -> dict[str, Any]:
        # An audit makes its cells when they are asked for; a copy that has some of them makes no others.
        brief = copy.copy(self.audit)
        vars(brief)["cells"] = self.audit.worst(self.n)
        return {**brief.to_dict(), "not_shown": max(len(self.audit.findings) - self.n, 0)}


def _original(path: Path, judged: bool, hierarchy: list[str] | None, reading: dict[str, Any]) -> Any:
    """Read the original: cells with their contributions where there are any, or where rules judge them."""
    from discreet.cli.protect.common import load
    from discreet.table.release_reader import read_release
    from discreet.table.tabulation import Tabulation
    from discreet.table.tabulation_reader import is_tabulation

    suffix = path.suffix.lower()
    if not judged and suffix != ".tab" and not (suffix == ".parquet" and is_tabulation(path)):
        return read_release(path, **reading).parts()[0]
    names = reading["dimensions"]
    own = suffix == ".tab" or (suffix == ".parquet" and is_tabulation(path))
    found = load(
        file=path,
        hierarchy=None if own else hierarchy,
        count=reading["value"] or "count",
        dimensions=None if names is None else ",".join(names),
        margins="check",
        **{name: reading[name] for name in ("parts", "layout", "total", "encoding", "delimiter")},
    )
    return found if isinstance(found, Tabulation) else Tabulation.from_table(found, total=reading["total"] or "Total")


def _totals(published: Iterable[Release]) -> Iterator[tuple[str, str, bool]]:
    """Yield the totals that tables list along each dimension, and whether they are of a part."""
    for figures in (figures for release in published for figures in release.parts()):
        for name, labels in figures.labels.items():
            for label in labels:
                if figures.is_total(name, label):
                    yield name, label, label == figures.part(name)


def _interval(ends: tuple[float, float] | None) -> list[str]:
    return [f"{ends[0]:,g} to {ends[1]:,g}" if ends is not None else "–"]


audit.__doc__ = options.explained(audit, EXAMPLES)
