"""``discreet risk``: the risk of a table before and after protection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from discreet.cli import options, shell_names, show
from discreet.cli.compose import argument, command, option, panel
from discreet.cli.reading_options import OriginalOptions
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.core.progress import Progress
    from discreet.evaluate.expected import ExpectedRisk
    from discreet.measures.risk_result import Risk
    from discreet.protect.base import Method, RandomMethod
    from discreet.table import Table
    from discreet.utility.loss import InformationLoss

in_method = panel("What a method would do")
PARAMETERS = {"base": "base", "sample_size": "n"}
"""Options that are parameters of a method, and what it calls them; all others are about its draws."""


@dataclass(frozen=True)
class Over:
    """A method, and the draws that it is judged over."""

    method: Annotated[
        str | None,
        in_method(
            "NAME or NAME:KEY=VALUE,KEY=VALUE; a random method is judged over its draws.",
            autocompletion=shell_names.methods,
        ),
    ] = None
    base: Annotated[int | None, in_method("Base of random-rounding; 3 by default.")] = None
    sample_size: Annotated[int | None, in_method("Sample size of random-sample.")] = None
    draws: Annotated[int | None, in_method("How many releases to draw; 1,000 by default.")] = None
    precision: Annotated[float | None, in_method("Draw until the Monte Carlo error is at most this.")] = None
    exact: Annotated[bool, in_method("Enumerate every release instead of drawing.")] = False
    aggregate: Annotated[str, in_method("measure: mean of R2; transition: entropy of the mean.")] = "measure"

    def made(self) -> Method | None:
        """Return the method that is named, if any; a base or a size may come from an option of its own."""
        if self.method is None:
            if stray := next(self._stray(), None):
                raise RequestError(f"--{stray} belongs to a random method; name it with --method")
            return None
        from discreet.decide.protections import make_method, parse_method

        name, parameters = parse_method(self.method)
        given = {key: getattr(self, name) for name, key in PARAMETERS.items()}
        return make_method(name, parameters | {key: value for key, value in given.items() if value is not None})

    def random(self, method: Method) -> bool:
        """Say whether a method is judged over its draws; refuse one that cannot be judged at all."""
        from discreet.protect.base import RandomMethod, is_random

        if isinstance(method, RandomMethod):
            return True
        if is_random(method):
            raise RequestError(
                f"{method.name} is random, but draws one release at a time; protect the table, and measure the release "
                "that was made (--released)"
            )
        if stray := next((name for name in self._stray() if name.replace("-", "_") not in PARAMETERS), None):
            raise RequestError(f"--{stray} is about draws, but {method.name} is not random; leave it out")
        return False

    def expected(
        self, original: Table, method: RandomMethod, measuring: options.Measuring, progress: Progress
    ) -> ExpectedRisk:
        """Return the risk over the draws of a random method."""
        from discreet.evaluate.expected import expected_risk

        return expected_risk(
            original,
            method,
            draws=1000 if self.draws is None else self.draws,
            precision=self.precision,
            exact=self.exact,
            aggregate=self.aggregate,  # type: ignore[arg-type]
            progress=progress,
            **measuring.measure(),
            **measuring.draw(),
        )

    def _stray(self) -> Iterator[str]:
        """Return the names of the options that are given beside the method."""
        usual = {"exact": False, "aggregate": "measure"}
        names = ("draws", "precision", "exact", "aggregate", *PARAMETERS)
        return (name.replace("_", "-") for name in names if getattr(self, name) != usual.get(name))


@command
def risk(
    table: Annotated[Path | None, argument("The original table: CSV, Parquet or Excel, long or wide.", "FILE")] = None,
    released: Annotated[Path | None, option("The table that will be published, on the same categories.")] = None,
    sampled: Annotated[bool, option("The released table is a sample: no cell may exceed the original's.")] = False,
    example: options.Example = None,
    *,
    over: Over,
    read: OriginalOptions,
    measuring: options.Measuring,
) -> None:
    """Measure the attribute-disclosure risk of a frequency table, from 0 (low) to 1 (high).

    Before protection: R1. With --released: R2 of what will be published, and the information lost. With --method: the
    same for what a method makes; for a random method, the expected R2 over its draws.

    Examples:
        discreet risk religion.csv  # before protection: R1, every slice
        discreet risk religion.csv --released rounded.csv  # after: R2 and information loss
        discreet risk religion.csv --method random-rounding  # what random rounding does, over 1,000 draws
        discreet risk religion.csv --method cell-key:bound=3,variance=1  # any other method, with its parameters
        discreet risk --example religion --json  # a bundled table, for programs
    """
    show.check_output(measuring.output, table, released, read.impossible)
    if released is not None and over.method is not None:
        raise RequestError("give either --released (one release) or --method (a method over its draws), not both")
    if sampled and released is None:
        raise RequestError("--sampled says what the released table is; give it with --released")
    method = over.made()
    drawn = method is not None and over.random(method)
    opened = read.opened(table, example=example)
    original = opened.table()
    if drawn:
        with show.ProgressBar() as bar, options.about(table or example):
            expected = over.expected(original, cast("RandomMethod", method), measuring, bar)

        def face_of_draws(console: show.Console) -> None:
            show.head(console, original.headline, opened.note)
            show.measured(console, f"R2 = {expected.risk.mean:.4f}", f"expected {_scale(measuring.form)}")
            console.print(expected.sentence)
            header = ["", "risk", "deviation", "MC error", "Hellinger"]
            show.table(console, header, expected.rows()[: measuring.top + 1], bar=1)

        show.deliver("risk", expected, measuring.json, measuring.output, face_of_draws)
        return
    with show.ProgressBar() as bar, options.about(table or example, released):
        if method is None and released is None:
            figures = None
        elif method is None:
            from discreet.reading.published import open_released

            figures = open_released(released, read.reading(impossible=None))
        else:
            figures = method.apply(original, progress=bar).release.table
        result, loss = _measured(original, figures, sampled, measuring)

    def face(console: show.Console) -> None:
        show.head(console, original.headline, opened.note)
        scale = _scale("2015" if loss is None else measuring.form)
        show.measured(console, f"{result.measure} = {result.value:.4f}", scale)
        console.print(f"{result.sentence}\n")
        header = ["", "risk", "zeros", "concentration", "size", "people"]
        show.table(console, header, [result.whole(), *result.rows(measuring.top)], bar=1)
        if loss is not None:
            console.print(f"\n{loss.sentence}")
            show.table(console, ["information loss", ""], loss.rows())

    told: show.Showable = result
    if loss is not None:
        told = show.Assembled({**result.to_dict(), "loss": loss.to_dict()}, f"{result}\n\n{loss}")
    show.deliver("risk", told, measuring.json, measuring.output, face)


def _measured(
    original: Table, released: object, sampled: bool, measuring: options.Measuring
) -> tuple[Risk, InformationLoss | None]:
    """Return the risk, and what was lost where there is a release."""
    from discreet.measures.risk import risk as measure

    found = measure(original, released, sampled=sampled, **measuring.measure())
    if released is None:
        return found, None
    from discreet.utility.loss import information_loss

    return found, information_loss(original, released)


def _scale(form: str) -> str:
    return "(0 = low, 1 = high)" if form == "2015" else "(form 2014: rises with protection)"
