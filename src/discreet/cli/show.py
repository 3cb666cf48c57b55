"""How results reach people, programs and files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast

from discreet.cli.deadline import in_time
from discreet.core.errors import RequestError, with_options
from discreet.core.files import write_text
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.progress import Progress
from discreet.core.text import one_line

if TYPE_CHECKING:
    from rich.console import Console as Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SCHEMA = 1
"""The version of what ``--json`` prints."""
LABELS = ("dimension", "category")
FIGURES = ("value", "mean", "sd", "mc_error", "risk", "hellinger", "terms", "people", "cells")
"""The columns of a CSV file, as far as a result has them; the row of the whole table has no labels."""
ENDINGS = (".json", ".csv", ".txt")
"""The formats that results are written in."""
LONGEST = 20_000
"""The most characters of a text that a terminal shows: some ten screens."""
WORD = 22
"""The longest word that a column of a table keeps whole: the longest name of a method with a comma."""
GAP, BAR = 2, 12
"""What is between two columns, and the width of a bar."""
PROOF = 480
"""The most characters of a proof that a terminal shows: six lines."""
PATIENCE = 2.0
"""Seconds before a progress bar appears: a round choice, longer than most commands run."""
TELLING = 0.1
"""The share of the work after which the time left is told: the first pieces say little about the others."""
COLOURS = {
    **dict.fromkeys(("safe", "release", "same"), "green"),
    **dict.fromkeys(("incomplete", "protect"), "yellow"),
    **dict.fromkeys(("unsafe", "withhold", "different"), "red"),
}
"""The colours of verdicts."""


class Showable(Protocol):
    """What every result offers."""

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""


@dataclass(frozen=True)
class Assembled:
    """A result that a command puts together: its plain data, its text, and what makes CSV of it."""

    data: dict[str, Any]
    text: str
    to_csv: Callable[[], str] | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return self.data

    def __str__(self) -> str:
        return self.text


Told: TypeAlias = Showable | Mapping[str, Any]
"""What programs get: a result, or plain data assembled by a command."""
Face: TypeAlias = "Callable[[Console], None]"
"""What shows a result to a person."""


def as_json(command: str, result: Told) -> str:
    """Return the JSON that a command prints."""
    data = dict(result if isinstance(result, Mapping) else result.to_dict())
    if isinstance(told := data.get("sentence"), str):
        data["sentence"] = with_options(told)
    return json.dumps({"schema": SCHEMA, "command": command, **data}, indent=2, allow_nan=False)


def check_output(output: Path | None, *inputs: Path | None, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse an output that cannot be written, or that would replace an input, before any work is done."""
    if output is None:
        return
    if output.suffix.lower() not in endings:
        allowed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise RequestError(f"{output}: '{output.suffix}' is not written; end the name in {allowed}")
    if os.path.isdir(output) or not os.path.isdir(output.parent):
        raise RequestError(f"{output} cannot be written; name a file in a folder that exists")
    if os.path.exists(output) and any(path and os.path.exists(path) and path.samefile(output) for path in inputs):
        raise RequestError(f"{output} is the table that is read; name another file for the result")


def write_result(command: str, result: Told, output: Path) -> None:
    """Write a result in the format that the file's ending names, readable by its owner alone."""
    suffix = output.suffix.lower()
    if suffix == ".json":
        text = as_json(command, result) + "\n"
    elif suffix == ".txt":
        text = f"{with_options(str(result))}\n"
    else:
        to_csv = getattr(result, "to_csv", None)
        text = _slices_csv(cast("Showable", result).to_dict()) if to_csv is None else to_csv()
    write_text(output, text, private=True)


def _slices_csv(data: dict[str, Any]) -> str:
    """Return whole table and slices as CSV, one row each; what is undefined stays empty."""
    wanted = (*LABELS, *FIGURES)
    rows = [_flatten({name: row[name] for name in wanted if name in row}) for row in [data, *data["slices"]]]
    header = [*LABELS, *rows[0]]
    return csv_text(header, ([row.get(name, "") for name in header] for row in rows))


