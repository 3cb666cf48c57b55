"""``discreet protect sample-records`` and ``swap-records``: records in, records of the same columns out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command, composed, explained, option, parameter
from discreet.cli.options import in_output
from discreet.cli.protect.common import ENDINGS, Kept, Record, told
from discreet.cli.protect.method_fields import MethodFields, sizes
from discreet.cli.reading_options import Delimiter, Encoding
from discreet.core.errors import RequestError
from discreet.core.files import write_whole
from discreet.protect.base import Method
from discreet.protect.bernoulli_sample import BernoulliSample
from discreet.protect.random_sample import RandomSample
from discreet.protect.stratified_sample import StratifiedSample
from discreet.protect.swapping import RecordSwapping
from discreet.table.arrow_files import read_arrow, write_csv

SWAPPING = MethodFields(RecordSwapping)


@dataclass(frozen=True)
class RecordsProtection:
    """Where records come from, and where others go."""

    file: Annotated[Path | None, argument("Records, one row per person: .csv or .parquet.", "FILE")] = None
    example: options.ExampleRecords = None
    output: Annotated[Path | None, in_output("Write the records: .csv or .parquet.")] = None
    encoding: Encoding = "utf-8"
    delimiter: Delimiter = None
    record: Record = None
    json: options.Json = False

    def read(self) -> pa.Table:
        """Return the records."""
        bundled.one_of(self.file, self.example, "a file of records")
        show.check_output(self.output, self.file, endings=ENDINGS)
        if self.file is None:
            return bundled.people(str(self.example))
        return read_arrow(self.file, encoding=self.encoding, delimiter=self.delimiter)

    def deliver(self, method: Method, made: pa.Table, figures: Mapping[str, object], kept: Kept) -> None:
        """Write records, and say what was done."""
        if self.output is not None and self.output.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            write_whole(self.output, lambda temporary: pq.write_table(made, temporary), private=True)
        elif self.output is not None:
            write_csv(made, self.output, private=True)

        data = {"method": method.name, "parameters": method.parameters, **figures}
        data["output"] = None if self.output is None else str(self.output)
        written = kept.write(data, () if self.output is None else (self.output,))

        def face(console: show.Console) -> None:
            console.print(method.name, style="bold")
            console.print(figures["sentence"])
            told(console, *written)

        show.deliver("protect", data, self.json, None, face)


@command
def sample_records(
    context: typer.Context,
    *,
    records: RecordsProtection,
    n: Annotated[int | None, option("How many people are in the sample.", "--sample-size", "-n")] = None,
    fraction: Annotated[float | None, option("The share of all people in the sample.")] = None,
    rate: Annotated[float | None, option("Everybody's probability of being drawn: a Bernoulli sample.")] = None,
    strata: Annotated[str | None, option("The column whose categories are sampled one by one.")] = None,
    size: Annotated[list[str] | None, option("CATEGORY=N for every stratum, instead of a fraction.")] = None,
    draw: options.Draw,
) -> None:
    """Draw a sample of records: simple (--sample-size, --fraction), stratified (--strata) or Bernoulli (--rate).

    Examples:
        discreet protect sample-records people.csv --fraction 0.1 -o sample.csv  # a tenth of all records
        discreet protect sample-records people.csv --strata region --fraction 0.1 -o s.csv  # of every region
        discreet protect sample-records people.csv --rate 0.1 -o sample.csv  # everybody with probability 0.1
        discreet protect sample-records --example religion --sample-size 300 -o sample.csv  # people of a bundled table
    """
    seed = draw.taken()
    kept = Kept.of(context, records.output, records.record, seed)
    if rate is not None and (n is not None or fraction is not None or strata is not None):
        raise RequestError("--rate asks for a Bernoulli sample; give it alone")
    if strata is not None and n is not None:
        raise RequestError("a stratified sample takes --fraction, or --size for every stratum, not --sample-size")
    if size and strata is None:
        raise RequestError("--size is the size of a stratum; name the column of strata with --strata")
    arrow = records.read()
    with options.about(records.file or records.example):
        method: BernoulliSample | StratifiedSample | RandomSample
        if rate is not None:
            method = BernoulliSample(rate)
        elif strata is not None:
            method = StratifiedSample(strata, fraction, sizes(size))
        else:
            method = RandomSample(n, fraction)
        drawn = method.records(arrow, seed)
    sentence = f"{drawn.num_rows:,} of {arrow.num_rows:,} records are in the sample."
    found = {"records": arrow.num_rows, "sampled": drawn.num_rows, "sentence": sentence}
    records.deliver(method, drawn, found, kept)


def swap_records(
    *,
    context: typer.Context,
    records: RecordsProtection,
    draw: options.Draw,
    household: str | None,
    carry: str | None,
    **given: object,
) -> None:
    """Swap the areas of records, the rarest first, with others that agree on the matching columns."""
    seed = draw.taken()
    kept = Kept.of(context, records.output, records.record, seed)
    method = SWAPPING.taken(given)(household=household, carry=tuple(options.names(carry) or ()))
    arrow = records.read()
    with options.about(records.file or records.example):
        done = method.records(arrow, seed)
    records.deliver(method, done.records, done.to_dict(), kept)


COMMANDS = {
    "sample-records": sample_records,
    "swap-records": composed(
        swap_records,
        explained(
            swap_records,
            {
                "discreet protect swap-records people.csv --area region --match sex,age --rate 0.05 -o s.csv": "people",
                "discreet protect swap-records people.csv --area district --match region,size --household hh --keys "
                "age,origin -o s.csv": "whole households, within their region",
                "discreet protect swap-records --example religion --area output_area --keys religion -o s.csv": (
                    "people of a bundled table"
                ),
            },
        ),
        [
            parameter("context", typer.Context),
            parameter("records", RecordsProtection),
            *SWAPPING.parameters,
            parameter("household", Annotated[str | None, option("The column of households, which move whole.")], None),
            parameter(
                "carry", Annotated[str | None, option("Columns that move with the area, comma-separated.")], None
            ),
            parameter("draw", options.Draw),
        ],
    ),
}
