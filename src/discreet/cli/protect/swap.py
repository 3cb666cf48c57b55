"""``discreet protect swap-records``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.records import File, Output, on_records

Area = Annotated[str, typer.Option("--area", help="What is swapped: the dimension, or column, of areas.")]
Match = Annotated[str | None, typer.Option("--match", help="What partners have in common, with commas.")]
Rate = Annotated[float, typer.Option("--rate", help="The share of all people, or households, that moves.")]
Keys = Annotated[str | None, typer.Option("--keys", help="What makes somebody rare, with commas.")]
Threshold = Annotated[
    int, typer.Option("--threshold", help="Somebody is risky who shares the keys with fewer than this in the area.")
]


def swap_records(
    file: File,
    area: Area,
    output: Output = None,
    match: Match = None,
    rate: Rate = 0.05,
    keys: Keys = None,
    threshold: Threshold = 3,
    household: Annotated[
        str | None, typer.Option("--household", help="The column of households, which move as a whole.")
    ] = None,
    carry: Annotated[
        str | None, typer.Option("--carry", help="Further columns that go with the area, with commas.")
    ] = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    seed: options.Seed = None,
    trial: options.Trial = False,
    json: options.Json = False,
) -> None:
    """Swap the areas of records, the rarest first, with others that agree on the matching columns."""
    from discreet.protect.swapping import RecordSwapping

    options.check_seed(seed, trial)
    rare = options.names(keys)
    method = RecordSwapping(
        area,
        tuple(options.names(match) or ()),
        rate,
        None if rare is None else tuple(rare),
        threshold,
        household,
        tuple(options.names(carry) or ()),
    )

    def work(arrow: Any) -> tuple[Any, dict[str, Any]]:
        done = method.records(arrow, seed)
        return done.records, {"method": method.name, "parameters": method.parameters, **done.to_dict()}

    on_records(work, file, output, encoding, delimiter, json)


swap_records.__doc__ = options.explained(
    swap_records,
    {
        "discreet protect swap-records people.csv --area region --match sex,age --rate 0.05 -o s.csv": "people",
        "discreet protect swap-records people.csv --area district --match region,size --household hh --keys age,origin "
        "-o s.csv": "whole households, within their region",
    },
)

COMMANDS = {"swap-records": swap_records}