def _flatten(row: dict[str, object], prefix: str = "") -> dict[str, Json]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}_"))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def deliver(command: str, result: Told, as_program: bool, output: Path | None, face: Face) -> None:
    """Write the result if a file was named, then print it, for a program or with `face` for a person."""
    in_time()
    if output is not None:
        write_result(command, result, output)
    if as_program:
        print(as_json(command, result))
        return
    from rich.console import Console

    class Terminal(Console):
        """A console that shows control characters of labels as escapes: a terminal would obey them."""

        def print(self, *objects: Any, **how: Any) -> None:
            super().print(
                *(shown(clipped(with_options(one))) if isinstance(one, str) else one for one in objects), **how
            )

    # Labels and messages may hold brackets, which are not markup.
    console = Terminal(highlight=False, emoji=False, markup=False)
    face(console)
    if output is not None:
        written(console, output)


def shown(text: str) -> str:
    """Return a text with line breaks as they are and all other control characters as escapes."""
    return "\n".join(map(one_line, text.split("\n")))


def clipped(text: str, longest: int = LONGEST, whole: str = "") -> str:
    """Return a text as far as a person reads it in a terminal, which takes minutes to lay out the longest ones.

    >>> clipped("a = 1 + 2 + 3 = 6", 9, "; --json prints all")
    'a = 1 + 2… (17 characters; --json prints all)'
    """
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters{whole})"


def written(console: Console, *files: object) -> None:
    """Say what was written."""
    console.print(f"\nWritten: {', '.join(map(str, files))}", style="dim")


def next_step(console: Console, text: str) -> None:
    """Say what people usually do after this."""
    marked(console, "Next: ", "bold", text)


def verdict(console: Console, word: str, text: str | None = None, after: str = "") -> None:
    """Print a verdict, or a text that states it, in its colour, and what follows on the same line."""
    marked(console, word if text is None else text, f"bold {COLOURS[word]}", after)


def measured(console: Console, figure: str, meaning: str) -> None:
    """Print the figure that was asked for, and what it means."""
    marked(console, figure, "bold", f" {meaning}" if meaning else "")


def marked(console: Console, mark: str, style: str, text: str, rest: str = "") -> None:
    """Print a text with a mark of another style before it, broken into lines as one; a blank first hangs it."""
    from rich.text import Text

    # A styled text is printed as it is.
    mark, text = (shown(clipped(with_options(one))) for one in (mark, text))
    indent = len(mark) if mark.startswith(" ") else 0
    lines = Text.assemble((mark, style), (text, rest)).wrap(console, console.width - indent)
    for number, line in enumerate(lines):
        console.print(Text(" " * indent * (number > 0)) + line)


def head(console: Console, headline: str, note: str) -> None:
    """Print what was read, and what was assumed in reading it."""
    for line in filter(None, (headline, note)):
        console.print(line, style="dim")


def table(
    console: Console,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    bar: int | None = None,
    left: tuple[int, ...] = (0,),
) -> None:
    """Print an aligned table; the column `bar` is drawn as a bar beside its figure, those in `left` are flush left."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=None, pad_edge=False, header_style="dim", show_header=any(header))
    rows, named = list(rows), list[str]()
    room = console.width - (0 if bar is None else GAP + BAR) - GAP * (len(header) - 1)
    widths = _widths(header, rows, room)
    if sum(widths) > room and left == (0,):
        # Where figures leave no room for labels, these are numbered and stand below.
        named = [f"{number}  {row[0]}" for number, row in enumerate(rows, start=1)]
        rows = [[str(number), *row[1:]] for number, row in enumerate(rows, start=1)]
        widths = _widths(header, rows, room)
    for i, (name, width) in enumerate(zip(header, widths, strict=True)):
        grid.add_column(shown(name), justify="left" if i in left else "right", overflow="fold", width=width)
    if bar is not None:
        grid.add_column("", justify="left")
    for row in rows:
        grid.add_row(
            *(shown(clipped(text)) for text in row), *([] if bar is None else [Text.from_markup(_bar(row[bar]))])
        )
    console.print(grid)
    for line in named:
        console.print(line)


def noted(rows: Iterable[Sequence[str]], column: int, well: str) -> tuple[list[list[str]], dict[str, str]]:
    """Return rows with letters in place of long reasons, and the reasons by letter; ``well`` needs none.

    >>> noted([["a", "meets"], ["b", "too wide"], ["c", "too wide"]], 1, "meets")
    ([['a', 'meets'], ['b', 'fails, a'], ['c', 'fails, a']], {'a': 'too wide'})
    """
    told = [list(row) for row in rows]
    reasons = list(dict.fromkeys(row[column] for row in told if row[column] != well))
    letters = {reason: chr(ord("a") + i) if i < 26 else f"a{i - 25}" for i, reason in enumerate(reasons)}
    for row in told:
        row[column] = f"fails, {letters[row[column]]}" if row[column] in letters else row[column]
    return told, {letter: reason for reason, letter in letters.items()}


def _widths(header: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return how wide columns are: as what is in them where there is room, otherwise the widest give way.

    No word of a header or short label is broken, so they may be wider than there is room.
    """
    from rich.cells import cell_len

    columns = [[name, *(shown(clipped(row[i])) for row in rows)] for i, name in enumerate(header)]
    whole = (max(cell_len(line) for text in texts for line in text.split("\n")) for texts in columns)
    widths = [min(width, room) for width in whole]
    words = [
        [*name.split(), *(word for text in texts for word in text.split() if len(word) <= WORD)]
        for name, *texts in columns
    ]
    least = [max(map(cell_len, found), default=1) for found in words]
    while sum(widths) > room and any(map(int.__gt__, widths, least)):
        # Labels and texts before figures, the widest first.
        widest = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        widths[widest] -= 1
    return widths


