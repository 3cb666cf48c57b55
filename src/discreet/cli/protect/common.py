"""What every ``discreet protect`` command shares: reading the original, writing the release, saying what was done.

A command is a function of a method's own options that returns the method; :func:`protects` adds everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.compose import composed, explained, option, parameter
from discreet.cli.deadline import in_time
from discreet.cli.options import in_output
from discreet.cli.protection_record import write_protection_record
from discreet.cli.reading_options import Beside, NamedOriginal, opened
from discreet.core.errors import RequestError
from discreet.core.text import settings_text
from discreet.protect.base import Original, Protected, check_anybody
from discreet.protect.cell_key import KeyedTable
from discreet.reading.opened import Opened
from discreet.reading.original import open_linked
from discreet.table import Table
from discreet.table.arrow_files import Formulas
from discreet.table.presentation import ENDINGS as PUBLISHED
from discreet.table.presentation import PLAIN, Presentation
from discreet.table.release import TRIAL

if TYPE_CHECKING:
    from discreet.reading.reading import Reading
    from discreet.table.statistic import Statistic
    from discreet.table.tabulation import Tabulation
    from discreet.utility.loss import InformationLoss

ENDINGS = (".csv", ".parquet")
"""The formats that records are written in."""
Output = Annotated[Path | None, in_output("Write the release: .csv, .parquet, .xlsx or .tab.")]
Record = Annotated[
    Path | None, in_output("Write a record, with the seed, from which discreet replay makes the release again.")
]
NO_DRAW, NO_STATISTICS = options.Draw(), Beside()
PLAINLY = options.Publishing()
Linked = Annotated[list[Path] | None, option("A further table of the same layout; the two are protected together.")]
Read = Callable[[Path | None, "Reading", dict[str, Any]], Callable[[], Any]]
Finish = Callable[[Protected, "show.Console"], None]
"""Shows what a method found beside the sentence."""


def protects(
    build: Callable[..., Any],
    examples: Mapping[str, str],
    *,
    random: bool = True,
    finish: Finish | None = None,
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
        read: reads the original if options say more than how; it is given the file, how it is read and the method's
            own options, and takes those out that are for reading.
        linked: whether the method protects linked tables together; further ones are named by ``--linked``.
    """
    own = inspect.signature(build, eval_str=True).parameters

    def command(
        *,
        context: typer.Context,
        how: NamedOriginal,
        output: Path | None,
        record: Path | None,
        publishing: options.Publishing = PLAINLY,
        json: bool,
        draw: options.Draw = NO_DRAW,
        beside: Beside = NO_STATISTICS,
        **given: Any,
    ) -> None:
        seed = draw.taken() if random else None
        others = (given.pop("linked") or []) if linked else []
        show.check_output(output, how.file, how.impossible, *others, endings=PUBLISHED)
        style = publishing.style(output)
        kept = Kept.of(context, output, record, seed)
        reading = how.reading()
        reader = read(how.file, reading, given) if read is not None else lambda: opened(how.file, reading)
        # Parameters are checked before a long file is read.
        method = None if "original" in own else build(**given)
        found = reader()
        original = found.published() if isinstance(found, Opened) else found
        if isinstance(original, KeyedTable) and draw.seed is None:
            # The keys of the records decide the noise.
            seed, kept = None, replace(kept, seed=None)
        further = [open_linked(path, reading) for path in others]
        with show.ProgressBar() as bar, options.about(how.source):
            true = original.unperturbed() if isinstance(original, KeyedTable) else original
            # Refused here for all methods, whatever else they would say of such a table.
            for one in (true, *further):
                check_anybody(one)
            method = build(original=original, **given) if method is None else method
            done: Protected = method.apply([original, *further] if further else original, seed, progress=bar)
            done = done.as_trial() if draw.trial else done
        if isinstance(found, Opened) and found.note:
            done = replace(done, notes=(found.note, *done.notes))
        if wanted := beside.defined():
            cells = found.tabulation() if isinstance(found, Opened) else None
            done = _with_statistics(done, true, wanted, method, cells)
        deliver(done, true, replace(kept, style=style, formulas=publishing.formulas), as_program=json, finish=finish)

    command.__name__ = build.__name__
    mine = [one for one in own.values() if one.name != "original"]
    mine += [parameter("linked", Linked, None)] if linked else []
    drawn = [parameter("draw", options.Draw)] if random else []
    written = [
        parameter("output", Output, None),
        parameter("beside", Beside),
        parameter("record", Record, None),
        *drawn,
    ]
    written += [parameter("publishing", options.Publishing)]
    every = [parameter("context", typer.Context), *mine, parameter("how", NamedOriginal), *written]
    return composed(command, explained(build, examples), [*every, parameter("json", options.Json, False)])


