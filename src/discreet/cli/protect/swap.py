"""``discreet protect`` by swapping: of a table's people between areas, of records, or of inner counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.protect.common import protects
from discreet.cli.protect.records import File, Output, on_records

Area = Annotated[str, typer.Option("--area", help="What is swapped: the dimension, or column, of areas.")]
Match = Annotated[str | None, typer.Option("--match", help="What partners have in common, with commas.")]
Rate = Annotated[float, typer.Option("--rate", help="The share of all people, or households, that moves.")]
Keys = Annotated[str | None, typer.Option("--keys", help="What makes somebody rare, with commas.")]
Threshold = Annotated[
    int, typer.Option("--threshold", help="Somebody is risky who shares the keys with fewer than this in the area.")
]


def record_swapping(
    area: Area, match: Match = None, rate: Rate = 0.05, keys: Keys = None, threshold: Threshold = 3
) -> Any:
    """Swap people between areas, the rarest first, with others who agree on the matching dimensions.

    Margins of the area by the matching dimensions, and all without the area, stay exactly as they are. Areas and
    people with nobody to swap with are reported.
    """
    return _method(area, match, rate, keys, threshold)


def table_swapping(
    keep: Annotated[int, typer.Option("--keep", help="All margins of this many dimensions are kept.")] = 1,
    rate: Annotated[float, typer.Option("--rate", help="The share of all people that moves.")] = 0.05,
) -> Any:
    """Move people between cells at random so that all margins of some number of dimensions stay exactly as they are."""
    from discreet.protect.table_swapping import TableSwapping

    return TableSwapping(keep, rate)


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
    options.check_seed(seed, trial)
    method = _method(area, match, rate, keys, threshold, household, carry)

    def work(arrow: Any) -> tuple[Any, dict[str, Any]]:
        done = method.records(arrow, seed)
        return done.records, {"method": method.name, "parameters": method.parameters, **done.to_dict()}

    on_records(work, file, output, encoding, delimiter, json)


def _method(
    area: str,
    match: str | None,
    rate: float,
    keys: str | None,
    threshold: int,
    household: str | None = None,
    carry: str | None = None,
) -> Any:
    from discreet.protect.swapping import RecordSwapping

    rare = options.names(keys)
    return RecordSwapping(
        area,
        tuple(options.names(match) or ()),
        rate,
        None if rare is None else tuple(rare),
        threshold,
        household,
        tuple(options.names(carry) or ()),
    )


swap_records.__doc__ = options.explained(
    swap_records,
    {
        "discreet protect swap-records people.csv --area region --match sex,age --rate 0.05 -o s.csv": "people",
        "discreet protect swap-records people.csv --area district --match region,size --household hh --keys age,origin "
        "-o s.csv": "whole households, within their region",
    },
)

COMMANDS = {
    "record-swapping": protects(
        record_swapping,
        {
            "discreet protect record-swapping t.csv --area region --match sex --rate 0.05 -o s.csv": "one in twenty",
            "discreet protect record-swapping t.csv --area region --keys origin,age -o s.csv": "rare by origin and age",
        },
    ),
    "table-swapping": protects(
        table_swapping,
        {"discreet protect table-swapping t.csv --keep 2 --rate 0.1 -o s.csv": "all two-way margins stay"},
    ),
    "swap-records": swap_records,
}
