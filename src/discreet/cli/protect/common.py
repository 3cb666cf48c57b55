"""What every ``discreet protect`` command shares: reading the original, writing the release, saying what was done.

A command is a function of a method's own options that returns the method; :func:`protects` adds everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from discreet.cli import options, show
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.protect.base import Original, Protected
    from discreet.table.hierarchy import Hierarchy
    from discreet.table.tabulation import Tabulation

ENDINGS = (".csv", ".parquet")
"""The formats that releases are written in."""
READING, RECORDS = options.READING, "From records"

SHARED: dict[str, Any] = {
    "file": Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The original: a table, the file of discreet tabulate, .tab, or records."),
    ],
    "output": Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the release: .csv or .parquet.", rich_help_panel=options.OUTPUT),
    ],
    "example": options.Example,
    "hierarchy": Annotated[
        list[str] | None,
        typer.Option("--hierarchy", help="DIMENSION=FILE; its groups are published too.", rich_help_panel=READING),
    ],
    "by": Annotated[
        str | None,
        typer.Option(
            "--by", help="FILE holds records; the columns that classify them, with commas.", rich_help_panel=RECORDS
        ),
    ],
    "value": Annotated[
        str | None,
        typer.Option("--value", help="The magnitude that is published; counts otherwise.", rich_help_panel=RECORDS),
    ],
    "contributor": Annotated[
        str | None, typer.Option("--contributor", help="The column of whose record it is.", rich_help_panel=RECORDS)
    ],
    "holding": Annotated[
        str | None, typer.Option("--holding", help="The column of holdings of contributors.", rich_help_panel=RECORDS)
    ],
    "weight": Annotated[
        str | None,
        typer.Option("--weight", help="Sampling weights; weighted sums are published.", rich_help_panel=RECORDS),
    ],
    "rda": Annotated[
        Path | None, typer.Option("--rda", help="The τ-ARGUS metadata of a .tab file.", rich_help_panel=READING)
    ],
    "dimensions": options.Dimensions,
    "count": options.Count,
    "layout": options.Layout,
    "total": options.Total,
    "margins": options.Margins,
    "encoding": options.Encoding,
    "delimiter": options.Delimiter,
    "impossible": options.Impossible,
    "seed": options.Seed,
    "trial": options.Trial,
    "json": options.Json,
}
"""Options of every command, in the order in which help shows them."""
DEFAULTS = {
    "count": "count",
    "layout": "auto",
    "total": "Total",
    "margins": "check",
    "encoding": "utf-8",
    "trial": False,
    "json": False,
}
LINKED = Annotated[
    list[Path] | None,
    typer.Option("--linked", help="A further table, read as FILE is and protected together with it."),
]
READ = tuple(name for name in SHARED if name not in ("output", "seed", "trial", "json"))
"""The options that say what is read."""

Read = Callable[[dict[str, Any], dict[str, Any]], Callable[[], Any]]
Finish = Callable[["Protected", Any], None]
"""Shows what a method found beside the sentence: given what was done and the console."""


def protects(
    build: Callable[..., Any],
    examples: Mapping[str, str],
    *,
    random: bool = True,
    finish: Finish | None = None,
    leave: Sequence[str] = (),
    read: Read | None = None,
    linked: bool = False,
) -> Callable[..., None]:
    """Return the command of a method.

    Args:
        build: takes the method's own options and returns the method; its docstring is the help. If it has a parameter
            ``original``, it is given what was read.
        examples: command lines and what they do.
        random: whether the method takes a seed.
        finish: prints more than the sentence and the notes.
        leave: shared options that the command does not take, because the method has its own or has no use for them.
        read: reads the original where :func:`load` does not do; it is given what is read and the method's own options,
            and takes those out that are for reading.
        linked: whether the method protects linked tables together; further ones are named by ``--linked``.
    """
    own = inspect.signature(build, eval_str=True).parameters
    left = {*leave, *(() if random else ("seed", "trial"))}
    shared = [name for name in SHARED if name not in left]

    def command(**given: Any) -> None:
        from discreet.protect.base import check_anybody
        from discreet.protect.cell_key import KeyedTable

        reading: dict[str, Any] = {name: given.pop(name) if name in shared else DEFAULTS.get(name) for name in READ}
        output, as_program = given.pop("output"), given.pop("json")
        seed, trial = given.pop("seed", None), given.pop("trial", False)
        options.check_seed(seed, trial)
        others = (given.pop("linked") or []) if linked else []
        show.check_output(output, reading["file"], reading["impossible"], *others, endings=ENDINGS)
        reader = read(reading, given) if read is not None else lambda: load(**reading)
        if "original" not in own:
            # Parameters are checked before a long file is read.
            method = build(**given)
        original = reader()
        further = [load_linked(path, reading) for path in others]
        with show.Bar() as bar, options.about(reading["file"] or reading["example"]):
            true = original.unperturbed() if isinstance(original, KeyedTable) else original
            # Refused here for all methods alike, whatever else they would say of such a table.
            for one in (true, *further):
                check_anybody(one)
            if "original" in own:
                method = build(original=original, **given)
            done = cast("Any", method).apply([original, *further] if further else original, seed, progress=bar)
            done = done.as_trial() if trial else done
        deliver(done, true, output=output, as_program=as_program, finish=finish)

    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=SHARED[name], default=DEFAULTS.get(name))
        for name in shared
    ]
    mine = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.values() if p.name != "original"]
    if linked:
        mine.append(inspect.Parameter("linked", inspect.Parameter.KEYWORD_ONLY, annotation=LINKED, default=None))
    command.__signature__ = inspect.Signature([*parameters[:2], *mine, *parameters[2:]])  # type: ignore[attr-defined]
    command.__name__ = build.__name__
    command.__doc__ = options.explained(build, examples)
    return command


def load(
    *,
    file: Path | None,
    example: str | None = None,
    hierarchy: Sequence[str] | None = None,
    by: str | None = None,
    value: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    rda: Path | None = None,
    impossible: Path | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    some: bool = False,
    **reading: Any,
) -> Original:
    """Read what is to be protected: a table, or cells with all their margins where there is more than inner counts.

    ``parts`` are totals of some categories only, by dimension: where the table has one of them, it is taken for that.
    With ``some``, hierarchies of dimensions that the table does not have are for others.
    """
    from discreet.table.tabulation import Tabulation

    trees = hierarchies(hierarchy, reading["total"] or "Total")
    if by is not None:
        return _records(file, by, trees, value, contributor, holding, weight, reading)
    asked = {"contributor": contributor, "holding": holding, "weight": weight}
    stray = next((name for name, given in asked.items() if given is not None), None)
    if stray is not None:
        raise RequestError(f"--{stray} names a column of records; name the columns that classify them with --by")
    if file is not None and (file.suffix.lower() == ".tab" or rda is not None):
        from discreet.tabulation.argus_tab import read_tab

        check = reading["margins"] == "check"
        found = read_tab(file, rda, encoding=reading["encoding"], check=check).tabulation
        return _published(found.as_part(found.totals_among(parts or {})), trees, value)
    if file is not None and file.suffix.lower() == ".parquet":
        from discreet.table.tabulation_reader import is_tabulation, read_tabulation

        if is_tabulation(file):
            found = read_tabulation(file)
            return _published(found.as_part(found.totals_among(parts or {})), trees, value)
    if value is not None:
        raise RequestError(f"--value {value} names a magnitude of records or of a tabulation; a table holds counts")
    tops = _totals_of_parts(file, parts or {}, reading)
    table = options.load(file, example=example, impossible=impossible, totals=tops, **reading)
    for name, codes in (parts or {}).items():
        trees[name] = _trees_of_part(name, tops.get(name), trees.pop(name, []), codes)
    trees = {name: found for name, found in trees.items() if found and (name in table.names or not some)}
    if not trees and not tops:
        return table
    return Tabulation.from_table(table, hierarchies=trees, total=reading["total"] or "Total").as_part(tops)


def load_linked(path: Path, reading: Mapping[str, Any], parts: Mapping[str, Sequence[str]] | None = None) -> Original:
    """Read a table that is linked with another, as that one is read."""
    from discreet.table.tabulation_reader import is_tabulation

    own = path.suffix.lower() == ".tab" or (path.suffix.lower() == ".parquet" and is_tabulation(path))
    same = {name: reading[name] for name in ("count", "layout", "total", "margins", "encoding", "delimiter")}
    more = {"value": reading["value"]} if own else {"hierarchy": reading["hierarchy"], "some": True}
    return load(file=path, dimensions=None, parts=parts, **same, **more)


def _totals_of_parts(
    file: Path | None, parts: Mapping[str, Sequence[str]], reading: Mapping[str, Any]
) -> dict[str, str]:
    """Return which totals of parts a long file has."""
    from discreet.table.arrow_files import read_arrow

    if file is None or not parts:
        return {}
    columns = read_arrow(file, encoding=reading["encoding"], delimiter=reading["delimiter"])
    found = {}
    for name, codes in parts.items():
        labels = set(map(str, columns[name].to_pylist())) if name in columns.column_names else set()
        here = [code for code in codes if code in labels]
        if here and (len(here) > 1 or reading["total"] in labels):
            both = " and ".join(repr(code) for code in [*here, reading["total"]][:2])
            raise RequestError(f"{file}: dimension {name!r} has the totals {both}; a table has one")
        if here:
            found[name] = here[0]
    return found


def _trees_of_part(name: str, total: str | None, trees: Sequence[Hierarchy], parts: Sequence[str]) -> list[Hierarchy]:
    """Return the trees of a table that has such a total, or has none of them."""
    from discreet.table.hierarchy import part_tree

    if total is None:
        return [tree for tree in trees if not set(parts) & set(tree.codes)]
    return [part_tree(name, [total], trees)] if trees else []


def hierarchies(texts: Sequence[str] | None, total: str = "Total") -> dict[str, list[Hierarchy]]:
    """Read ``DIMENSION=FILE``, several for one dimension if need be."""
    from discreet.table.hierarchy_reader import read_hierarchy

    found: dict[str, list[Hierarchy]] = {}
    for text in texts or ():
        name, equals, where = text.partition("=")
        if not equals or not name or not where:
            raise RequestError(f"--hierarchy is {text!r}; give it as region=nuts.hrc")
        found.setdefault(name, []).append(read_hierarchy(Path(where), total=total))
    return found


def _published(tabulation: Tabulation, trees: Mapping[str, Any], value: str | None) -> Tabulation:
    """Return the tabulation with the magnitude that is published first."""
    if trees:
        raise RequestError("a tabulation has its own hierarchies; leave --hierarchy out, or tabulate anew")
    if value is None or not tabulation.responses:
        if value is not None:
            raise RequestError(f"there is no magnitude {value!r}; the table holds counts only")
        return tabulation
    from dataclasses import replace

    at = tabulation.response(value)

    def alone(level: Any) -> Any:
        return None if level is None else replace(level, largest=(level.largest[at],))

    return replace(
        tabulation,
        responses=(tabulation.responses[at],),
        contributors=alone(tabulation.contributors),
        holdings=alone(tabulation.holdings),
    )


def _records(
    file: Path | None,
    by: str,
    trees: Mapping[str, Any],
    value: str | None,
    contributor: str | None,
    holding: str | None,
    weight: str | None,
    reading: Mapping[str, Any],
) -> Tabulation:
    from discreet.tabulation.tabulate import tabulate

    if file is None:
        raise RequestError("--by classifies records; name their file")
    with show.Bar() as bar:
        return tabulate(
            file,
            options.names(by) or [],
            value=value,
            contributor=contributor,
            holding=holding,
            weight=weight,
            estimates=weight is not None,
            hierarchies=trees,
            total=reading["total"] or "Total",
            encoding=reading["encoding"],
            delimiter=reading["delimiter"],
            progress=bar,
        )


def deliver(
    done: Protected, original: Original, *, output: Path | None, as_program: bool, finish: Finish | None = None
) -> None:
    """Write the release if a file was named, then say what was done, for a program or for a person."""
    written: tuple[Path, ...] = ()
    if output is not None:
        value = "value" if getattr(original, "responses", ()) else "count"
        written = done.release.write(output, value=value, trial=done.release.trial)
    loss = _loss(done, original)
    from discreet.table.release import TRIAL

    def face(console: Any) -> None:
        made = ", ".join(f"{name} {value}" for name, value in done.release.parameters.items())
        console.print(f"[bold]{done.release.method}[/bold]", end="")
        console.print(f" ({made})" if made else "", markup=False)
        console.print(done.changes.sentence, markup=False)
        if done.release.trial:
            console.print(f"{TRIAL}.", style="bold red")
        for note in done.notes:
            console.print(note, style="yellow", markup=False)
        if loss is not None:
            console.print(f"Utility of the inner counts, 1 − HD/√N: {loss.utility:.4f}", markup=False)
        if finish is not None:
            finish(done, console)
        if written:
            console.print(f"\nWritten: {', '.join(map(str, written))}", style="dim", markup=False)
        else:
            console.print("\nNothing is written; name a file with --output.", style="dim", markup=False)

    show.deliver("protect", _Summary(done, loss, output), as_program, None, face)


def _loss(done: Protected, original: Original) -> Any:
    """Return how far the released inner counts are from the original ones, where they can be compared."""
    from discreet.table import Table
    from discreet.utility.loss import information_loss

    if done.release.inner is None or (not isinstance(original, Table) and original.responses):
        return None
    before = original if isinstance(original, Table) else original.table()
    if done.release.inner.dimensions != before.dimensions or before.total == 0:
        return None
    return information_loss(before, done.release)


class _Summary:
    """What programs are told."""

    def __init__(self, done: Protected, loss: Any, output: Path | None) -> None:
        self.done, self.loss, self.output = done, loss, output

    def to_dict(self) -> dict[str, Any]:
        data = self.done.to_dict()
        if self.loss is not None:
            loss = self.loss.to_dict()
            data |= {"utility": loss["utility"], "loss": loss}
        return {**data, "output": None if self.output is None else str(self.output)}

    def __str__(self) -> str:
        return str(self.done)
