"""``discreet protect sample-records``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.records import File, Output, on_records, sizes
from discreet.core.errors import RequestError

Size = Annotated[int | None, typer.Option("--n", help="How many people are in the sample.")]
Fraction = Annotated[float | None, typer.Option("--fraction", help="The share of all people in the sample.")]
Sizes = Annotated[list[str] | None, typer.Option("--size", help="CATEGORY=N for every stratum, instead of a fraction.")]


def sample_records(
    file: File,
    output: Output = None,
    n: Size = None,
    fraction: Fraction = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="The probability of everybody: a Bernoulli sample.")
    ] = None,
    strata: Annotated[
        str | None, typer.Option("--strata", help="The column whose categories are sampled one by one.")
    ] = None,
    size: Sizes = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    seed: options.Seed = None,
    trial: options.Trial = False,
    json: options.Json = False,
) -> None:
    """Draw a sample of the records of a file: simple (--n, --fraction), stratified (--strata) or Bernoulli (--rate)."""
    from discreet.protect.bernoulli_sample import BernoulliSample
    from discreet.protect.random_sample import RandomSample
    from discreet.protect.stratified_sample import StratifiedSample

    options.check_seed(seed, trial)
    if rate is not None and (n is not None or fraction is not None or strata is not None):
        raise RequestError("--rate is that of a Bernoulli sample; give it alone")
    if strata is not None and n is not None:
        raise RequestError("a stratified sample takes --fraction, or --size for every stratum, not --n")
    if size and strata is None:
        raise RequestError("--size is that of a stratum; name the column of strata with --strata")

    def work(arrow: Any) -> tuple[Any, dict[str, Any]]:
        method: Any
        if rate is not None:
            method = BernoulliSample(rate)
        elif strata is not None:
            method = StratifiedSample(strata, fraction, sizes(size))
        else:
            method = RandomSample(n, fraction)
        drawn = method.records(arrow, seed)
        told = f"{drawn.num_rows:,} of {arrow.num_rows:,} records are in the sample."
        figures = {"records": arrow.num_rows, "sampled": drawn.num_rows, "sentence": told}
        return drawn, {"method": method.name, "parameters": method.parameters, **figures}

    on_records(work, file, output, encoding, delimiter, json)


sample_records.__doc__ = options.explained(
    sample_records,
    {
        "discreet protect sample-records people.csv --fraction 0.1 -o sample.csv": "a tenth of all records",
        "discreet protect sample-records people.csv --strata region --fraction 0.1 -o s.csv": "of every region",
        "discreet protect sample-records people.csv --rate 0.1 -o sample.csv": "everybody with probability 0.1",
    },
)

COMMANDS = {"sample-records": sample_records}