def _bar(text: str, width: int = BAR) -> str:
    try:
        share = min(max(float(text), 0.0), 1.0)
    except ValueError:
        return ""
    filled = round(share * width)
    colour = "green" if share < 1 / 3 else "yellow" if share < 2 / 3 else "red"
    return f"[{colour}]{'█' * filled}[/][dim]{'░' * (width - filled)}[/]"


def time_left(elapsed: float, done: float, total: float) -> str:
    """Return the time left at the speed so far, or the time elapsed while too little is done to tell.

    >>> time_left(30, 10, 40), time_left(300, 10, 40), time_left(75, 1, 40)
    ('0:01:30 left', '0:15:00 left', '0:01:15 so far')
    """
    told = done > 0 and done >= TELLING * total
    minutes, rest = divmod(round(elapsed * (total - done) / done if told else elapsed), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} {'left' if told else 'so far'}"


def _narrow() -> Any:
    from rich.table import Column

    return Column(ratio=1, no_wrap=True, overflow="ellipsis")


LISTENERS: list[Progress] = []
"""What receives progress instead of the terminal."""


class ProgressBar:
    """A progress bar with the time left, drawn on the error stream once work takes over two seconds."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._from, self._stream = time.monotonic() + patience, sys.stderr
        self._bar: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, float] = {}

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, done: int, total: int, label: str) -> None:
        """Tell how much is done."""
        for listener in LISTENERS:
            listener(done, total, label)
        self.draw(done, total, label)

    def draw(self, done: int, total: int, label: str) -> None:
        """Show how much is done, on the stream that was there when the work began."""
        now = time.monotonic()
        self._begun.setdefault(label, now - CompilingBar.spent)
        if self._bar is None:
            if now < self._from or not self._stream.isatty():
                return
            self._bar = self._made()
            self._bar.start()
        if label not in self._tasks:
            self._tasks[label] = self._bar.add_task(label, total=total)
        self._bar.update(self._tasks[label], completed=done, total=total)

    def _made(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
        from rich.text import Text

        begun = self._begun

        class Left(ProgressColumn):
            """The time left; it is computed with every refresh, so it grows while nothing is finished."""

            def render(self, task: Task) -> Text:
                # Compiling, in the middle of work, says nothing about the pieces that are left.
                worked = time.monotonic() - CompilingBar.spent - begun[task.description]
                return Text(time_left(worked, task.completed, task.total or 0))

        # A label that is too long gives way to the figures.
        label = TextColumn("{task.description}", table_column=_narrow())
        share = (label, BarColumn(bar_width=16), MofNCompleteColumn(), Left())
        return Progress(*share, console=Console(file=self._stream), transient=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


class CompilingBar:
    """Says that kernels are being compiled: a line, and a bar where there is a terminal."""

    spent: ClassVar[float] = 0.0
    """The seconds that compiling has taken in this process."""
    _bar: ProgressBar | None = None
    _begun = 0.0

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show how many kernels are compiled."""
        if not done:
            print(f"discreet: {label}", file=sys.stderr, flush=True)
            self._bar, self._begun = ProgressBar(patience=0.0), time.monotonic()
        if self._bar is not None:
            self._bar(done, total, label)
            if done == total:
                CompilingBar.spent += time.monotonic() - self._begun
                self._bar.__exit__()
                self._bar = None
