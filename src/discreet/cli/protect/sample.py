"""``discreet protect`` by sampling: of a table's people, or of records."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.common import protects
from discreet.cli.protect.records import File, Output, on_records, sizes
from discreet.core.errors import RequestError

Size = Annotated[int | None, typer.Option("--n", help="How many people are in the sample.")]
Fraction = Annotated[float | None, typer.Option("--fraction", help="The share of all people in the sample.")]
Rate = Annotated[float, typer.Option("--rate", help="The probability of everybody to be in the sample.")]
Strata = Annotated[str, typer.Option("--strata", help="The dimension whose categories are sampled one by one.")]
Sizes = Annotated[list[str] | None, typer.Option("--size", help="CATEGORY=N for every stratum, instead of a fraction.")]


PublishTotal = Annotated[
    bool,
    typer.Option(
        "--publish-total", help="The number of all people, or of every stratum, is public: state it in the release."
    ),
]


def random_sample(n: Size = None, fraction: Fraction = None, publish_total: PublishTotal = False) -> Any:
    """Draw a simple random sample without replacement: every set of n people is equally likely."""
    from discreet.protect.random_sample import RandomSample

    return RandomSample(n, fraction, publish_total)


def stratified_sample(
    strata: Strata, fraction: Fraction = None, size: Sizes = None, publish_total: PublishTotal = False
) -> Any:
    """Draw a simple random sample within every category of one dimension, of a share or of a size of its own."""
    from discreet.protect.stratified_sample import StratifiedSample

    return StratifiedSample(strata, fraction, sizes(size), publish_total)


def bernoulli_sample(rate: Rate, publish_total: PublishTotal = False) -> Any:
    """Take everybody into the sample with the same probability, independently of all others."""
    from discreet.protect.bernoulli_sample import BernoulliSample

    return BernoulliSample(rate, publish_total)


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

COMMANDS = {
    "random-sample": protects(
        random_sample,
        {
            "discreet protect random-sample religion.csv --n 245 -o sample.csv": "245 people",
            "discreet protect random-sample people.csv --by area,sex --fraction 0.1 -o s.csv": "a tenth, all margins",
        },
    ),
    "stratified-sample": protects(
        stratified_sample,
        {
            "discreet protect stratified-sample t.csv --strata area --fraction 0.1 -o s.csv": "a tenth of every area",
            "discreet protect stratified-sample t.csv --strata sex --size m=50 --size f=60 -o s.csv": "sizes of each",
        },
    ),
    "bernoulli-sample": protects(
        bernoulli_sample,
        {"discreet protect bernoulli-sample table.csv --rate 0.1 -o s.csv": "everybody with probability 0.1"},
    ),
    "sample-records": sample_records,
}