def _with_statistics(
    done: Protected,
    original: Original,
    wanted: Mapping[str, Statistic],
    method: object,
    cells: Tabulation | None,
) -> Protected:
    """Return a release with statistics of its figures, and how many of them are published.

    ``cells`` are those of the original with all that was added up, where that is more than what is published.
    """
    from discreet.decide.measures_beside import by_method, measures_beside
    from discreet.decide.released_statistics import ReleasedStatistics
    from discreet.decide.subject import Subject
    from discreet.protect.suppression import Suppression

    if safe := next((name for name, one in wanted.items() if one.where == "safe"), None):
        raise RequestError(
            f"{safe} is to be published wherever that is safe, which a policy has to say; ask for it in an assessment "
            "(discreet assess --method), or leave out where="
        )
    # Suppression is handed over with its audit.
    inside = getattr(method, "method", None)
    method = inside if isinstance(inside, Suppression) else method
    subject = Subject.of(original, response=getattr(method, "response", None))
    measures = measures_beside(cells or subject.tabulation, subject.response, wanted, by_method(method))
    beside = ReleasedStatistics.of(subject.figures(), wanted, measures)
    release = beside.beside(done.release)
    lost = beside.lost(release)
    details = {**done.details, "statistics": [one.to_dict() for one in lost]}
    return replace(done, release=release, details=details, notes=(*done.notes, *(f"{one}." for one in lost)))


@dataclass(frozen=True)
class Kept:
    """Where a release and its record go, and what the record says of how it was made."""

    arguments: tuple[str, ...]
    seed: int | None
    output: Path | None
    record: Path | None
    style: Presentation = PLAIN
    formulas: Formulas = "defuse"

    @property
    def how(self) -> dict[str, Any]:
        """How the release is presented, as :meth:`Release.write` takes it."""
        return {"style": self.style, "formulas": self.formulas}

    @classmethod
    def of(cls, context: typer.Context, output: Path | None, record: Path | None, seed: int | None) -> Kept:
        """Refuse a record that cannot be written, or has no release, before any work is done."""
        if record is not None and output is None:
            raise RequestError("--record keeps how a release was made; write the release too (--output)")
        show.check_output(record, output, endings=(".json",))
        return cls(context.obj.arguments, seed, output, record)

    def write(self, results: Mapping[str, object], written: Sequence[Path]) -> tuple[Path, ...]:
        """Write the record of what was written; return all files."""
        if self.record is None or not written:
            return tuple(written)
        write_protection_record(self.record, self.arguments, self.seed, results, written)
        return (*written, self.record)


def deliver(
    done: Protected,
    original: Original,
    kept: Kept,
    *,
    as_program: bool,
    finish: Finish | None = None,
) -> None:
    """Write the release if a file was named, then say what was done, for a program or for a person."""
    in_time()
    released: tuple[Path, ...] = ()
    if kept.output is not None:
        value = "value" if getattr(original, "responses", ()) else "count"
        released = done.release.write(kept.output, value=value, trial=done.release.trial, **kept.how)
    loss = _loss(done, original)
    data: dict[str, Any] = {**done.to_dict(), "output": str(released[0]) if len(released) == 1 else None}
    if loss is not None:
        data |= {"utility": loss.to_dict()["utility"], "loss": loss.to_dict()}
    data["written"] = [*map(str, kept.write(data, released)), *data.pop("agency_files", ())]

    def face(console: show.Console) -> None:
        made = settings_text(done.release.parameters)
        show.measured(console, done.release.method, f"({made})" if made else "")
        console.print(done.changes.sentence)
        if done.release.trial:
            console.print(f"{TRIAL}.", style="bold red")
        for note in done.notes:
            console.print(note, style="yellow")
        if loss is not None:
            console.print(f"Utility of the inner counts, 1 − HD/√N: {loss.utility:.4f}")
        if finish is not None:
            finish(done, console)
        told(console, *data["written"])

    show.deliver("protect", data, as_program, None, face)


def told(console: show.Console, *written: Path | str | None) -> None:
    """Say what was written, or that nothing was."""
    if any(written):
        show.written(console, *written)
    else:
        console.print("\nNothing is written; name a file with --output.", style="dim")


def _loss(done: Protected, original: Original) -> InformationLoss | None:
    """Return how far the released inner counts are from the original ones, where they can be compared."""
    from discreet.utility.loss import information_loss

    if done.release.inner is None or (not isinstance(original, Table) and original.responses):
        return None
    before = original if isinstance(original, Table) else original.table()
    if done.release.inner.dimensions != before.dimensions or before.total == 0:
        return None
    return information_loss(before, done.release)
