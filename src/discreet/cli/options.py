"""Options that several commands share, and what is read from their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, cast

from discreet.cli import shell_names
from discreet.cli.compose import option, panel
from discreet.core.errors import DataError, InfeasibleError, RequestError

if TYPE_CHECKING:
    from discreet.measures.entropy import Form
    from discreet.table.arrow_files import Formulas
    from discreet.table.presentation import Presentation

in_output = panel("Output")
REPORTS = (".html", ".md", ".json", ".pdf")
"""The formats of reports."""

Example = Annotated[
    str | None,
    option(
        "A bundled table: country_of_birth, mode_of_travel, sex, religion, cholesterol or territory.",
        autocompletion=shell_names.examples,
    ),
]
ExampleRecords = Annotated[
    str | None,
    option("A bundled table with everybody in it as a record: sex, religion…", autocompletion=shell_names.examples),
]
POLICY = "default, health, business, safe-output, census, or a .toml file."
Policy = Annotated[str, option(POLICY, autocompletion=shell_names.profiles)]
Population = Annotated[int, option("N, the number of people in the population.", "--population-size", "-N")]
TimeLimit = Annotated[float | None, option("Seconds; what is unfinished by then is never called safe.", min=0.0)]
Json = Annotated[bool, in_output("Print JSON for programs.")]
Output = Annotated[Path | None, in_output("Also write the result: .json, .csv (slices) or .txt.")]
Author = Annotated[str, in_output("Who answers for an internal report, shown where it is signed.")]
ReportDate = Annotated[str, in_output("The day beside the author.")]
HeadOf = Annotated[Path | None, in_output("A ledger: the head of its chain is kept in an internal report.")]
Report = Annotated[Path | None, in_output("Write a report: .html, .md, .json or .pdf.")]
KeepFormulas = Annotated[bool, in_output("Keep labels that a spreadsheet would run as formulas as they are.")]
Top = Annotated[int, in_output("How many of the worst slices to show.", min=0)]
Seed = Annotated[int | None, in_output("Repeats the same draws; by default they are new each time.", min=0)]
ReleaseSeed = Annotated[
    int | None,
    in_output(
        "Repeats the same release. Secret, of 96 bits or more; by default it is drawn and kept in the record.", min=0
    ),
]
Trial = Annotated[bool, in_output("For trying out, never for publication: allows a short seed, and marks the output.")]
in_published = panel("How the figures were published")
PublishedAs = Annotated[
    str | None,
    in_published("How figures were made, if the file does not say: 'random base=3', 'perturbed bound=2', exact."),
]
Workers = Annotated[int | None, in_output("Threads; one per core by default.", min=1)]


def head_of(ledger: Path | None) -> str:
    """Return the head of a ledger that is to be kept in a report; nothing without a ledger."""
    if ledger is None:
        return ""
    from discreet.decide.ledger import Ledger

    with Ledger(ledger, create=False) as book:
        return book.history().head.digest


@dataclass(frozen=True)
class Draw:
    """What random methods take."""

    seed: ReleaseSeed = None
    trial: Trial = False

    def taken(self) -> int:
        """Return the seed, drawn where none is given; one with which a release can be undone is for trials only."""
        from discreet.core.random import release_seed

        return release_seed(self.seed, trial=self.trial)


@dataclass(frozen=True)
class Publishing:
    """How a release is presented in its file."""

    format: Annotated[
        str, in_output("csv, flags, sdmx-csv, parquet, xlsx or tab; by default the file's ending decides.")
    ] = ""
    presentation: Annotated[
        Path | None, in_output("A TOML file of title, source, period, notes, symbols, labels and columns.")
    ] = None
    keep_formulas: KeepFormulas = False

    def style(self, output: Path | None) -> Presentation:
        """Return how the release is presented; refuse a file that does not end like its format."""
        from dataclasses import replace

        from discreet.table.presentation import PLAIN, Presentation

        found = PLAIN if self.presentation is None else Presentation.read(self.presentation)
        found = replace(found, format=self.format) if self.format else found
        if output is not None:
            found.format_of(output)
        elif self.format or self.presentation is not None:
            raise RequestError("--format and --presentation say how a release is written; name its file (--output)")
        return found

    @property
    def formulas(self) -> Formulas:
        """What becomes of labels that a spreadsheet would run."""
        return "keep" if self.keep_formulas else "defuse"


class MeasureOptions(TypedDict):
    """Options of functions that measure a risk."""

    weights: tuple[float, float, float]
    form: Form
    slices: list[str] | None


class StreamOptions(TypedDict):
    """Options of functions that draw."""

    seed: int | None
    workers: int | None


@dataclass(frozen=True)
class Measuring:
    """How a risk is measured and shown."""

    weights: Annotated[str, option("Weights of zeros, concentration and size; they sum to 1.")] = "0.1,0.8,0.1"
    form: Annotated[str, option("Form of R2: 2015, or 2014 to replay that paper.")] = "2015"
    slices: Annotated[str | None, option("Dimensions whose slices are measured, comma-separated; all by default.")] = (
        None
    )
    json: Json = False
    seed: Seed = None
    workers: Workers = None
    output: Output = None
    top: Top = 10

    def measure(self) -> MeasureOptions:
        """Return what is measured, as functions take it."""
        return {"weights": weights(self.weights), "form": cast("Form", self.form), "slices": names(self.slices)}

    def draw(self) -> StreamOptions:
        """Return how it is drawn, as functions take it."""
        return {"seed": self.seed, "workers": self.workers}


@contextmanager
def about(*sources: object) -> Iterator[None]:
    """Name the files in complaints about the data in them, unless these name one already."""
    named = [str(source) for source in sources if source is not None]
    try:
        yield
    except (DataError, InfeasibleError) as error:
        if not named or str(error).startswith(tuple(named)):
            raise
        raise type(error)(f"{' and '.join(named)}: {error}") from None


def names(text: str | None) -> list[str] | None:
    """Split a list of names given with commas."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def margins(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Read margins, each a list of dimensions given with commas."""
    return tuple(tuple(names(text) or ()) for text in texts)


def numbers(text: str, option: str, form: str) -> tuple[float, ...]:
    """Read numbers given with commas; ``form`` says in complaints how they are given."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise RequestError(f"{option} is {text!r}; {form}") from None


def pairs(texts: Sequence[str] | None, option: str, form: str) -> dict[str, list[str]]:
    """Read ``NAME=TEXT``, several for one name if need be; ``form`` says in complaints how it is given.

    >>> pairs(["region=nuts.hrc", "region=lau.hrc"], "--hierarchy", "give it as region=nuts.hrc")
    {'region': ['nuts.hrc', 'lau.hrc']}
    """
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, rest = (piece.strip() for piece in text.partition("="))
        if not equals or not name or not rest:
            raise RequestError(f"{option} is {text!r}; {form}")
        found.setdefault(name, []).append(rest)
    return found


def named_files(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Read ``DIMENSION=FILE``."""
    return pairs(texts, "--hierarchy", "give it as region=nuts.hrc")


def weights(text: str) -> tuple[float, float, float]:
    """Read the three weights."""
    values = numbers(text, "--weights", "give three numbers with commas, as 0.1,0.8,0.1")
    if len(values) != 3:
        raise RequestError(f"--weights is {text!r}: {len(values)} of them; give three, as 0.1,0.8,0.1")
    return (values[0], values[1], values[2])
